"""Runs of lines of documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rag_ls.util.text import LINE_END

LAST_LINE = 2**31 - 1
"""No document has more lines: the end of a passage that goes to the end of its document."""


class Passage(NamedTuple):
    """Lines of a document."""

    document_id: int
    first: int = 1
    last: int = LAST_LINE
    """Inclusive."""


def join_passages(passages: Iterable[Passage]) -> list[Passage]:
    """One passage for each document, from the first of its lines to the last: reading several costs more than what is between."""
    joined: dict[int, Passage] = {}
    for passage in passages:
        former = joined.get(passage.document_id, passage)
        joined[passage.document_id] = Passage(
            passage.document_id, min(former.first, passage.first), max(former.last, passage.last)
        )
    return sorted(joined.values())


def take_lines(text: str, start: int, first: int, last: int) -> str:
    """The lines `first` to `last` of a text that begins in line `start`; each ends in LF but, perhaps, the document's last."""
    text = LINE_END.sub("\n", text) if "\r" in text else text
    begin = 0
    for _ in range(first - start):
        begin = text.find("\n", begin) + 1
        if not begin:
            return ""
    if last == LAST_LINE:
        return text[begin:]
    end = begin
    for _ in range(last - first + 1):
        end = text.find("\n", end) + 1
        if not end:
            return text[begin:]
    return text[begin:end]
