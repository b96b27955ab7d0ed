"""Reads the cells of a notebook, with their places in the JSON text, and the plain text of a piece of it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_ls.chunking.document import line_starts
from rag_ls.chunking.parse import MAX_BYTES
from rag_ls.languages import by_alias
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

_TOKEN = lazy_pattern(
    r"""
    (?P<start>\A[\s{}\[\],]+(?="))
    |(?P<data>(?:[A-Za-z0-9+/=]|\\n){200,})
    |(?P<unicode>(?:\\u[0-9a-fA-F]{4})+)
    |\\(?P<escaped>.)
    |(?P<around>
        "(?:cell_type|id|output_type|name|mimetype)"\s*:\s*"[^"\\]*"\s*,?\s*
        |"execution_count"\s*:\s*(?:null|\d+)\s*,?\s*
        |"metadata"\s*:\s*\{(?:[^{}"]|"[^"\\]*"|\{[^{}]*\})*\}\s*,?\s*
        |"(?:outputs|attachments)"\s*:\s*(?:\[\s*\]|\{\s*\})\s*,?\s*
        |"(?:source|outputs|attachments|data|text|text/plain)"\s*:\s*[\[{]*\s*
        |"nbformat(?:_minor)?"\s*:\s*\d+\s*,?\s*
        |"cells"\s*:\s*\[[\s{]*
    )
    |(?P<end>"?\s*[\]}][\s\]}]*(?:,\s*)?\{\s*(?="))
    |(?P<quote>"(?:\s*,\s*"|[\s\]},]*\Z)?)
    """,
    re.VERBOSE,
)
_SOURCE_LINE = lazy_pattern(r'\s*+"((?:[^"\\]|\\.)*+)"\s*+,?\s*+')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": " ", "f": " "}


def plain_text(text: str) -> str:
    """The source or output in a piece of a notebook, wherever it was cut: without escapes, quotes, keys and images."""
    return _TOKEN.sub(_plain, text).strip()


def _plain(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "escaped":
        return _ESCAPES.get(match[kind], match[kind])
    if kind == "unicode":
        decoded: str = json.loads(f'"{match[kind]}"')
        return decoded.encode("utf-8", "replace").decode("utf-8")
    return {"data": "data", "end": "\n\n"}.get(kind or "", "")


def source_lines(text: str) -> str:
    """A piece of a notebook as its cells show it, line for line: lines of JSON around the sources are empty.

    A text that is not written with a line of source on each line is left as it is.
    """
    found = [_SOURCE_LINE.fullmatch(line) for line in text.split("\n")]
    if not any(found):
        return text
    return "\n".join(_TOKEN.sub(_plain, each[1]).rstrip("\r\n") if each else "" for each in found)


def with_open_cells(text: str, sources: Sequence[str]) -> str:
    """A notebook's JSON text as an editor holds it that has cells with these `sources` open.

    Sources that the text lacks take the places of cells that are not open, in order; further ones come last. The text stays
    as it is where it lacks none: editors open one cell after the other.
    """
    notebook = read_notebook(text)
    if notebook is None:
        return text
    opened = [tuple(line.rstrip("\r\n") for line in _LINE.findall(source) if line) for source in sources]
    saved, left = Counter(cell.lines for cell in notebook.cells), Counter(opened)
    edited: list[tuple[str, ...]] = []
    for lines in opened:
        saved[lines] -= 1
        if saved[lines] < 0:
            edited.append(lines)
    return _replace_cells(text, notebook, left, edited) if edited else text


def _replace_cells(
    text: str, notebook: Notebook, left: Counter[tuple[str, ...]], edited: Sequence[tuple[str, ...]]
) -> str:
    """The JSON text with the `edited` cells in place of those that are not `left`."""
    data, at, sources = text.encode("utf-8", "surrogatepass"), 0, iter(edited)
    parts: list[bytes] = []
    for cell in notebook.cells:
        left[cell.lines] -= 1
        start, end = cell.body
        if left[cell.lines] < 0 and start < end:
            parts += [data[at:start], _format_source(next(sources, ()))]
            at = end
    end = notebook.end - 1
    parts.append(data[at:end])
    for number, lines in enumerate(sources, len(notebook.cells)):
        parts += [b',\n  {"cell_type": "code",\n   '[not number :], _format_source(lines), b"}"]
    return b"".join((*parts, data[end:])).decode("utf-8", "surrogatepass")


def _format_source(lines: Sequence[str]) -> bytes:
    """The member with the source of a cell, a line for each of its lines, as Jupyter writes it."""
    strings = [json.dumps(f"{line}\n", ensure_ascii=False) for line in lines]
    listed = ",\n    ".join(strings)
    return f'"source": [\n    {listed}\n   ]'.encode("utf-8", "surrogatepass") if strings else b'"source": []'


PAYLOADS = frozenset({"outputs", "attachments"})
"""Members of a cell that hold results and images."""

_KINDS = frozenset({"markdown", "code", "raw"})
_SPACE = lazy_pattern(r"[ \t\r\n]*")
_LINE = lazy_pattern(r"[^\n]*\n?")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell; its offsets are in bytes of the JSON text."""

    number: int
    """1-based."""
    kind: str
    """`markdown`, `code` or `raw`."""
    start: int
    body: tuple[int, int]
    """From the key of its source to the source's end; from the cell's start if it has no source."""
    payloads: tuple[tuple[int, int], ...]
    """The ranges of its outputs and attachments, including their keys."""
    lines: tuple[str, ...]
    """The lines of its source, without line ends."""
    offsets: tuple[int, ...]
    """The offset of each line, or of the string that holds it."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """The contents of a notebook."""

    cells: tuple[Cell, ...]
    end: int
    """The end of the cells, in bytes."""
    language: str
    """The language of its code cells."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of a JSON object or array; offsets are in characters."""

    key: str
    start: int
    value_start: int
    end: int
    value: Any


def read_notebook(text: str) -> Notebook | None:
    """The notebook that a JSON text is: an object with `cells` and `nbformat`. None for any other text, and huge ones."""
    if len(text) > MAX_BYTES or '"nbformat"' not in text:
        return None
    try:
        return _read(text)
    except (ValueError, TypeError, IndexError, RecursionError):
        return None


def _read(text: str) -> Notebook | None:
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    members = {member.key: member for member in _members(text, start)}
    cells = members.get("cells")
    if cells is None or "nbformat" not in members or not isinstance(cells.value, list):
        return None
    metadata = members["metadata"].value if "metadata" in members else {}
    places = _byte_offsets(text)
    found = [_cell(text, number, each, places) for number, each in enumerate(_elements(text, cells.value_start), 1)]
    return Notebook(tuple(found), _place(places, cells.end), _language(metadata))


def _language(metadata: Any) -> str:
    """The kernel's language; Python if none is known."""
    if isinstance(metadata, dict):
        for key, name in (("language_info", "name"), ("kernelspec", "language")):
            about = metadata.get(key)
            said = about.get(name) if isinstance(about, dict) else None
            known = by_alias(said) if isinstance(said, str) else None
            if known is not None:
                return known
    return "python"


def _cell(text: str, number: int, element: _Member, places: NDArray[np.int64] | None) -> Cell:
    members = list(_members(text, element.value_start))
    kind = next((member.value for member in members if member.key == "cell_type"), "raw")
    source = next((member for member in members if member.key == "source"), None)
    payloads = [member for member in members if member.key in PAYLOADS]
    lines = [] if source is None else _lines(text, source)
    start = _place(places, element.value_start)
    return Cell(
        number=number,
        kind=kind if kind in _KINDS else "raw",
        start=start,
        body=(start, start) if source is None else (_place(places, source.start), _place(places, source.end)),
        payloads=tuple((_place(places, member.start), _place(places, member.end)) for member in payloads),
        lines=tuple(line for line, _ in lines),
        offsets=tuple(_place(places, offset) for _, offset in lines),
    )


def _lines(text: str, source: _Member) -> list[tuple[str, int]]:
    """The lines of a source (a string or an array of strings), with their offsets."""
    strings = [source] if isinstance(source.value, str) else list(_elements(text, source.value_start))
    lines: list[tuple[str, int]] = []
    unfinished = False
    for string in strings:
        for piece in _LINE.findall(string.value.encode("utf-8", "replace").decode()):
            if unfinished and lines and piece:
                lines[-1] = (lines[-1][0] + piece.rstrip("\r\n"), lines[-1][1])
            elif piece:
                lines.append((piece.rstrip("\r\n"), string.value_start))
            unfinished = not piece.endswith("\n") if piece else unfinished
    return lines


def _members(text: str, at: int) -> Iterator[_Member]:
    """The members of the object that begins at `at`. Raises ValueError or IndexError if the text is not JSON."""
    at = _skip(text, _expect(text, at, "{"))
    while text[at] != "}":
        start = at
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _expect(text, _skip(text, at), ":"))
        value, end = _DECODER.raw_decode(text, at)
        yield _Member(key, start, at, end, value)
        at = _next(text, end, "}")


def _elements(text: str, at: int) -> Iterator[_Member]:
    """The elements of the array that begins here, as `_members`."""
    at = _skip(text, _expect(text, at, "["))
    while text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        yield _Member("", at, at, end, value)
        at = _next(text, end, "]")


def _next(text: str, at: int, closing: str) -> int:
    at = _skip(text, at)
    return at if text[at] == closing else _skip(text, _expect(text, at, ","))


def _expect(text: str, at: int, mark: str) -> int:
    if text[at] != mark:
        raise ValueError(f"no {mark} at {at}")
    return at + 1


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _byte_offsets(text: str) -> NDArray[np.int64] | None:
    """The UTF-8 offset of each character, and of the end; None for ASCII, where both offsets are equal."""
    if text.isascii():
        return None
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    return np.append(np.flatnonzero((data & 0xC0) != 0x80), data.size)


def _place(places: NDArray[np.int64] | None, offset: int) -> int:
    return offset if places is None else int(places[offset])


_MAGIC = r"\s*[%!?]"
_OTHER_LANGUAGE = r"%%(?!(?:time|timeit|capture|prun|memit|mprun)\b)"


@dataclass(frozen=True, slots=True)
class NotebookCode:
    """The code cells of a notebook as one text in its language."""

    language: str
    text: str
    rows: tuple[int, ...]
    """For each line, that of the JSON text."""


def read_notebook_code(text: str) -> NotebookCode | None:
    """The code of a notebook; None for a text that is none."""
    notebook = read_notebook(text)
    if notebook is None:
        return None
    lines = list(code_lines(notebook))
    starts = line_starts(text.encode("utf-8", "surrogatepass"))
    rows = starts.searchsorted([offset for _, _, offset in lines], side="right").tolist()
    return NotebookCode(notebook.language, "".join(f"{line}\n" for line, _, _ in lines), tuple(rows))


def code_lines(notebook: Notebook) -> Iterator[tuple[str, int, int]]:
    """Each line of the code cells (empty for shell magic), the cell's number, and the line's offset in bytes."""
    for cell in notebook.cells:
        if cell.kind == "code":
            yield from _read_lines(cell)


def _read_lines(cell: Cell) -> Iterator[tuple[str, int, int]]:
    if not cell.lines or re.match(_OTHER_LANGUAGE, cell.lines[0]):
        return
    for line, offset in zip(cell.lines, cell.offsets, strict=True):
        yield "" if re.match(_MAGIC, line) else line.replace("\r", " "), cell.number, offset
    yield "", cell.number, cell.offsets[-1]
