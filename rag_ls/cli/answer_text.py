"""Shows the answer to a search on one screen: files with matching lines and memories, by score, and exact matches."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rag_ls.cli import render
from rag_ls.cli.terminal import FAINT, NAME, PLACE, PLAIN, WARNING, Paint, find_shared_indent
from rag_ls.cli.verbs import in_words_of_the_shell
from rag_ls.util.text import column_in_bytes, count_of

Json = dict[str, Any]

DEFAULT_FILES, DEFAULT_BESIDE_FILES = 5, 2
"""The numbers of files, and of memories and rules beside them, that are shown by default."""
_MAX_LINES = 4
_MAX_MEMORY_LINES = 4
_MAX_SYMBOLS = 3
_MAX_LINE_CHARACTERS = 200
_MIN_LINES_WITHOUT_MATCH = 3
# The points of a line that declares the symbol. Each word of the question in a line gives one point.
_DECLARATION_POINTS = 0.5
_INDENT = "  "
# Kinds of hits that are not in a file.
_KINDS_WITHOUT_FILE = ("memory", "commit")
_KIND_NAMES = {
    "chunk": ("file", "files"),
    "memory": ("memory", "memories"),
    "rule": ("file of rules", "files of rules"),
    "commit": ("commit", "commits"),
}
_FRESHNESS_NOTES = {"buffer": "unsaved", "changed": "changed since"}


class Extent(NamedTuple):
    """Limits on the parts of an answer that are shown."""

    files: int = DEFAULT_FILES
    beside: int = DEFAULT_BESIDE_FILES
    """The number of memories, and of rules, that are shown beside files."""
    full: bool = False
    """Whether to show whole texts instead of the lines that match."""
    details: bool = False
    """Whether to show scores, ids and the reasons of each hit."""


class AnswerEntry(NamedTuple):
    """One entry of an answer: a file with its places, best first, or a memory."""

    places: tuple[Json, ...]

    @property
    def best(self) -> Json:
        """The place, or memory, with the highest score."""
        return self.places[0]

    @property
    def kind(self) -> str:
        """`chunk`, `rule` or `memory`."""
        return str(self.best["kind"])


class Line(NamedTuple):
    """One line of a file, with its number from 1, and the evidence for it."""

    number: int
    text: str
    weight: float


def render_screen(data: Json, extent: Extent, paint: Paint = PLAIN) -> str:
    """Return the notes of an answer, the hits, and the option that shows the rest."""
    shown, left = _fit_entries(group_entries(data["results"]), extent)
    words, exact = _make_pattern(data), data.get("exact") or {}
    found = [_format_entry(entry, words, extent, paint) for entry in shown]
    told, unread = list_notes(data["stats"]), exact.get("left_out", "")
    is_denied = not exact.get("total") and (data["stats"].get("nothing_close") or not found)
    if is_denied and unread and unread not in data["stats"].get("note", ""):
        # No line that was read holds the name, but these unread files may.
        told.append(in_words_of_the_shell(unread))
    # Lines that hold the question exactly come before similar code.
    lines = [render_exact(exact, paint, beside=True)] if exact.get("total") else []
    notes = ["\n".join(_format_note(note, paint) for note in told)] if told else []
    parts = [*notes, *lines, *(found or ([] if lines else ["nothing found"]))]
    if left:
        why = "" if extent.details else ", -v why each was found"
        more = 10 if len(shown) < 10 else 2 * len(shown)
        parts.append(_format_note(f"{left}: -k {more} shows more{why}", paint))
    return "\n\n".join(parts)


def _format_entry(entry: AnswerEntry, words: re.Pattern[str] | None, extent: Extent, paint: Paint) -> str:
    if entry.kind == "commit":
        return render.format_commit(entry.best, paint)
    if entry.kind == "memory":
        return _format_memory(entry.best, words, extent, paint)
    return _format_file(entry, words, extent, paint)


def group_entries(results: Iterable[Json]) -> list[AnswerEntry]:
    """Return the files and memories of an answer, those with the highest score first."""
    groups: dict[tuple[str, ...], list[Json]] = {}
    for result in sorted(results, key=lambda result: -result.get("score", 0.0)):
        is_alone = result["kind"] in _KINDS_WITHOUT_FILE
        place = result["id"] if is_alone else result["path"]
        key = (result["kind"], result.get("project", ""), place)
        groups.setdefault(key, []).extend([result] if is_alone else _list_places(result))
    return [AnswerEntry(tuple(places)) for places in groups.values()]


def _list_places(hit: Json) -> list[Json]:
    """Return a file's best place, and its others as places of their own."""
    shared = {key: value for key, value in hit.items() if key not in ("id", "score", "why", "places", "matched_by")}
    others = (
        (place, {"text": place["whole"]} if "whole" in place else {"start_line": place["line"]})
        for place in hit.get("places", ())
    )
    return [hit, *(shared | place | more for place, more in others)]


