"""Makes lean JSON of answers for agents: what is as usual is left out, and an empty or partial answer says what to try."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any, get_args

from rag_ls.mcp.reference_text import cut_around, format_each
from rag_ls.operations import Json
from rag_ls.operations.code.budget import tokens
from rag_ls.operations.code.hits import CodeRecord, ExactPlaces, LineRecord, find_best_line, split_lines
from rag_ls.operations.code.lookup import SymbolRecord, SymbolsAnswer, TestRecord
from rag_ls.operations.code.references import ReferencesAnswer
from rag_ls.operations.collections.texts import PushedResult
from rag_ls.operations.fields import answer_fields, make_json
from rag_ls.operations.memories.memory_records import MemoryRecord, MetadataRecord
from rag_ls.operations.operation import Tool
from rag_ls.operations.rules.constraints import ConstraintsAnswer, ExampleRecord, RuleRecord
from rag_ls.operations.rules.impact_records import ChangeRecord, DependentRecord, ImpactAnswer
from rag_ls.operations.stats import Stats
from rag_ls.rules.key_rules import obliges
from rag_ls.search.query import analyse
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.text import count_of

FULL = "full"
DETAIL = {"detail": {"type": "string", "enum": [FULL]}}
"""The argument that asks for all fields, with its schema."""

_MAX_SIGNATURE_CHARACTERS = 32
# So much of a long line is shown, around what it holds.
_MAX_LINE = 160
_MAX_EXAMPLE_LINES = 4
# An example of less than this share of the closest one's relevance has nothing to do with the change.
_MIN_EXAMPLE_SHARE = 0.25
_MAX_EXAMPLES = 2
_MAX_FAR_RULE_CHARACTERS = 120
# Of a section that hardly applies, so many rules that do not oblige are told; its place has the others.
_MAX_FAR_RULES = 2
# Of a name that a file uses more often, find_references has the other lines.
_MAX_LINES_OF_NAME = 6
# An agent that plans a change reads no longer lists, and of a list that is longer than this, its lines.
_MAX_DEPENDENTS, _MAX_TESTS, _MAX_WHOLE_DEPENDENTS, _MAX_EXPORTS = 20, 10, 10, 20
# The right section is one of the first three for three of four changes (docs/quality.md).
_WHOLE_SECTIONS, _WHOLE_TOKENS = 3, 300
_LEFT_OUT = "…"
# Several rules in a row that are left out, with the marks of their list items.
_MARKS = lazy_pattern(r"(?:(?:^[ \t]*(?:[-*+]|\d+[.)])[ \t]+)?…[ \t]*(?:\n|\Z)\s*)+", re.MULTILINE)
_RECEIVER = lazy_pattern(r"^\(\s*(?:(?:&(?:mut )?)?self|cls)?(?:,\s*|(?=\)))|^\(\s*")
# Fields that agents get only with `detail`.
_HIT_DETAILS = ("kind", "node_type", "language", "matched_by", "scope", "file")
_MEMORY_DETAILS = (
    "kind", "matched_by", "created_at", "version", "uses", "used_at", "similarity", "content_hash", "source_memory_ids",
)  # fmt: skip
_STATS_DETAILS = ("took_ms", "candidates")


def compact(tool: Tool, answer: Any, *, names_project: bool = False) -> Json:
    """The lean JSON of a tool's answer. `names_project`: the agent asked another project than that of its folder."""
    if isinstance(answer, SymbolsAnswer):
        return _symbols(answer, tool)
    if isinstance(answer, ReferencesAnswer):
        return _references(answer, tool.omits)
    if isinstance(answer, ConstraintsAnswer):
        return _constraints(answer, tool.omits)
    if isinstance(answer, ImpactAnswer):
        return _impact(answer, tool.omits)
    key = _find_list(type(answer))
    if not key:
        return make_json(answer, tool.omits)
    records = getattr(answer, key)
    shown: Json = {key: [_SHORTEN[type(record)](record) for record in records]}
    exact = getattr(answer, "exact", None)
    if exact is not None:
        shown["exact"] = _exact(exact, names_project=names_project)
    if key == "results" and (names_project or len(set(map(_root, records))) > 1):
        for lean_record, record in zip(shown[key], records, strict=True):
            if isinstance(record, CodeRecord) and record.file:
                lean_record["path"] = record.file
    if stats := getattr(answer, "stats", None):
        shown["stats"] = _stats(stats)
    lean = make_json(answer, tool.omits, shown)
    if exact is not None:
        # Lines that hold the query as it stands come before what is like it.
        lean = {"exact": lean["exact"], **lean}
        if exact.total:
            return lean
    if not records and not _note(lean):
        lean["note"] = tool.nothing
    return lean


