"""A document as bytes, with its token and line starts, for looking up sizes and places."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rag_ls.chunking.budget import BYTES_PER_TOKEN, TokenOffsets
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
