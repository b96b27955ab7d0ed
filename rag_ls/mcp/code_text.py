"""Answers about code as plain text with line numbers, one path for each file: what agents read best, at the fewest tokens."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from rag_ls.mcp.compact import (
    compact,
    join_file,
    list_by_file,
    name_around,
    name_path,
    show_declaration,
    show_line,
    show_path,
)
from rag_ls.operations import (
    DOUBTS,
    GAP,
    CodeAnswer,
    CodeRecord,
    CollectionSummaryAnswer,
    ExactPlaces,
    Json,
    LineRecord,
    MatchMode,
    Operation,
    ReferencesAnswer,
    SummaryAnswer,
    SymbolsAnswer,
    TestsAnswer,
    Tool,
    answer_fields,
    in_words_of_agents,
    join_notes,
    make_json,
    number_lines,
    reword_notes,
    split_lines,
)
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.text import count_of, keep_in_line, make_visible, quote

# Fields that mean nothing without the code, or that the text shows.
_OF_THE_TEXT = ("text", "left_out", "scope", "why")
_MAX_FAR_CHARACTERS = 100
# Beside lines that were found, their number tells enough of files that were not looked at.
_REASONS = lazy_pattern(r" \([^()]*\)(?=: index_status)| with skipped = true lists them")
_STATES = {"buffer": "unsaved text", "changed": "changed since, being read again"}


def _format_hits(answer: CodeAnswer, lean: Json, names_project: bool) -> str:
    """Lines that hold the query as it stands, files with their best places, and what the answer could not see."""
    # Beside hits that are close, it says nothing that no line holds the query; a note may say it already.
    lacks_hits = not answer.results or answer.stats.nothing_close
    is_told = answer.exact and (
        answer.exact.total
        or (answer.exact.left_out and lacks_hits and f"holds {answer.exact.pattern}" not in answer.stats.note)
    )
    exact = (
        [_format_exact(answer.exact, lean["exact"], names_project=names_project)] if answer.exact and is_told else []
    )
    paths = [record.get("path", "") for record in lean["results"]]
    by_form = itertools.groupby(
        zip(answer.results, paths, strict=True), lambda hit: hit[0].text is None or _is_line(hit[0])
    )
    blocks = [("\n" if is_line else "\n\n").join(itertools.starmap(_format_hit, hits)) for is_line, hits in by_form]
    stats = lean.get("stats") or {}
    missing = [
        f"{count_of(stats[key], name)} to come"
        for key, name in _MISSING
        if stats.get(key) and not stats.get("complete", True)
    ]
    notes = join_notes(*missing, stats.get("note", ""), lean.get("note", ""))
    parts = [*exact, *blocks, *_put_in_parentheses(notes)]
    # Doubts come before the hits that they are about.
    if notes.startswith(DOUBTS):
        parts.insert(len(exact), parts.pop())
    return "\n\n".join(parts)


def _format_exact(answer: ExactPlaces, exact: Json, *, names_project: bool) -> str:
    """The count of the lines that hold the query as it stands, the first of them, and what was not looked into."""
    least = "at least " if exact.get("is_partial") else ""
    many, one = ("match", "matches") if exact["match"] == MatchMode.REGEX else ("hold", "holds")
    count = (
        f"{least}{count_of(exact['total'], 'line')} in {count_of(exact['files'], 'file')} "
        f"{one if exact['total'] == 1 else many} {exact['pattern']}:"
    )
    head = count if exact["total"] else f"no line that was looked at {one} {exact['pattern']}"
    next_page = exact.get("next_offset")
    more = f"offset = {next_page} with match = {exact['match']} has more" if next_page is not None else ""
    beyond = "offset is beyond them" if exact["total"] and not exact["places"] else ""
    left_out = exact.get("left_out", "")
    notes = join_notes(more, beyond, _REASONS.sub("", left_out) if exact["total"] else left_out)
    lines = _list_lines(answer, names_project=names_project)
    return "\n".join([head, *lines, *_put_in_parentheses(notes)])


def _list_lines(answer: ExactPlaces, *, names_project: bool) -> Iterator[str]:
    """The lines by file, a text that several of them have once."""
    for path, of_file in itertools.groupby(answer.places, lambda place: show_path(place, names_project=names_project)):
        places = list(of_file)
        by_text: dict[str, list[LineRecord]] = {}
        for place in places:
            by_text.setdefault(show_line(place), []).append(place)
        yield from join_file(path, list(itertools.starmap(_join_places, by_text.items())))


def _join_places(text: str, places: Sequence[LineRecord]) -> str:
    """The numbers of lines that have one text, that text, and the declarations around them."""
    symbols = ", ".join(dict.fromkeys(place.symbol for place in places if place.symbol))
    return f"{','.join(str(place.line) for place in places)}: {text}{name_around(symbols)}"


_MISSING = (("pending_documents", "file"), ("pending_embeddings", "embedding"))


def _format_hit(record: CodeRecord, path: str) -> str:
    """A file at its best place, and its others with the line of each that says most; in one line if that is all of it."""
    if _is_line(record):
        number, line = next((number, line) for number, line in number_lines(record) if number)
        shown = _shorten_line(line.strip())
        # A declaration's own line names it.
        named = replace(record, symbol="") if record.symbol in shown else record
        return "\n".join([f"{_name_place(named, f'{path}:{number}')}: {shown}", *_put_in_parentheses(record.note)])
    more = [
        f"also {place.start_line}-{place.end_line}{f' {place.symbol}' if place.symbol else ''}\n"
        f"{place.line}\t{_shorten_line(place.text)}"
        for place in record.places
    ]
    return "\n".join([*_format_place(record, path), *more])


def _shorten_line(line: str) -> str:
    return line if len(line) <= _MAX_FAR_CHARACTERS else f"{line[:_MAX_FAR_CHARACTERS]}{GAP}"


def _format_excerpt(record: CodeRecord, lean: Json, __: bool) -> str:
    return "\n".join(_format_place(record, lean.get("path", record.path)))


def _is_line(record: CodeRecord) -> bool:
    """Whether an answer under a budget left one line of a hit, since it is far below the best."""
    return record.far and record.truncated


def _format_place(record: CodeRecord, path: str) -> Iterator[str]:
    scope = f"in {record.scope}" if record.scope else ""
    yield _name_place(record, f"{path}:{record.start_line}-{record.end_line}", scope)
    lines = [f"{number}\t{line}" if number else GAP for number, line in number_lines(record)]
    # Empty lines at the end tell nothing.
    while len(lines) > 1 and lines[-1].endswith("\t"):
        lines.pop()
    yield from lines
    yield from _put_in_parentheses(record.note)


def _name_place(record: CodeRecord, place: str, scope: str = "") -> str:
    """A place, its symbol and score, and what is not as usual."""
    score = f"{record.score:.2f}" if record.matched_by != ("id",) else ""
    project = record.project if record.project not in place else ""
    state = _STATES.get(record.freshness or "", "")
    return "  ".join(filter(None, (place, record.symbol, score, scope, state, project)))


def _format_references(answer: ReferencesAnswer, lean: Json, __: bool) -> str:
    """The count of the places, and a line for each, of several uses in one line once; a tree of callers is as it is."""
    # A note begins with a parenthesis.
    symbol = quote(answer.symbol) if answer.symbol.lstrip().startswith("(") else answer.symbol
    head = [f"{symbol}: {lean['summary']}"] if lean.get("summary") else []
    is_tree = any(record.depth > 1 for record in answer.references)
    lines = lean["references"] if is_tree else list_by_file(answer)
    return "\n".join([*head, *lines, *_put_in_parentheses(lean.get("note"))])


def _format_tests(_: TestsAnswer, lean: Json, __: bool) -> str:
    return "\n".join([*lean["tests"], *_put_in_parentheses(lean.get("note"))])


def _format_symbols(answer: SymbolsAnswer, lean: Json, __: bool) -> str:
    """Declarations, a line each; several of one file in a row under its path."""
    lines = [lean["path"], *lean["symbols"]] if "path" in lean else []
    for path, group in itertools.groupby([] if lines else answer.symbols, name_path):
        lines += join_file(path, list(map(show_declaration, group)))
    return "\n".join([*lines, *_put_in_parentheses(lean.get("note"))])


def _put_in_parentheses(note: str | None) -> list[str]:
    return [f"({note})"] if note else []


_FORMATS: dict[object, Callable[[Any, Json, bool], str]] = {
    CodeAnswer: _format_hits,
    CodeRecord: _format_excerpt,
    SymbolsAnswer: _format_symbols,
    TestsAnswer: _format_tests,
    ReferencesAnswer: _format_references,
}


def is_text(operation: Operation) -> bool:
    """Whether an operation's tool answers with plain text."""
    return operation.answer in _FORMATS