def list_notes(stats: Json) -> list[str]:
    """Return notes on files and vectors that the answer may be missing, worded for the shell."""
    note = in_words_of_the_shell(stats.get("note") or "")
    counts = ((stats.get("pending_documents"), "file"), (stats.get("pending_embeddings"), "embedding"))
    missing = " and ".join(count_of(count, name) for count, name in counts if count)
    if stats.get("complete", True) or (note and not missing):
        return [note] if note else []
    goes_on = "are missing, and nothing makes them now: `rag-ls index` does" if stats.get("idle") else "to come"
    left = f"{missing} {goes_on}" if missing else "the files were not compared with it yet"
    return [f"the index is not complete: {left}", *([note] if note else [])]


def pick_best_hits(data: Json, files: int) -> list[Json]:
    """Return the best hit of each file, best first."""
    return [entry.best for entry in _pick_files(data, files)]


def format_vimgrep(data: Json, files: int) -> Iterator[str]:
    """Yield the lines that match, as `path:line:column:text`, the column in bytes."""
    words = _make_pattern(data)
    for entry in _pick_files(data, files):
        for line in _pick_lines(entry, words):
            match = words.search(line.text) if words else None
            column = column_in_bytes(line.text, match.start() + 1 if match else 1)
            yield f"{render.path_from_here(entry.best)}:{line.number}:{column}:{line.text}"


def _pick_files(data: Json, count: int) -> list[AnswerEntry]:
    return [entry for entry in group_entries(data["results"]) if entry.kind not in _KINDS_WITHOUT_FILE][:count]


def _fit_entries(entries: Sequence[AnswerEntry], extent: Extent) -> tuple[list[AnswerEntry], str]:
    """Return the entries that there is room for, and what is left out, in words."""
    is_code = any(entry.kind == "chunk" for entry in entries)
    room = dict.fromkeys(_KIND_NAMES, extent.beside if is_code else extent.files) | {"chunk": extent.files}
    by_kind = {kind: [entry for entry in entries if entry.kind == kind] for kind in _KIND_NAMES}
    shown = [entry for entry in entries if entry in by_kind[entry.kind][: room[entry.kind]]]
    left = {kind: len(found) - room[kind] for kind, found in by_kind.items()}
    return shown, ", ".join(f"{count} more {_KIND_NAMES[kind][count > 1]}" for kind, count in left.items() if count > 0)


# --- the lines that show why a hit was found


def _make_pattern(data: Json) -> re.Pattern[str] | None:
    """Return a pattern that finds the question's words at the start of a word or of a name's part; None without words."""
    words = sorted(map(re.escape, data.get("words", ())), key=len, reverse=True)
    begin = r"(?:(?<![^\W_])|(?-i:(?<=[a-z0-9])(?=[A-Z])))"
    return re.compile(rf"{begin}({'|'.join(words)})(?-i:[a-z]*)", re.IGNORECASE) if words else None


def _count_words(words: re.Pattern[str] | None, line: str) -> int:
    """Return the number of different words of the question in a line."""
    return len({found[1].lower() for found in words.finditer(line)}) if words else 0


