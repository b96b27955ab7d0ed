"""A search's answer as one screen: files with the lines that match, and memories where their score puts them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rag_ls.cli import exact_search, render
from rag_ls.cli.matching_lines import Line, Words, best
from rag_ls.cli.terminal import FAINT, NAME, PLACE, PLAIN, WARNING, Paint, find_shared_indent
from rag_ls.cli.why_command import format_commit
from rag_ls.cli.wording import in_words_of_the_shell
from rag_ls.util.text import column_in_bytes, count_of

Json = dict[str, Any]

DEFAULT_FILES, DEFAULT_BESIDE_FILES = 5, 2
"""The numbers of files, and of memories and rules beside them, that are shown by default."""
_MAX_LINES = 4
_MAX_MEMORY_LINES = 4
_MAX_SYMBOLS = 3
_MAX_COLUMNS = 100
_MAX_LINE_CHARACTERS = 200
_INDENT = "  "
# Hits that are no place in a file.
_ALONE = ("memory", "commit")
_STATES = {"buffer": "unsaved", "changed": "changed since"}


class Extent(NamedTuple):
    """The extent to which an answer is shown."""

    files: int = DEFAULT_FILES
    beside: int = DEFAULT_BESIDE_FILES
    """Memories beside files, and rules."""
    full: bool = False
    """Whole texts, where others show the lines that match."""
    details: bool = False
    """Scores, ids and why each was found."""


class AnswerEntry(NamedTuple):
    """One entry of an answer: a file with its places, best first, or a memory."""

    places: tuple[Json, ...]

    @property
    def best(self) -> Json:
        """The place, or memory, with the highest score."""
        return self.places[0]

    @property
    def kind(self) -> str:
        """`chunk`, `rule`, `memory` or `commit`."""
        return str(self.best["kind"])


def screen(data: Json, question: str, extent: Extent, paint: Paint = PLAIN) -> str:
    """The notes of an answer, what was found, and how to see the rest."""
    shown, left = _fit_entries(entries_of(data["results"]), extent)
    words, exact = Words(question), data.get("exact") or {}
    found = [
        format_commit(entry.best, paint)
        if entry.kind == "commit"
        else _memory(entry.best, words, extent, paint)
        if entry.kind == "memory"
        else _file(entry, words, extent, paint)
        for entry in shown
    ]
    told, unread = notes_of(data["stats"]), exact.get("left_out", "")
    is_denied = not exact.get("total") and (data["stats"].get("nothing_close") or not found)
    if is_denied and unread and unread not in data["stats"].get("note", ""):
        # A name that no line holds may stand in these files.
        told.append(in_words_of_the_shell(unread))
    # Lines that hold the question exactly come before similar code.
    lines = [exact_search.block(exact, paint, beside=True)] if exact.get("total") else []
    notes = ["\n".join(_note(note, paint) for note in told)] if told else []
    parts = [*notes, *lines, *(found or ([] if lines else ["nothing found"]))]
    if left:
        why = "" if extent.details else ", -v why each was found"
        more = 10 if len(shown) < 10 else 2 * len(shown)
        parts.append(_note(f"{left}: -k {more} shows more{why}", paint))
    return "\n\n".join(parts)


def entries_of(results: Iterable[Json]) -> list[AnswerEntry]:
    """The files and memories of an answer, those with the highest score first."""
    groups: dict[tuple[str, ...], list[Json]] = {}
    for result in sorted(results, key=lambda result: -result.get("score", 0.0)):
        if result["kind"] in _ALONE:
            groups[(result["kind"], result["id"])] = [result]
        else:
            groups.setdefault((result["kind"], result.get("project", ""), result["path"]), []).extend(
                _places_of(result)
            )
    return [AnswerEntry(tuple(places)) for places in groups.values()]


def _places_of(hit: Json) -> list[Json]:
    """A file's best place, and its others as places of their own."""
    shared = {key: value for key, value in hit.items() if key not in ("id", "score", "why", "places", "matched_by")}
    others = (
        (place, {"text": place["whole"]} if "whole" in place else {"start_line": place["line"]})
        for place in hit.get("places", ())
    )
    return [hit, *(shared | place | more for place, more in others)]