def render_answer(
    tool: Tool, answer: object, *, names_project: bool = False, reword: Callable[[str], str] = in_words_of_agents
) -> Json:
    """The lean JSON of an answer, its notes reworded for the agent; of a tool that answers with text its `text`, and the
    JSON without the code (`structured`)."""
    lean = reword_notes(compact(tool, quote_answer(answer), names_project=names_project), reword)
    make_text = _FORMATS.get(type(answer))
    if make_text is None:
        return lean
    quoted = quote_answer(answer, as_text=True)
    text = make_text(quoted, reword_notes(compact(tool, quoted, names_project=names_project), reword), names_project)
    return {"text": text, "structured": _without_text(lean)}


def render_whole(answer: object, *, reword: Callable[[str], str] = in_words_of_agents) -> Json:
    """The JSON of an answer with all its fields, its notes reworded for the agent."""
    return reword_notes(make_json(quote_answer(answer)), reword)


def _without_text(lean: Json) -> Json:
    """The lean JSON of an answer without the code that its text shows."""
    kept = {key: value for key, value in lean.items() if key not in _OF_THE_TEXT}
    for key in ("results", "places"):
        if key in kept:
            kept[key] = [_without_text(item) for item in kept[key]]
    return kept


T = TypeVar("T")

# Fields with texts of many lines; JSON escapes their line ends.
_TEXTS = frozenset({"text", "whole", "content", "context", "keyRules", "query", "imports"})
_SUMMARIES = frozenset({(SummaryAnswer, "summary"), (CollectionSummaryAnswer, "summary")})
# Fields with paths, which agents give back as they are.
_PATHS = frozenset((
    "path", "file", "filePath", "formerPath", "root", "projectRoot", "project", "source_file", "tests", "mentioned_in",
    "mustChange", "filesGenerated", "filesLeftAlone", "filesKept", "chromaDbPath", "frontendDetected", "backendDetected",
))  # fmt: skip
# A path that can be read as our words: a note begins with a parenthesis, and a sentence has spaces.
_LIKE_WORDS = lazy_pattern(r"(?!/|[A-Za-z]:[\\/])(?:\(|.*\s)", re.DOTALL)


