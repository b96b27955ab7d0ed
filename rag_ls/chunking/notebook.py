"""Cuts notebooks: a chunk for each cell of the JSON text, and separate chunks for outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from rag_ls.chunking.document import Budget, Document, line_starts, overlap_start, windows
from rag_ls.chunking.headings import Heading, sections
from rag_ls.chunking.notebook_cells import Cell, Notebook, code_lines
from rag_ls.chunking.outline import outline_of
from rag_ls.chunking.parse import is_safe, parse
from rag_ls.chunking.symbols import MAX_DOC, MAX_SIGNATURE
from rag_ls.languages import find_language
from rag_ls.model import Chunk, Import, Outline, Symbol
from rag_ls.util.records import dataclass, replace

_HEADING = r" {0,3}(#{1,6})[ \t]+(\S.*)"
_FENCE = r" {0,3}(?:```|~~~)"
_MAX_TITLE = 100


@dataclass(frozen=True, slots=True)
class _Segment:
    """A range of the text: a cell, its outputs, or text around the cells."""

    start: int
    end: int
    node_type: str
    cell: Cell | None = None
    """None for outputs and the JSON around the cells."""
    weight: int = 0
    """The size of the cell's source in tokens, without the JSON around it."""


@dataclass(frozen=True, slots=True)
class _Names:
    """The declarations of the cells."""

    outline: Outline
    by_cell: dict[int, str]
    """The first heading, function or type of each cell that has one, by cell number."""

    def of(self, cell: Cell) -> str:
        return self.by_cell.get(cell.number, f"cell {cell.number}")


def cut_notebook(document: Document, notebook: Notebook, path: str, budget: Budget) -> tuple[list[Chunk], Outline]:
    """The chunks of a notebook, which partition its JSON text, and its outline by lines of that text."""
    names = _names(document, notebook)
    chunks: list[Chunk] = []
    for group in _groups(_segments(document, notebook, budget), document, budget):
        described = {"path": path, "language": "notebook", **_describe(group, names)}
        chunks += _cut(document, described, group, budget, len(chunks))
    return chunks, names.outline


def _cut(
    document: Document, described: dict[str, Any], group: list[_Segment], budget: Budget, ordinal: int
) -> Iterator[Chunk]:
    origin, end = group[0].start, group[-1].end
    overlap = budget.overlap_tokens if group[0].cell is not None else 0
    for number, (start, stop) in enumerate(windows(document, origin, end, budget, prose=False), ordinal):
        yield document.chunk(start, stop, overlap_start(document, origin, start, overlap), ordinal=number, **described)
        # Only the first window declares the cell.
        described = {**described, "is_declaration": False, "doc": ""}


def _describe(group: list[_Segment], names: _Names) -> dict[str, Any]:
    """The fields of a chunk, by its main cell: the largest one, or else the first with a name."""
    segments = [segment for segment in group if segment.cell is not None]
    segments.sort(key=lambda segment: -segment.weight)
    cells = [segment.cell for segment in segments if segment.cell is not None]
    if not cells:
        return {"node_type": group[0].node_type}
    largest = cells[0]
    if largest.number not in names.by_cell:
        named = [cell for cell in cells if cell.number in names.by_cell]
        largest = min(named, key=lambda cell: cell.number, default=largest)
    first = next((line for line in largest.lines if line.strip()), "")
    return {
        "symbol": names.of(largest),
        "node_type": f"{largest.kind}_cell",
        "is_declaration": True,
        "signature": " ".join(first.split())[:MAX_SIGNATURE].rstrip(),
        "doc": _first_paragraph(largest) if largest.kind == "markdown" else "",
    }


def _first_paragraph(cell: Cell) -> str:
    words: list[str] = []
    for line in cell.lines:
        if re.match(_HEADING, line) or not line.strip():
            if words:
                break
        else:
            words += line.split()
    return " ".join(words)[:MAX_DOC].rstrip()


def _segments(document: Document, notebook: Notebook, budget: Budget) -> list[_Segment]:
    """The ranges that partition the text. A small range around the cells belongs to the nearest cell."""
    total, least = len(document.data), budget.min_tokens
    starts = [_beginning(document, cell.start) for cell in notebook.cells]
    if not starts:
        return [_Segment(0, total, "metadata")]
    segments = []
    if document.size(0, starts[0]) < least:
        starts[0] = 0
    elif starts[0]:
        segments.append(_Segment(0, starts[0], "metadata"))
    end = _beginning(document, notebook.end - 1)
    end = end if document.size(end, total) >= max(least, 1) else total
    for cell, start, stop in zip(notebook.cells, starts, [*starts[1:], end], strict=True):
        segments += _of_cell(document, cell, start, stop, budget)
    if end < total:
        segments.append(_Segment(end, total, "metadata"))
    return segments


