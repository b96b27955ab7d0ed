"""The code of a notebook as one text, as a parser reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.chunking.document import line_starts
from rag_ls.chunking.notebook_cells import Cell, Notebook, read_notebook
from rag_ls.util.records import dataclass

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