def quote_answer(answer: T, *, as_text: bool = False) -> T:
    """The answer as agents get it in JSON: its sentences and names in one line, its texts and paths as they are.

    `as_text`: as its lines are made of it: paths in one line too, those that are like words with `./` before them, and
    each line of code without what begins another one.
    """
    return cast(T, _quote_record(answer, as_text=as_text))


def _quote_record(record: Any, *, as_text: bool) -> Any:
    changed = {}
    kind: type = type(record)
    for name, *_ in answer_fields(kind):
        value = getattr(record, name)
        quoted = _quote_value(value, kind, name, as_text=as_text)
        if quoted is not value and quoted != value:
            changed[name] = quoted
    return dataclasses.replace(record, **changed) if changed else record


def _quote_value(value: Any, kind: type, name: str, *, as_text: bool) -> Any:
    if isinstance(value, str):
        return _quote_text(value, kind, name, as_text=as_text)
    if dataclasses.is_dataclass(value):
        return _quote_record(value, as_text=as_text)
    if isinstance(value, tuple | list):
        return type(value)(_quote_value(item, kind, name, as_text=as_text) for item in value)
    if isinstance(value, Mapping):
        return {
            key: _quote_record(item, as_text=as_text) if dataclasses.is_dataclass(item) else item
            for key, item in value.items()
        }
    return value


def _quote_text(value: str, kind: type, name: str, *, as_text: bool) -> str:
    if name in _PATHS:
        return _quote_path(value) if as_text else value
    if name not in _TEXTS and (kind, name) not in _SUMMARIES:
        return make_visible(value)
    if not as_text:
        return value
    # The lines of a chunk are numbered one by one.
    lines = split_lines(value) if kind is CodeRecord else [value]
    return "\n".join(keep_in_line(line) for line in lines)


def _quote_path(path: str) -> str:
    shown = make_visible(path)
    return f"./{shown}" if _LIKE_WORDS.match(path) else shown


# Clients refuse answers of more than 25,000 tokens; JSON of code has some three characters to a token.
MAX_ANSWER_CHARACTERS = 60_000
_MIN_TEXT_CHARACTERS = 500
_CUT = "the answer was too long, and is cut: {}; narrow the question, or ask for fewer"


def fit_answer(answer: Json) -> Json:
    """An answer whose longest lists and texts are cut until it fits, with a note that counts what is left out."""
    size = _json_size(answer)
    if size <= MAX_ANSWER_CHARACTERS:
        return answer
    answer = json.loads(json.dumps(answer))
    counts: dict[str, tuple[int, int]] = {}
    while size > MAX_ANSWER_CHARACTERS and (largest := _find_largest(answer)) is not None:
        holder, key, path = largest
        value = holder[key]
        # Cut in proportion to the excess, and always something.
        kept = max(1, min(len(value) - 1, int(len(value) * MAX_ANSWER_CHARACTERS / size * 0.9)))
        counts[path] = (kept, counts.get(path, (0, len(value)))[1])
        holder[key] = value[:kept]
        size = _json_size(answer)
    what = ", ".join(f"{kept:,} of {count:,} of {path}" for path, (kept, count) in counts.items())
    note = _CUT.format(what)
    noted = answer["stats"] if isinstance(answer.get("stats"), dict) else answer
    noted["note"] = join_notes(noted.get("note", ""), note)
    return answer


def _json_size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def _find_largest(answer: Json) -> tuple[Any, Any, str] | None:
    """The largest list or text that can be cut: what holds it, its key there, and its name for a note."""
    best: tuple[int, Any, Any, str] | None = None
    pending: list[tuple[Any, str]] = [(answer, "")]
    while pending:
        holder, path = pending.pop()
        for key, value in list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder)):
            name = path if isinstance(holder, list) else f"{path}.{key}".strip(".")
            if isinstance(value, dict | list):
                pending.append((value, name))
            is_list = isinstance(value, list) and len(value) > 1
            if is_list or (isinstance(value, str) and len(value) > _MIN_TEXT_CHARACTERS):
                size = _json_size(value)
                if best is None or size > best[0]:
                    best = (size, holder, key, name)
    return best[1:] if best else None
