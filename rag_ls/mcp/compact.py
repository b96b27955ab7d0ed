"""Makes lean JSON of answers for agents: what is as usual is left out, and an empty or partial answer says what to try.

Of the places that use a symbol each path stands once, and of uses that are alike the lines.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, get_args

from rag_ls.mcp.compact_rules import compact_constraints, compact_impact
from rag_ls.operations import (
    RESOLVED,
    CodeRecord,
    ConstraintsAnswer,
    ExactPlaces,
    ImpactAnswer,
    Json,
    LineRecord,
    MemoryRecord,
    MetadataRecord,
    PushedResult,
    ReferenceRecord,
    ReferencesAnswer,
    Stats,
    SymbolRecord,
    SymbolsAnswer,
    TestRecord,
    Tool,
    answer_fields,
    join_notes,
    make_json,
)
from rag_ls.util.patterns import lazy_pattern

FULL = "full"
DETAIL = {"detail": {"type": "string", "enum": [FULL]}}
"""The argument that asks for all fields, with its schema."""

_MAX_SIGNATURE_CHARACTERS = 32
# So much of a long line is shown, around what it holds.
_MAX_LINE = 160
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
        return _compact_symbols(answer, tool)
    if isinstance(answer, ReferencesAnswer):
        return make_json(answer, (*tool.omits, "root"), {"references": format_each(answer)})
    if isinstance(answer, ConstraintsAnswer):
        return compact_constraints(answer, tool.omits)
    if isinstance(answer, ImpactAnswer):
        return compact_impact(answer, tool.omits)
    key = _find_list(type(answer))
    if not key:
        return make_json(answer, tool.omits)
    records = getattr(answer, key)
    shown: Json = {key: [_SHORTEN[type(record)](record) for record in records]}
    exact = getattr(answer, "exact", None)
    if exact is not None:
        shown["exact"] = _compact_exact(exact, names_project=names_project)
    if key == "results" and (names_project or len(set(map(_find_root, records))) > 1):
        for lean_record, record in zip(shown[key], records, strict=True):
            if isinstance(record, CodeRecord) and record.file:
                lean_record["path"] = record.file
    if stats := getattr(answer, "stats", None):
        shown["stats"] = _compact_stats(stats)
    lean = make_json(answer, tool.omits, shown)
    if exact is not None:
        # Lines that hold the query as it stands come before what is like it.
        lean = {"exact": lean["exact"], **lean}
        if exact.total:
            return lean
    if not records and not _find_note(lean):
        lean["note"] = tool.nothing
    return lean


def _find_list(answer: type) -> str:
    """The field of an answer that holds its records, if these have a short form; empty for other answers."""
    fields = ((name, get_args(hint)) for name, hint, _, _ in answer_fields(answer))
    return next((name for name, kinds in fields if kinds and kinds[0] in _SHORTEN), "")


def _compact_symbols(answer: SymbolsAnswer, tool: Tool) -> Json:
    """An outline, if all declarations are of one file; else a line for each with its path."""
    paths = {record.path for record in answer.symbols}
    is_outline = len(paths) == 1 and _is_in_order(answer.symbols)
    lean: Json = {"path": answer.symbols[0].path} if is_outline else {}
    lean["symbols"] = (
        _show_outline(answer.symbols)
        if is_outline
        else [f"{name_path(record)}:{show_declaration(record)}" for record in answer.symbols]
    )
    lean["total"] = answer.total
    left = answer.total - len(answer.symbols)
    more = f"{left:,} more: k = {answer.total} lists all, kind or a longer query fewer" if left > 0 else ""
    nothing = "" if answer.symbols or answer.note else tool.nothing
    if note := join_notes(answer.note, more, nothing):
        lean["note"] = note
    return lean


def _is_in_order(records: Sequence[SymbolRecord]) -> bool:
    return all(one.start_line <= other.start_line for one, other in itertools.pairwise(records))


def _find_root(record: object) -> str:
    """The folder of the project that a hit is in."""
    return record.file.removesuffix(record.path) if isinstance(record, CodeRecord) else ""


def _compact_hit(record: CodeRecord) -> Json:
    """A chunk; its project path is enough for an agent that works in the project's folder."""
    is_usual = record.freshness == "disk"
    return _drop_empty(make_json(record, (*_HIT_DETAILS, "freshness") if is_usual else _HIT_DETAILS))


