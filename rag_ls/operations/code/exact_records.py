"""The records of an answer's exact part."""

from __future__ import annotations

from rag_ls.operations.fields import optional
from rag_ls.util.records import dataclass


@dataclass(frozen=True, slots=True)
class LineRecord:
    """A line that holds the text or matches the expression."""

    path: str
    line: int
    column: int
    """In characters, from 1."""
    text: str
    symbol: str = optional("")
    """The innermost declaration around it."""
    byte_column: int | None = optional()
    """The column in bytes, as grep and vim count, where that is another."""
    file: str = optional("")
    project: str = optional("")
    """The root, where several projects answer; the name of a published one."""


@dataclass(frozen=True, slots=True)
class ExactPlaces:
    """All lines that hold a literal text or match a regular expression, a page of them told."""

    match: str
    """`exact` or `regex`: what the query was taken for."""
    pattern: str
    total: int
    """The number of lines."""
    files: int
    places: tuple[LineRecord, ...]
    """Whole words first, then names inside longer ones."""
    inside_words: int = optional(0)
    """The number of lines that hold it inside longer words only."""
    next_offset: int | None = optional()
    left_out: str = optional("")
    """The files that were not looked into, with the reason."""
    is_partial: bool = optional(False)
    """Whether there may be more lines: not all files were looked into."""