def notes_of(stats: Json) -> list[str]:
    """Notes on everything that the answer could not see, in words of the shell."""
    note = in_words_of_the_shell(stats.get("note") or "")
    counts = ((stats.get("pending_documents"), "file"), (stats.get("pending_embeddings"), "embedding"))
    missing = " and ".join(count_of(count, name) for count, name in counts if count)
    if stats.get("complete", True) or (note and not missing):
        return [note] if note else []
    goes_on = "are missing, and nothing makes them now: `rag-ls index` does" if stats.get("idle") else "to come"
    left = f"{missing} {goes_on}" if missing else "the files were not compared with it yet"
    return [f"the index is not complete: {left}", *([note] if note else [])]


def best_hits(data: Json, files: int) -> list[Json]:
    """The best hit of each file, best first."""
    return [entry.best for entry in _files(entries_of(data["results"]), files)]


def vimgrep(data: Json, question: str, files: int) -> list[str]:
    """The lines that match, as `path:line:column:text`, the column in bytes."""
    words = Words(question)
    return [
        f"{render.path_from_here(entry.best)}:{line.number}:{column_in_bytes(line.text, line.column)}:{line.text}"
        for entry in _files(entries_of(data["results"]), files)
        for line in _lines(entry, words)
    ]


def _files(entries: Sequence[AnswerEntry], count: int) -> list[AnswerEntry]:
    return [entry for entry in entries if entry.kind not in _ALONE][:count]


def _fit_entries(entries: Sequence[AnswerEntry], extent: Extent) -> tuple[list[AnswerEntry], str]:
    """The entries that there is room for, and what is left out, in words."""
    is_code = any(entry.kind == "chunk" for entry in entries)
    room = dict.fromkeys(("memory", "rule", "commit"), extent.beside if is_code else extent.files) | {
        "chunk": extent.files
    }
    left = {"chunk": 0, "memory": 0, "rule": 0, "commit": 0}
    shown = []
    for entry in entries:
        if room[entry.kind]:
            room[entry.kind] -= 1
            shown.append(entry)
        else:
            left[entry.kind] += 1
    names = {
        "chunk": ("file", "files"),
        "memory": ("memory", "memories"),
        "rule": ("file of rules", "files of rules"),
        "commit": ("commit", "commits"),
    }
    return shown, ", ".join(f"{count} more {names[kind][count > 1]}" for kind, count in left.items() if count)


def _file(entry: AnswerEntry, words: Words, extent: Extent, paint: Paint) -> str:
    hit = entry.best
    lines = _lines(entry, words)
    file = hit.get("file", "")
    symbols = list(dict.fromkeys(place["symbol"] for place in entry.places if place["symbol"]))[:_MAX_SYMBOLS]
    head = [
        (f"{render.path_from_here(hit)}:{_leading_line(hit, lines)}", PLACE, render.link_of(file)),
        (", ".join(symbols), NAME, ""),
        (hit.get("project", "") if hit.get("project", "") not in file else "", FAINT, ""),
        ("rule" if entry.kind == "rule" else "", FAINT, ""),
        (hit.get("note", ""), FAINT, ""),
        (_STATES.get(hit["freshness"] or "", ""), WARNING, ""),
    ]
    parts = render.flowing(head, paint)
    if extent.full:
        texts = ["\n".join([*_details(place, extent, paint), *_whole(place, words, paint)]) for place in entry.places]
        return "\n".join([*parts, "\n\n".join(texts)])
    for place in entry.places:
        parts += _details(place, extent, paint)
    return "\n".join([*parts, *_excerpt(entry, lines, words, paint)])


def _details(place: Json, extent: Extent, paint: Paint) -> list[str]:
    if not extent.details:
        return []
    lines = f"{place['start_line']}-{place['end_line']}"
    why = place.get("why") or "+".join(place.get("matched_by", ()))
    score = f"{place['score']:.2f}" if "score" in place else ""
    parts = (score, lines, place["symbol"], why, place.get("id", ""))
    return [f"{_INDENT}{line}" for line in render.flowing([(part, FAINT, "") for part in parts], paint)]


