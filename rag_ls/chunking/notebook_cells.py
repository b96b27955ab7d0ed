"""Reads the cells of a notebook, with their places in the JSON text, and the plain text of a piece of it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rag_ls.chunking.document import line_starts
from rag_ls.chunking.parse import MAX_BYTES, parse_within
from rag_ls.languages import by_alias, find_language
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

if TYPE_CHECKING:
    from tree_sitter import Node

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
    if not edited:
        return text
    content, written = _load(text), iter(edited)
    for cell, each in zip(notebook.cells, content["cells"], strict=True):
        left[cell.lines] -= 1
        if left[cell.lines] < 0:
            each["source"] = [f"{line}\n" for line in next(written, ())]
    content["cells"] += [{"cell_type": "code", "source": [f"{line}\n" for line in lines]} for lines in written]
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


PAYLOADS = frozenset({"outputs", "attachments"})
"""Members of a cell that hold results and images."""

_KINDS = frozenset({"markdown", "code", "raw"})
_LINE = lazy_pattern(r"[^\n]*\n?")


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


def read_notebook(text: str) -> Notebook | None:
    """The notebook that a JSON text is: an object with `cells` and `nbformat`. None for any other text, and huge ones."""
    if len(text) > MAX_BYTES or '"nbformat"' not in text:
        return None
    try:
        return _read(text)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


def _load(text: str) -> Any:
    return json.loads(text.removeprefix("\ufeff"))


def _read(text: str) -> Notebook | None:
    """The values are those of Python's parser; the places are those of the JSON grammar."""
    content, data, syntax = _load(text), text.encode("utf-8", "surrogatepass"), find_language("json").syntax
    if not (isinstance(content, dict) and "nbformat" in content and isinstance(content.get("cells"), list)):
        return None
    root = parse_within(data, syntax, 0, len(data)) if syntax is not None else None
    if root is None or root.has_error:
        return None
    cells = _members(root.named_children[0], data)["cells"].named_children[-1]
    each_cell = enumerate(zip(content["cells"], cells.named_children, strict=True), 1)
    found = [_cell(number, each, node, data) for number, (each, node) in each_cell]
    return Notebook(tuple(found), cells.end_byte, _language(content.get("metadata")))


def _members(node: Node, data: bytes) -> dict[str, Node]:
    """The members of an object, by their keys."""
    keys = ((member, member.named_children[0]) for member in node.named_children)
    return {json.loads(data[key.start_byte : key.end_byte]): member for member, key in keys}


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


def _cell(number: int, content: dict[str, Any], node: Node, data: bytes) -> Cell:
    members, kind = _members(node, data), content.get("cell_type", "raw")
    payloads = (member for key, member in members.items() if key in PAYLOADS)
    source = members.get("source")
    lines = [] if source is None else _lines(content["source"], source.named_children[-1])
    return Cell(
        number=number,
        kind=kind if kind in _KINDS else "raw",
        start=node.start_byte,
        body=(node.start_byte, node.start_byte) if source is None else (source.start_byte, source.end_byte),
        payloads=tuple((member.start_byte, member.end_byte) for member in payloads),
        lines=tuple(line for line, _ in lines),
        offsets=tuple(offset for _, offset in lines),
    )


def _lines(source: str | list[str], node: Node) -> list[tuple[str, int]]:
    """The lines of a source (a string or an array of strings), with their offsets."""
    strings = [(source, node)] if isinstance(source, str) else zip(source, node.named_children, strict=True)
    lines: list[tuple[str, int]] = []
    unfinished = False
    for string, place in strings:
        for piece in _LINE.findall(string.encode("utf-8", "replace").decode()):
            if unfinished and lines and piece:
                lines[-1] = (lines[-1][0] + piece.rstrip("\r\n"), lines[-1][1])
            elif piece:
                lines.append((piece.rstrip("\r\n"), place.start_byte))
            unfinished = not piece.endswith("\n") if piece else unfinished
    return lines


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