def _find_list(answer: type) -> str:
    """The field of an answer that holds its records, if these have a short form; empty for other answers."""
    fields = ((name, get_args(hint)) for name, hint, _, _ in answer_fields(answer))
    return next((name for name, kinds in fields if kinds and kinds[0] in _SHORTEN), "")


def _symbols(answer: SymbolsAnswer, tool: Tool) -> Json:
    """An outline, if all declarations are of one file; else a line for each with its path."""
    paths = {record.path for record in answer.symbols}
    is_outline = len(paths) == 1 and _is_in_order(answer.symbols)
    lean: Json = {"path": answer.symbols[0].path} if is_outline else {}
    lean["symbols"] = _outline(answer.symbols) if is_outline else [_symbol(record) for record in answer.symbols]
    lean["total"] = answer.total
    left = answer.total - len(answer.symbols)
    more = f"{left:,} more: k = {answer.total} lists all, kind or a longer query fewer" if left > 0 else ""
    nothing = "" if answer.symbols or answer.note else tool.nothing
    if note := "; ".join(filter(None, (answer.note, more, nothing))):
        lean["note"] = note
    return lean


def _constraints(answer: ConstraintsAnswer, details: Sequence[str]) -> Json:
    """The nearest sections whole, of the others the rules and a line; the first lines of the nearest example, of the others a line."""
    words = analyse(answer.query).line_words
    whole = _choose_whole((*answer.constraints, *answer.patterns))
    told: dict[str, str] = {}
    shown: Json = {
        "constraints": [_rule(record, words, told, is_whole=record in whole) for record in answer.constraints],
        "patterns": [_rule(record, words, told, is_whole=record in whole) for record in answer.patterns],
        "examples": _examples(answer.examples, words),
    }
    lean = make_json(answer, details, shown)
    if left := len(answer.examples) - len(shown["examples"]):
        lean["note"] = f"{count_of(left, 'example')} left out: detail = full has all"
    return lean


def _impact(answer: ImpactAnswer, details: Sequence[str]) -> Json:
    """The dependents and tests; of long lists the first, without what the lines of uses tell and without tests among the dependents."""
    dependents: Sequence[DependentRecord] = answer.dependents
    is_long = len(dependents) > _MAX_WHOLE_DEPENDENTS
    if is_long and not answer.changes:
        dependents = [record for record in dependents if record.filePath not in answer.tests] or dependents
    # Tests beside them are told among the tests.
    left_dependents = len(dependents) - _MAX_DEPENDENTS
    dependents = dependents[:_MAX_DEPENDENTS]
    shown: Json = {
        "exports": list(answer.exports[: None if answer.changes else _MAX_EXPORTS]),
        "dependents": [_dependent(record, shows_imports=not (is_long and record.uses)) for record in dependents],
        "tests": list(answer.tests[:_MAX_TESTS]),
    }
    if answer.changes:
        shown["changes"] = list(map(_change, answer.changes))
    lean = make_json(answer, details, shown)
    left = [
        f"{count_of(count, name)} more"
        for count, name in (
            (0 if answer.changes else len(answer.exports) - _MAX_EXPORTS, "export"),
            (left_dependents, "dependent"),
            (len(answer.tests) - _MAX_TESTS, "test"),
        )
        if count > 0
    ]
    if left:
        lean["notes"] = [*answer.notes, f"detail = full lists {', '.join(left)}"]
    return lean


def _dependent(record: DependentRecord, *, shows_imports: bool = True) -> Json:
    """A file that depends on another one: each name with its lines, and what it takes or imports beside these."""
    lines_of: dict[str, list[int]] = {}
    for use in record.uses:
        lines_of.setdefault(use.name, []).append(use.line)
    used = {use.line for use in record.uses}
    others = {
        "names": [name for name in record.names if name not in lines_of],
        "lines": [line for line in record.lines if line not in used],
        "uses": [f"{name} {_join_lines(lines)}" for name, lines in lines_of.items()],
    }
    omitted = [key for key, value in others.items() if not value]
    return make_json(record, omitted if shows_imports else [*omitted, "imports"], others)


def _join_lines(lines: Sequence[int]) -> str:
    left = len(lines) - _MAX_LINES_OF_NAME
    return ",".join(map(str, lines[:_MAX_LINES_OF_NAME])) + (f" and {left} more" if left > 0 else "")


def _change(record: ChangeRecord) -> Json:
    """A file that differs; of the files that must change along the paths, because the answer's dependents have their lines."""
    instead = {"mustChange": [each.filePath for each in record.mustChange]}
    return make_json(record, (), instead)


def _choose_whole(sections: Sequence[RuleRecord]) -> list[RuleRecord]:
    """The sections that are shown whole: those that name a file of the change, the nearest one, and two more where there is room."""
    nearest = sorted(sections, key=lambda record: -record.relevance)[:_WHOLE_SECTIONS]
    sizes = itertools.accumulate(tokens(record.content) for record in nearest)
    fitting = [record for record, size in zip(nearest, sizes, strict=True) if size <= _WHOLE_TOKENS]
    return [*(record for record in sections if record.namesPath), *nearest[:1], *fitting]