def _leading_line(hit: Json, lines: Sequence[Line]) -> int:
    """The first line shown of the best place, else where that begins."""
    of_place = [line.number for line in lines if hit["start_line"] <= line.number <= hit["end_line"]]
    return of_place[0] if of_place else int(hit["start_line"])


def _lines(entry: AnswerEntry, words: Words) -> list[Line]:
    """The lines of a file's places that match; of its best place at least one, and no more of a file far below the best."""
    most = 1 if entry.best.get("far") else _MAX_LINES
    first, *others = (
        words.lines_of(place.get("text") or "", place["start_line"], place["symbol"]) for place in entry.places
    )
    chosen = best(first, most if not others else max(1, most - 1))
    rest = [line for lines in others for line in lines if line.weight >= 1]
    return sorted({line.number: line for line in [*chosen, *best(rest, most - len(chosen))]}.values())


def _excerpt(entry: AnswerEntry, lines: Sequence[Line], words: Words, paint: Paint) -> list[str]:
    digits = len(str(max((line.number for line in lines), default=0)))
    indent = find_shared_indent(line.text for line in lines)
    rows: dict[int, str] = {}
    # Each line is coloured as part of its chunk: alone, a line does not show that it is inside a string.
    for place in entry.places:
        of_place = [line for line in lines if place["start_line"] <= line.number <= place["end_line"]]
        chosen = [line.number - place["start_line"] for line in of_place if line.number not in rows]
        text = place.get("text") or ""
        coloured = paint.code(
            text, place["language"], rows=chosen, indent=indent, marked=words.pattern, margin=digits + 4
        )
        rows |= dict(zip((row + place["start_line"] for row in chosen), coloured, strict=True))
    if not paint.width:
        rows = {
            at: row if len(row) <= _MAX_LINE_CHARACTERS else f"{row[:_MAX_LINE_CHARACTERS]}…"
            for at, row in rows.items()
        }
    return _number_rows(sorted(rows.items()), digits, paint)


def _number_rows(rows: Iterable[tuple[int, str]], digits: int, paint: Paint) -> list[str]:
    return [f"{_INDENT}{paint.style(f'{number:>{digits}}', FAINT)}  {row}".rstrip() for number, row in rows]


def _whole(place: Json, words: Words, paint: Paint) -> list[str]:
    text = (place.get("text") or "").rstrip("\n")
    coloured = paint.code(text, place["language"], indent=find_shared_indent(text.split("\n")), marked=words.pattern)
    return _number_rows(enumerate(coloured, place["start_line"]), len(str(place["end_line"])), paint)


def _memory(data: Json, words: Words, extent: Extent, paint: Paint) -> str:
    tags = " ".join(f"#{tag}" for tag in data["metadata"].get("tags", ()))
    memory_id = data["id"] if extent.details else data["id"][:8]
    head = [(f"memory {memory_id}", NAME, ""), (data["scope"], FAINT, ""), (tags, FAINT, "")]
    if extent.details:
        details = (f"{data.get('score', 0.0):.2f}", "+".join(data.get("matched_by") or ()), data["updated_at"][:10])
        head += [(detail, FAINT, "") for detail in details]
    columns = max(20, min(_MAX_COLUMNS, paint.width - len(_INDENT))) if paint.width else _MAX_COLUMNS
    content = render.wrap_lines(data["content"], columns)
    if not extent.full and len(content) > _MAX_MEMORY_LINES:
        # The lines around the one that holds most of the question's words.
        best_at = max(range(len(content)), key=lambda at: words.count(content[at]))
        first = 0 if best_at < _MAX_MEMORY_LINES - 1 else best_at - 1
        more = f"... ({len(content) - _MAX_MEMORY_LINES + 1} more lines: `rag-ls show {data['id'][:8]}`)"
        content = [*content[first : first + _MAX_MEMORY_LINES - 1], more]
    about = [render.place_of(data["anchor"], paint)] if data.get("anchor") else []
    return "\n".join([*render.flowing(head, paint), *(f"{_INDENT}{line}" for line in (*content, *about))])


def _note(text: str, paint: Paint) -> str:
    lines = textwrap.wrap(f"({text})", paint.width) if paint.width else [f"({text})"]
    return "\n".join(paint.style(line, FAINT) for line in lines)