def _compact_exact(exact: ExactPlaces, *, names_project: bool) -> Json:
    """The places as one line each, as grep writes them, with the declaration around them."""
    places = [
        f"{show_path(place, names_project=names_project)}:{place.line}:{place.column}: {show_line(place)}{name_around(place.symbol)}"
        for place in exact.places
    ]
    return make_json(exact, (), {"places": places})


def show_path(place: LineRecord, *, names_project: bool) -> str:
    """The path of a line; of another project the whole path."""
    return (place.file or place.path) if names_project or place.project else place.path


def show_line(place: LineRecord) -> str:
    """A line; of a long one, the part around what it holds."""
    return cut_around(place.text.strip(), place.column - 1 - (len(place.text) - len(place.text.lstrip())), _MAX_LINE)


def name_around(symbol: str) -> str:
    """The declaration around a line, as it is told behind the line."""
    return f"  [{symbol}]" if symbol else ""


def show_declaration(record: SymbolRecord) -> str:
    """A declaration as one line of its file: its lines, kind and name, and what it takes and gives."""
    return f"{_lines_of(record)} {record.kind} {record.symbol}{_parameters_of(record)}"


def _show_outline(records: Sequence[SymbolRecord]) -> list[str]:
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


def _show_test(record: TestRecord) -> str:
    """A file of tests as one line: its place, and what speaks for it."""
    lines = f":{record.start_line}-{record.end_line}" if record.start_line else ""
    return f"{record.path}{lines}  {'; '.join(record.why)}"


def _compact_memory(record: MemoryRecord) -> Json:
    is_usual = record.memory_type == "semantic"
    details = (*_MEMORY_DETAILS, "metadata", "memory_type") if is_usual else (*_MEMORY_DETAILS, "metadata")
    lean = make_json(record, details, {"updated_at": record.updated_at[:10]})
    if metadata := _compact_metadata(record.metadata):
        lean["metadata"] = metadata
    return _drop_empty(lean)


def _compact_metadata(record: MetadataRecord) -> Json:
    """The facts that are not as usual; the anchor names the source file."""
    found = make_json(record, ("source_file",))
    return {
        key: value
        for key, value in found.items()
        if value not in ("", None, [], {}) and (key, value) != ("importance_score", 0.5)
    }


def _drop_empty(record: Json) -> Json:
    """A record without empty values, its score in two digits."""
    rounded = {**record, "score": round(record["score"], 2)} if "score" in record else record
    return {key: value for key, value in rounded.items() if value not in ("", None)}


def _compact_stats(stats: Stats) -> Json:
    usual = [name for name in ("complete", "dense") if getattr(stats, name)]
    lean = make_json(stats, (*_STATS_DETAILS, *usual))
    if not stats.complete and not stats.note:
        lean["note"] = "the index is not complete: index_status with wait_s waits for it"
    return lean


def _find_note(answer: Json) -> object:
    return answer.get("note") or answer.get("hint") or (answer.get("stats") or {}).get("note")


# The short form of each record that answers list.
_SHORTEN: dict[type, Callable[[Any], Any]] = {
    CodeRecord: _compact_hit,
    TestRecord: _show_test,
    MemoryRecord: _compact_memory,
    PushedResult: lambda record: _drop_empty(make_json(record)),
}