def _is_in_order(records: Sequence[SymbolRecord]) -> bool:
    return all(one.start_line <= other.start_line for one, other in itertools.pairwise(records))


def _root(record: object) -> str:
    """The folder of the project that a hit is in."""
    return record.file.removesuffix(record.path) if isinstance(record, CodeRecord) else ""


def _hit(record: CodeRecord) -> Json:
    """A chunk; its project path is enough for an agent that works in the project's folder."""
    is_usual = record.freshness == "disk"
    return _short(make_json(record, (*_HIT_DETAILS, "freshness") if is_usual else _HIT_DETAILS))


def _exact(exact: ExactPlaces, *, names_project: bool) -> Json:
    """The places as one line each, as grep writes them, with the declaration around them."""
    return make_json(exact, (), {"places": [_place(place, names_project=names_project) for place in exact.places]})


def _place(place: LineRecord, *, names_project: bool) -> str:
    path = (place.file or place.path) if names_project or place.project else place.path
    line = cut_around(place.text.strip(), place.column - 1 - (len(place.text) - len(place.text.lstrip())), _MAX_LINE)
    return f"{path}:{place.line}:{place.column}: {line}{name_around(place.symbol)}"


def name_around(symbol: str) -> str:
    """The declaration around a line, as it is told behind the line."""
    return f"  [{symbol}]" if symbol else ""


def _symbol(record: SymbolRecord) -> str:
    """A declaration as one line: its place, kind and name, and what it takes and gives."""
    return f"{_name_path(record)}:{_lines_of(record)} {record.kind} {record.symbol}{_parameters_of(record)}"


def _name_path(record: SymbolRecord) -> str:
    """The path of a record, whole where several projects answer."""
    return f"{record.project}/{record.path}" if record.project else record.path


def _outline(records: Sequence[SymbolRecord]) -> list[str]:
    """The declarations of one file, indented as they are nested, each with the last part of its name."""
    around: list[SymbolRecord] = []
    lines = []
    for record in records:
        while around and not (record.symbol.startswith(around[-1].symbol) and record.end_line <= around[-1].end_line):
            around.pop()
        name = record.symbol[len(around[-1].symbol) :].lstrip(" .:#>") if around else record.symbol
        parameters = _parameters_of(record)
        # Its parameters show that it is a function.
        kind = "" if record.kind == "function" and parameters else f"{record.kind} "
        lines.append(f"{' ' * len(around)}{_lines_of(record)} {kind}{name or record.symbol}{parameters}")
        around.append(record)
    return lines


def _lines_of(record: SymbolRecord) -> str:
    is_one = record.start_line == record.end_line
    return str(record.start_line) if is_one else f"{record.start_line}-{record.end_line}"


def _parameters_of(record: SymbolRecord) -> str:
    """The parameters and result of a declaration, in short; without the receiver, which each method has."""
    name = record.symbol.rpartition(" > ")[2].rpartition(".")[2]
    parameters = record.signature.partition(name)[2] if name else ""
    if not parameters.startswith("("):
        return ""
    parameters = _RECEIVER.sub("(", parameters)
    if len(parameters) > _MAX_SIGNATURE_CHARACTERS:
        return parameters[: _MAX_SIGNATURE_CHARACTERS - 1] + "…"
    return parameters


def _references(answer: ReferencesAnswer, details: Sequence[str]) -> Json:
    shown = {"references": format_each(answer)}
    return make_json(answer, (*details, "root"), shown)


def _test(record: TestRecord) -> str:
    """A file of tests as one line: its place, and what speaks for it."""
    lines = f":{record.start_line}-{record.end_line}" if record.start_line else ""
    return f"{record.path}{lines}  {'; '.join(record.why)}"


def _memory(record: MemoryRecord) -> Json:
    is_usual = record.memory_type == "semantic"
    details = (*_MEMORY_DETAILS, "metadata", "memory_type") if is_usual else (*_MEMORY_DETAILS, "metadata")
    lean = make_json(record, details, {"updated_at": record.updated_at[:10]})
    if metadata := _metadata(record.metadata):
        lean["metadata"] = metadata
    return _short(lean)


