"""A document as bytes, with its token and line starts, for looking up sizes and places; the sizes of chunks, and approximate tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_ls.model import Chunk
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

_LF_BYTE, _CR_BYTE = 10, 13


@dataclass(frozen=True, slots=True)
class Document:
    """The UTF-8 bytes of a text; all offsets are in bytes."""

    data: bytes
    tokens: NDArray[np.int64]
    """Ascending offsets of the token starts."""
    lines: NDArray[np.int64]
    """Ascending offsets of the line starts; the first is 0."""

    @classmethod
    def of(cls, text: str, token_offsets: TokenOffsets) -> Document:
        data = text.encode("utf-8", "surrogatepass")
        return cls(data, np.asarray(token_offsets(text), dtype=np.int64), line_starts(data))

    def text(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8", "surrogatepass")

    def chunk(self, start: int, end: int, before: int, **described: Any) -> Chunk:
        """The chunk that a range is, with the text from `before` on as its overlap; `described` has the other fields."""
        return Chunk(
            start_byte=start, end_byte=end, start_line=self.line(start), end_line=self.line(end - 1), text=self.text(start, end),
            overlap=self.text(before, start), **described,
        )  # fmt: skip

    def token_index(self, offset: int) -> int:
        """The number of tokens that start before `offset`."""
        return int(self.tokens.searchsorted(offset))

    def size(self, start: int, end: int) -> int:
        """The size of a range in tokens. Long tokens count by their bytes, so a limit on the size limits bytes too."""
        tokens = int(self.tokens.searchsorted(end)) - int(self.tokens.searchsorted(start))
        return max(tokens, -(-(end - start) // BYTES_PER_TOKEN))

    def sizes(self, edges: list[int]) -> list[int]:
        """The sizes of the ranges between adjacent, ascending offsets."""
        offsets = np.array(edges, dtype=np.int64)
        tokens = np.diff(self.tokens.searchsorted(offsets))
        sizes: list[int] = np.maximum(tokens, -(-np.diff(offsets) // BYTES_PER_TOKEN)).tolist()
        return sizes

    def line(self, offset: int) -> int:
        """1-based number of the line that holds the byte at `offset`."""
        return int(self.lines.searchsorted(offset, side="right"))

    def line_start(self, offset: int) -> int:
        """The start of the line that holds `offset`."""
        return int(self.lines[self.line(offset) - 1])

    def line_starts_of(self, offsets: list[int]) -> list[int]:
        """The starts of the lines that hold these offsets."""
        indices = self.lines.searchsorted(np.array(offsets, dtype=np.int64), side="right") - 1
        starts: list[int] = self.lines[indices].tolist()
        return starts

    def last_line_start(self, after: int, until: int) -> int | None:
        """The last line start within `after` < start <= `until`."""
        index = int(self.lines.searchsorted(until, side="right")) - 1
        start = int(self.lines[index])
        return start if start > after else None

    def first_line_start(self, at_least: int, before: int) -> int | None:
        """The first line start within `at_least` <= start < `before`."""
        index = int(self.lines.searchsorted(at_least))
        if index < len(self.lines) and int(self.lines[index]) < before:
            return int(self.lines[index])
        return None

    def is_line_start(self, offset: int) -> bool:
        return self.line_start(offset) == offset

    def floor(self, offset: int) -> int:
        """The nearest offset at or before this one that is not inside a character or a CRLF."""
        data = self.data
        while 0 < offset < len(data) and data[offset] & 0xC0 == 0x80:
            offset -= 1
        if 0 < offset < len(data) and data[offset] == _LF_BYTE and data[offset - 1] == _CR_BYTE:
            offset -= 1
        return offset

    def after(self, offset: int) -> int:
        """The end of the character, or CRLF, at `offset`."""
        data = self.data
        end = offset + 1
        if data[offset] == _CR_BYTE and data[end : end + 1] == b"\n":
            return end + 1
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        return end


def line_starts(data: bytes) -> NDArray[np.int64]:
    """Offsets at which lines begin; lines end at LF, CRLF or CR and at nothing else."""
    array = np.frombuffer(data, dtype=np.uint8)
    if array.size == 0:
        return np.zeros(1, dtype=np.int64)
    feeds, returns = array == _LF_BYTE, array == _CR_BYTE
    returns[:-1] &= ~feeds[1:]
    starts = np.flatnonzero(feeds | returns) + 1
    if starts.size and starts[-1] == array.size:
        starts = starts[:-1]
    return np.concatenate((np.zeros(1, dtype=np.int64), starts.astype(np.int64)))


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


TokenOffsets = Callable[[str], NDArray[np.int64]]
"""Text -> ascending offsets, in bytes of its UTF-8 encoding, at which the model's tokens start."""

BYTES_PER_TOKEN = 16
"""At most this many bytes count as one token: a tokenizer may make a single token of a 10 MB blob."""

CHARACTERS_PER_TOKEN = 5
"""Letters or digits per token. On source code this matches the token count of MiniLM's WordPiece within 5 percent."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Sizes of chunks, in tokens of the embedding model.

    Raises ValueError when a size is negative, `max_tokens` is 0, or the others exceed it.
    """

    max_tokens: int = 224
    """The most tokens of a chunk's own text, which also has at most 16 bytes per token."""
    min_tokens: int = 24
    """Smaller pieces are merged with their neighbours if these have room."""
    overlap_tokens: int = 24
    """The tokens of preceding text that are repeated where a larger node was split."""

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, not {self.max_tokens}")
        for name, value in (("min_tokens", self.min_tokens), ("overlap_tokens", self.overlap_tokens)):
            if not 0 <= value <= self.max_tokens:
                raise ValueError(f"{name} must be within 0..max_tokens ({self.max_tokens}), not {value}")


_BLANK, _WORD, _MARK, _WIDE = range(4)


def _byte_classes() -> NDArray[np.uint8]:
    classes = np.full(256, _MARK, dtype=np.uint8)
    classes[[9, 10, 11, 12, 13, 28, 29, 30, 31, 32]] = _BLANK
    for first, last in (("0", "9"), ("A", "Z"), ("a", "z")):
        classes[ord(first) : ord(last) + 1] = _WORD
    classes[0x80:0xE0] = _WORD  # two-byte letters, and the continuation bytes of CJK and emoji: a token each
    classes[0xE0:] = _WIDE  # CJK and emoji: a token each
    return classes


_CLASSES = _byte_classes()


def approximate_token_offsets(text: str) -> NDArray[np.int64]:
    """Byte offsets that approximate the token starts of a word-piece tokenizer.

    Words are cut every few letters. Every other mark and every wide character is a token, but white
    space is not. Deterministic, linear, needs no model.
    """
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    if data.size == 0:
        return np.empty(0, dtype=np.int64)
    classes = _CLASSES[data]
    changes = np.concatenate(([True], classes[1:] != classes[:-1]))
    starts = ((classes == _WORD) & changes) | (classes == _MARK) | (classes == _WIDE)
    position = np.arange(data.size, dtype=np.int64)
    in_run = position - np.maximum.accumulate(np.where(changes, position, 0))
    starts |= (classes == _WORD) & (in_run % CHARACTERS_PER_TOKEN == 0)
    starts &= (data & 0xC0) != 0x80
    return np.flatnonzero(starts).astype(np.int64)