def _rank_lines(place: Json, words: re.Pattern[str] | None) -> list[Line]:
    """Return the lines of a place that hold words of the question, and its declaration; without any, its first lines."""
    rows = [row.rstrip("\r") for row in (place.get("text") or "").split("\n")]
    name = re.split(r"[.:#]", place["symbol"])[-1]
    declared = next((at for at, row in enumerate(rows) if name and name in row), -1)
    lines = [
        Line(place["start_line"] + at, row, _count_words(words, row) + _DECLARATION_POINTS * (at == declared))
        for at, row in enumerate(rows)
    ]
    if any(line.weight >= 1 for line in lines):
        return [line for line in lines if line.weight]
    return [line for line in lines[max(declared, 0) :] if line.text.strip()][:_MIN_LINES_WITHOUT_MATCH]


def _pick_lines(entry: AnswerEntry, words: re.Pattern[str] | None) -> list[Line]:
    """Return the matching lines of a file, at least one of its best place; only one line of a file with a far lower score."""
    most = 1 if entry.best.get("far") else _MAX_LINES
    first, *others = (sorted(_rank_lines(place, words), key=lambda line: -line.weight) for place in entry.places)
    chosen = first[: most if not others else max(1, most - 1)]
    rest = sorted((line for lines in others for line in lines if line.weight >= 1), key=lambda line: -line.weight)
    return sorted({line.number: line for line in [*chosen, *rest[: most - len(chosen)]]}.values())


# --- files and memories


def _format_file(entry: AnswerEntry, words: re.Pattern[str] | None, extent: Extent, paint: Paint) -> str:
    hit, lines = entry.best, _pick_lines(entry, words)
    leading = next((line.number for line in lines if hit["start_line"] <= line.number <= hit["end_line"]), 0)
    file, project = hit.get("file", ""), hit.get("project", "")
    symbols = list(dict.fromkeys(place["symbol"] for place in entry.places if place["symbol"]))[:_MAX_SYMBOLS]
    place = f"{render.path_from_here(hit)}:{leading or hit['start_line']}"
    head = [
        (place, PLACE, render.link_of(file)), (", ".join(symbols), NAME, ""), ("" if project in file else project, FAINT, ""),
        ("rule" if entry.kind == "rule" else "", FAINT, ""), (hit.get("note", ""), FAINT, ""),
        (_FRESHNESS_NOTES.get(hit["freshness"] or "", ""), WARNING, ""),
    ]  # fmt: skip
    parts = render.flow_parts(head, paint)
    if extent.full:
        texts = [
            "\n".join([*_list_details(place, extent, paint), *_format_whole(place, words, paint)])
            for place in entry.places
        ]
        return "\n".join([*parts, "\n\n".join(texts)])
    details = [line for place in entry.places for line in _list_details(place, extent, paint)]
    return "\n".join([*parts, *details, *_format_excerpt(entry, lines, words, paint)])


def _list_details(place: Json, extent: Extent, paint: Paint) -> list[str]:
    if not extent.details:
        return []
    lines = f"{place['start_line']}-{place['end_line']}"
    why = place.get("why") or "+".join(place.get("matched_by", ()))
    score = f"{place['score']:.2f}" if "score" in place else ""
    parts = (score, lines, place["symbol"], why, place.get("id", ""))
    return [f"{_INDENT}{line}" for line in render.flow_parts([(part, FAINT, "") for part in parts], paint)]


def _format_excerpt(
    entry: AnswerEntry, lines: Sequence[Line], words: re.Pattern[str] | None, paint: Paint
) -> list[str]:
    digits = len(str(max((line.number for line in lines), default=0)))
    indent = find_shared_indent(line.text for line in lines)
    rows: dict[int, str] = {}
    # Lines are coloured within their chunk: a single line does not show that it is inside a string.
    for place in entry.places:
        numbers = [line.number for line in lines if place["start_line"] <= line.number <= place["end_line"]]
        chosen = [number - place["start_line"] for number in numbers if number not in rows]
        coloured = paint.code(
            place.get("text") or "", place["language"], rows=chosen, indent=indent, marked=words, margin=digits + 4
        )
        rows |= dict(zip((row + place["start_line"] for row in chosen), coloured, strict=True))
    if not paint.width:
        rows = {at: _cut_line(row) for at, row in rows.items()}
    return _number_rows(sorted(rows.items()), digits, paint)