def asks_for_all(arguments: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The arguments without `detail`, and whether that asks for all fields."""
    return {key: value for key, value in arguments.items() if key != "detail"}, arguments.get("detail") == FULL


_R = ReferenceRecord
_CALL, _IMPORT, _DEFINITION, _IMPLEMENT = "call", "import", "definition", "implement"
# So much of a long line is shown, around the name that is used in it.
_MAX_USE_CHARACTERS, _MAX_CHARACTERS_IN_LONG_LIST = 120, 80
# In a longer list, the uses in one declaration are told by their lines, with the text of the first; so many texts show how it is used.
_MAX_WHOLE_USES, _MAX_TEXTS = 20, 12
# More uses in tests than this have neither a text nor the test's name: other code shows how the symbol is used.
_MAX_WHOLE_TESTS = 5


def format_each(answer: ReferencesAnswer) -> list[str]:
    """A line for each reference: its steps as indent, its place, kind, and the line; `?` where its name alone is known."""
    return [
        f"{'  ' * (record.depth - 1)}{name_path(record)}:{record.line} {_describe_use(record)}: {_show_line(record, answer)}"
        for record in _leave_out_known(answer)
    ]


def list_by_file(answer: ReferencesAnswer) -> Iterator[str]:
    """The references; several of one file stand beneath its path, and in a long list none repeats a text."""
    by_path: dict[str, list[ReferenceRecord]] = {}
    for record in _leave_out_known(answer):
        by_path.setdefault(name_path(record), []).append(record)
    told: set[str] | None = set() if len(answer.references) > _MAX_WHOLE_USES else None
    many_tests = sum(record.test for record in answer.references) > _MAX_WHOLE_TESTS
    for path, records in by_path.items():
        lines = list(dict.fromkeys(_list_alike(records, answer, told, is_brief=many_tests and records[0].test)))
        yield from join_file(path, lines)


def _leave_out_known(answer: ReferencesAnswer) -> list[ReferenceRecord]:
    """The references, with their targets only where these tell one declaration from another."""
    meant = {record.target for record in answer.references if record.kind != _DEFINITION} - {""}
    known = {answer.symbol} if len(meant) > 1 else {answer.symbol, *meant}
    return [
        replace(record, target="") if record.kind == _DEFINITION or record.target in known else record
        for record in answer.references
    ]


def _list_alike(
    records: Sequence[ReferenceRecord], answer: ReferencesAnswer, told: set[str] | None, *, is_brief: bool
) -> Iterator[str]:
    """The references in a file, without texts and names of functions if `is_brief`; a call has no kind.

    An import beside its uses needs no text; in a long list, neither do uses after the first in a
    declaration, nor one whose text was told, nor any after enough texts.
    """
    has_uses = any(record.kind not in (_IMPORT, _DEFINITION) for record in records)
    if is_brief:
        records = sorted((_name_container(record) for record in records), key=lambda record: record.kind)
    for what, group in itertools.groupby(records, _describe_in_list):
        alike = list(group)
        kind = alike[0].kind
        is_plain = is_brief or (kind == _IMPORT and has_uses) or (kind == _IMPLEMENT and told is not None)
        if told is None and not is_plain:
            yield from (f"{record.line}{what}: {_show_line(record, answer)}" for record in alike)
            continue
        lines = ",".join(map(str, dict.fromkeys(record.line for record in alike)))
        text = _show_line(alike[0], answer, _MAX_USE_CHARACTERS if told is None else _MAX_CHARACTERS_IN_LONG_LIST)
        if is_plain or told is None or text in told or len(told) == _MAX_TEXTS:
            yield f"{lines}{what}"
        else:
            told.add(text)
            yield f"{lines}{what}: {text}"


def _name_container(record: _R) -> _R:
    """A use in a test, in the class around the test alone."""
    return replace(record, symbol=record.symbol.rpartition(".")[0])


def _describe_in_list(record: _R) -> str:
    """The kind of a use and what is around it, after its line; a call has no kind."""
    described = _describe_use(record)
    is_call = record.kind == _CALL and record.sure == RESOLVED
    return f" {described.removeprefix(_CALL).lstrip()}".rstrip() if is_call else f" {described}"


def _describe_use(record: ReferenceRecord) -> str:
    """The kind of a use, the declaration that it means, and the one around it."""
    target = f" of {record.target}" if record.target else ""
    around = f" in {record.symbol}" if record.symbol and record.kind not in (_DEFINITION, "override") else ""
    return f"{record.kind}{'' if record.sure == RESOLVED else '?'}{target}{around}"


def _show_line(record: ReferenceRecord, answer: ReferencesAnswer, longest: int = _MAX_USE_CHARACTERS) -> str:
    return cut_around(record.text, record.text.find(answer.symbol.rpartition(".")[2]), longest)


def name_path(record: ReferenceRecord | SymbolRecord) -> str:
    """The path of a record, whole where several projects answer."""
    return f"{record.project}/{record.path}" if record.project else record.path


def join_file(path: str, lines: Sequence[str]) -> Iterator[str]:
    """The lines of one file: one beside its path, several beneath it."""
    if len(lines) == 1:
        yield f"{path}:{lines[0]}"
    else:
        yield path
        yield from (f" {line}" for line in lines)


def cut_around(line: str, at: int, longest: int) -> str:
    """A line; of one that is longer than `longest` the part around a column, from 0."""
    if len(line) <= longest:
        return line
    start = max(0, min(at - longest // 2, len(line) - longest))
    end = start + longest
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