def _of_cell(document: Document, cell: Cell, start: int, end: int, budget: Budget) -> Iterator[_Segment]:
    """The segments of a cell: its source, and its outputs (before or after the source) if they are not small.

    If the cell must be split, the text before its source is separate too, so that the first window begins with the
    source.
    """
    low, high = cell.body
    large = [payload for payload in cell.payloads if document.size(*payload) >= max(budget.min_tokens, 1)]
    after = min((_beginning(document, first) for first, _ in large if first >= high), default=end)
    outputs_first = any(first < low for first, _ in large)
    split = document.size(start, after) > budget.max_tokens
    begin = max(start, _beginning(document, low)) if outputs_first or split else start
    if start < begin:
        yield _Segment(start, begin, "outputs" if outputs_first else "metadata")
    yield _Segment(begin, after, f"{cell.kind}_cell", cell, document.size(low, high))
    if after < end:
        yield _Segment(after, end, "outputs")


def _beginning(document: Document, offset: int) -> int:
    """The start of the line, if only white space precedes the offset there; else the offset."""
    line = document.line_start(offset)
    return offset if document.data[line:offset].strip() else line


def _groups(segments: list[_Segment], document: Document, budget: Budget) -> list[list[_Segment]]:
    """Join small segments while they fit: a small cell to what follows, small code and outputs to what precedes."""
    groups: list[list[_Segment]] = []
    for segment in segments:
        if groups and _joins(groups[-1], segment, document, budget):
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return groups


def _joins(group: list[_Segment], segment: _Segment, document: Document, budget: Budget) -> bool:
    fits = document.size(group[0].start, segment.end) <= budget.max_tokens
    if segment.cell is None or group[-1].cell is None:
        return fits and segment.node_type == "metadata"
    small = sum(each.weight for each in group) < budget.min_tokens
    trails = segment.cell.kind == "code" and segment.weight < budget.min_tokens
    return fits and (small or trails)


def _names(document: Document, notebook: Notebook) -> _Names:
    headed = [(cell.number, heading) for cell in notebook.cells for heading in _headings(cell)]
    titles = list(sections(document, [heading for _, heading in headed]))
    numbered = [(number, symbol) for (number, _), symbol in zip(headed, titles, strict=True)]
    declared, imports = _read_declarations(document, notebook)
    by_cell: dict[int, str] = {}
    for number, symbol in (*numbered, *declared):
        if symbol.kind in ("section", "function", "type"):
            by_cell.setdefault(number, symbol.name)
    symbols = sorted((symbol for _, symbol in (*numbered, *declared)), key=lambda symbol: symbol.start_line)
    return _Names(Outline(tuple(symbols), tuple(imports)), by_cell)


def _headings(cell: Cell) -> Iterator[Heading]:
    fenced = cell.kind != "markdown"
    for line, offset in zip(cell.lines, cell.offsets, strict=True):
        if re.match(_FENCE, line):
            fenced = not fenced
        match = None if fenced else re.match(_HEADING, line)
        title = " ".join(match[2].rstrip("# \t").split())[:_MAX_TITLE] if match else ""
        if match and title:
            yield len(match[1]), offset, title


def _read_declarations(document: Document, notebook: Notebook) -> tuple[list[tuple[int, Symbol]], list[Import]]:
    """The declarations of the code cells, each with its cell's number, and their imports, read as one text."""
    syntax = find_language(notebook.language).syntax
    lines = list(code_lines(notebook))
    data = "".join(text + "\n" for text, _, _ in lines).encode("utf-8", "surrogatepass")
    if syntax is None or not data or not is_safe(data, syntax):
        return [], []
    code = Document(data, np.empty(0, dtype=np.int64), line_starts(data))
    outline = outline_of(code, parse(data, syntax), syntax, notebook.language, {})
    rows = document.lines.searchsorted([offset for _, _, offset in lines], side="right").tolist()
    last = len(rows) - 1
    symbols = [
        (
            lines[min(each.start_line - 1, last)][1],
            _move_symbol(each, rows[min(each.start_line - 1, last)], rows[min(each.end_line - 1, last)]),
        )
        for each in outline.symbols
    ]
    return symbols, [replace(each, line=rows[min(each.line - 1, last)]) for each in outline.imports]


def _move_symbol(symbol: Symbol, start: int, end: int) -> Symbol:
    return replace(symbol, start_line=start, end_line=max(start, end))
