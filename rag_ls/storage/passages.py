"""Runs of lines of documents."""

from __future__ import annotations

from typing import NamedTuple

from rag_ls.util.text import end_lines_in_lf

MAX_LINE = 2**31 - 1
"""No document has more lines: the end of a passage that goes to the end of its document."""


class Passage(NamedTuple):
    """Lines of a document."""

    document_id: int
    first: int = 1
    last: int = MAX_LINE
    """Inclusive."""


def take_lines(text: bytes, start: int, first: int, last: int) -> bytes:
    """The lines `first` to `last` of a text that begins in line `start`; each ends in LF but, perhaps, the document's last."""
    text = end_lines_in_lf(text)
    # Splitting all lines takes one call; finding each line would take one call a line.
    *before, text = text.split(b"\n", first - start)
    if len(before) < first - start:
        return b""
    count = last - first + 1
    *taken, after = text.split(b"\n", count) if last != MAX_LINE else [text]
    return text[: len(text) - len(after)] if len(taken) == count else text