def _cut_line(row: str) -> str:
    return row if len(row) <= _MAX_LINE_CHARACTERS else f"{row[:_MAX_LINE_CHARACTERS]}…"


def _number_rows(rows: Iterable[tuple[int, str]], digits: int, paint: Paint) -> list[str]:
    return [f"{_INDENT}{paint.style(f'{number:>{digits}}', FAINT)}  {row}".rstrip() for number, row in rows]


def _format_whole(place: Json, words: re.Pattern[str] | None, paint: Paint) -> list[str]:
    text = (place.get("text") or "").rstrip("\n")
    coloured = paint.code(text, place["language"], indent=find_shared_indent(text.split("\n")), marked=words)
    return _number_rows(enumerate(coloured, place["start_line"]), len(str(place["end_line"])), paint)


def _format_memory(data: Json, words: re.Pattern[str] | None, extent: Extent, paint: Paint) -> str:
    """Return a memory; of a long one, the rows around the one that holds most of the question's words."""
    rows = render.wrap_content(data["content"], paint)
    if not extent.full and len(rows) > _MAX_MEMORY_LINES:
        best_at = max(range(len(rows)), key=lambda at: _count_words(words, rows[at]))
        first = 0 if best_at < _MAX_MEMORY_LINES - 1 else best_at - 1
        more = f"... ({len(rows) - _MAX_MEMORY_LINES + 1} more lines: `rag-ls show {data['id'][:8]}`)"
        rows = [*rows[first : first + _MAX_MEMORY_LINES - 1], more]
    return render.render_memory(data, paint, is_brief=not extent.details, rows=rows)


def _format_note(text: str, paint: Paint) -> str:
    lines = textwrap.wrap(f"({text})", paint.width) if paint.width else [f"({text})"]
    return "\n".join(paint.style(line, FAINT) for line in lines)


# --- lines that hold a text or match a regular expression


def count_exact(exact: Json) -> str:
    """Return the number of exact matches in words: "2 places in 2 files"."""
    inside = exact.get("inside_words", 0)
    longer = f", {inside:,} of them inside longer words" if inside else ""
    least = "at least " if exact.get("is_partial") else ""
    return f"{least}{count_of(exact['total'], 'place')} in {count_of(exact['files'], 'file')}{longer}"


def format_exact_lines(exact: Json) -> list[str]:
    """Return the places as `path:line:column:text`, the column in bytes."""
    return [
        f"{render.path_from_here(place)}:{place['line']}:{place.get('byte_column', place['column'])}:{place['text']}"
        for place in exact["places"]
    ]


def render_exact(exact: Json, paint: Paint = PLAIN, *, beside: bool = False) -> str:
    """Return the places by file, with their count and notes on the rest; fewer notes if they are shown `beside` other hits."""
    kind, option = ("matches of", "-e") if exact["match"] == "regex" else ("lines with", "-F")
    rows = [paint.style(f"{kind} {exact['pattern']}: {count_exact(exact)}", FAINT)]
    digits = max((len(str(place["line"])) for place in exact["places"]), default=0)
    former = ""
    for place in exact["places"]:
        if (path := render.path_from_here(place)) != former:
            rows.append(paint.style(path, PLACE))
            former = path
        symbol = f"  {paint.style(place['symbol'], NAME)}" if place.get("symbol") else ""
        number = paint.style(f"{place['line']:>{digits}}", FAINT)
        rows.append(f"{_INDENT}{number}  {place['text'].strip()}{symbol}")
    left = exact["total"] - len(exact["places"])
    rest = f"{left:,} more: `rag-ls search {option} {shlex.quote(exact['pattern'])}` shows all" if left else ""
    notes = [rest] if beside else list_exact_notes(exact)
    return "\n".join([*rows, *(paint.style(f"({note})", FAINT) for note in notes if note)])


def list_exact_notes(exact: Json) -> list[str]:
    """Return the notes on lines that are not shown, and on files that were not searched."""
    more = exact.get("next_offset")
    told = f"more: --offset {more}, or fewer by --path GLOB" if more is not None else ""
    return [in_words_of_the_shell(note) for note in (told, exact.get("left_out", "")) if note]