def _rule(record: RuleRecord, words: Sequence[str], told: dict[str, str], *, is_whole: bool) -> Json:
    """A section of rules, where each key rule stands once; one that is not whole has those that oblige, the
    nearest others and the line that answers best.

    `told` holds the places of the sections before it, by their contents: a copy names the first.
    """
    # The later parts of a long section do not hold its heading.
    usual = ("section",) if record.content.startswith("#") else ()
    details = ("keyRuleLines", "why", *usual)
    own = f"{record.filePath}:{record.lines}"
    place = told.setdefault(record.content, own)
    if place != own:
        return make_json(record, details, {"content": f"as {place}", "keyRules": []})
    if is_whole:
        return make_json(record, details, {"content": _without_rules(record)})
    nearest = sorted(record.keyRules, key=lambda rule: -_count_held(rule, words))[:_MAX_FAR_RULES]
    near = [
        rule if obliges(rule) else _shorten_rule(rule) for rule in record.keyRules if obliges(rule) or rule in nearest
    ]
    if left := len(record.keyRules) - len(near):
        near.append(f"{_LEFT_OUT} {left} more in {own}")
    return make_json(record, details, {"content": _join_telling_lines(record.content, words), "keyRules": near})


def _count_held(rule: str, words: Sequence[str]) -> int:
    """The number of words that a rule holds."""
    lowered = rule.lower()
    return sum(word in lowered for word in words)


def _shorten_rule(rule: str) -> str:
    """The first line of a rule that hardly applies, cut; its place has the rest."""
    first, *more = rule.split("\n")
    if len(first) > _MAX_FAR_RULE_CHARACTERS:
        return f"{first[:_MAX_FAR_RULE_CHARACTERS]}{_LEFT_OUT}"
    return f"{first}\n{_LEFT_OUT}" if more else first


def _without_rules(record: RuleRecord) -> str:
    """The text of a section, with a mark where a key rule stands that is told beside it."""
    content = record.content
    for rule in record.keyRules:
        content = content.replace(rule.removesuffix(_LEFT_OUT) or rule, _LEFT_OUT, 1)
    return _MARKS.sub(f"{_LEFT_OUT}\n", content).rstrip("\n")


def _examples(records: Sequence[ExampleRecord], words: Sequence[str]) -> list[Json]:
    """The examples near the closest one; of several that would show one line, the first."""
    closest = max((record.relevance for record in records), default=0.0)
    near = [record for record in records if record.relevance >= closest * _MIN_EXAMPLE_SHARE]
    shown: dict[str, Json] = {}
    for record in near:
        example = _example(record, words, is_best=record.relevance == closest)
        shown.setdefault(example["content"], example)
    return list(shown.values())[:_MAX_EXAMPLES]


def _example(record: ExampleRecord, words: Sequence[str], *, is_best: bool) -> Json:
    """The first lines of the nearest example, and of any other the line that answers best; the place has the rest."""
    content = _first_lines(record.content) if is_best else find_best_line(record.content, words)[1].strip()
    return make_json(record, (), {"content": content})


def _join_telling_lines(text: str, words: Sequence[str]) -> str:
    """The first line of a text, which is mostly its heading, and the one that answers best."""
    lines = split_lines(text)
    at, best = find_best_line(text, words)
    gaps = [_LEFT_OUT if at > 1 else "", _shorten_rule(best) if at else "", _LEFT_OUT if at + 1 < len(lines) else ""]
    return "\n".join([*lines[:1], *filter(None, gaps)])


def _first_lines(text: str) -> str:
    lines = text.strip("\n").split("\n")
    return "\n".join([*lines[:_MAX_EXAMPLE_LINES], *([_LEFT_OUT] if len(lines) > _MAX_EXAMPLE_LINES else [])])


def _metadata(record: MetadataRecord) -> Json:
    """The facts that are not as usual; the anchor names the source file."""
    found = make_json(record, ("source_file",))
    return {
        key: value
        for key, value in found.items()
        if value not in ("", None, [], {}) and (key, value) != ("importance_score", 0.5)
    }


def _pushed_text(record: PushedResult) -> Json:
    return _short(make_json(record))


def _short(record: Json) -> Json:
    """A record without empty values, its score in two digits."""
    rounded = {**record, "score": round(record["score"], 2)} if "score" in record else record
    return {key: value for key, value in rounded.items() if value not in ("", None)}


def _stats(stats: Stats) -> Json:
    usual = [name for name in ("complete", "dense") if getattr(stats, name)]
    lean = make_json(stats, (*_STATS_DETAILS, *usual))
    if not stats.complete and not stats.note:
        lean["note"] = "the index is not complete: index_status with wait_s waits for it"
    return lean


def _note(answer: Json) -> object:
    return answer.get("note") or answer.get("hint") or (answer.get("stats") or {}).get("note")


# The short form of each record that answers list.
_SHORTEN: dict[type, Callable[[Any], Any]] = {
    CodeRecord: _hit,
    TestRecord: _test,
    MemoryRecord: _memory,
    PushedResult: _pushed_text,
}


def asks_for_all(arguments: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The arguments without `detail`, and whether that asks for all fields."""
    return {key: value for key, value in arguments.items() if key != "detail"}, arguments.get("detail") == FULL
