"""Cut a range without a syntax tree: at paragraphs, sentences, lines, white space, or anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.chunking.budget import BYTES_PER_TOKEN, Budget
from rag_ls.chunking.document import Document
from rag_ls.util.patterns import lazy_pattern

_BLANK_LINE = lazy_pattern(rb"(?:\r\n|\n|\r(?!\n))[ \t]*(?:\r\n|\n|\r(?!\n))+")
_SENTENCE_END = lazy_pattern(rb"[.!?][\"')\]]*[ \t\r\n]+")
_SPACE = lazy_pattern(rb"[ \t\r\n\f\v]+")


def windows(document: Document, start: int, end: int, budget: Budget, *, prose: bool) -> Iterator[tuple[int, int]]:
    """Ranges that partition `start`..`end`, each within the budget, cut at the best places.

    Prose is also cut at the ends of sentences. A single character or CRLF is never divided, even if
    it alone exceeds the budget. Time is linear in the length of the range.
    """
    while start < end:
        limit = _limit(document, start, end, budget.max_tokens)
        cut = end if limit >= end else _best_cut(document, start, limit, budget, prose)
        yield start, cut
        start = cut


def overlap_start(document: Document, origin: int, start: int, tokens: int) -> int:
    """The start of an overlap of up to `tokens` before `start`: at a line start if possible, not before `origin`."""
    if start <= origin or tokens == 0:
        return start
    index = document.token_index(start) - tokens
    first = int(document.tokens[index]) if index > 0 else 0
    first = max(origin, first, start - tokens * BYTES_PER_TOKEN)
    line = document.first_line_start(first, start)
    if line is not None:
        return line
    floor = document.floor(first)
    return floor if floor == first else document.after(floor)


def _limit(document: Document, start: int, end: int, max_tokens: int) -> int:
    """The furthest offset that a window from `start` may reach."""
    index = document.token_index(start) + max_tokens
    by_tokens = int(document.tokens[index]) if index < len(document.tokens) else end
    limit = min(end, by_tokens, start + max_tokens * BYTES_PER_TOKEN)
    limit = document.floor(limit) if limit < end else end
    return limit if limit > start else document.after(start)


def _best_cut(document: Document, start: int, limit: int, budget: Budget, prose: bool) -> int:
    index = document.token_index(start) + max(1, budget.min_tokens)
    filled = int(document.tokens[index]) if index < len(document.tokens) else limit
    text = document.data[start:limit]
    for pattern in (_BLANK_LINE, _SENTENCE_END) if prose else (_BLANK_LINE,):
        cut = start + _last_end(pattern, text)
        if filled <= cut == document.floor(cut):
            return cut
    line = document.last_line_start(start, limit)
    if line is not None:
        return line
    cut = document.floor(start + _last_end(_SPACE, text))
    return cut if cut > start else limit


def _last_end(pattern: re.Pattern[bytes], text: bytes) -> int:
    last = 0
    for match in pattern.finditer(text):
        last = match.end()
    return last
