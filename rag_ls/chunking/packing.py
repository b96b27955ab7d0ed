"""Packs words and rows of small whole numbers into few bytes."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_LEVEL = 3
_WIDTHS = (np.dtype("<u1"), np.dtype("<u2"), np.dtype("<u4"))


def pack(words: Sequence[str], columns: Sequence[NDArray[np.int64]]) -> bytes:
    """Words without line ends, and columns of one length of numbers in 0 to 2**32 - 1, as bytes that `unpack` reads."""
    parts = ["\n".join(words).encode("utf-8", "surrogatepass")]
    for column in columns:
        width = next(each for each in _WIDTHS if not column.size or column.max() <= np.iinfo(each).max)
        parts += [bytes([_WIDTHS.index(width)]), column.astype(width).tobytes()]
    length = len(columns[0]) if columns else 0
    head = len(parts[0]).to_bytes(4, "little") + length.to_bytes(4, "little")
    return zlib.compress(head + b"".join(parts), _LEVEL)


def unpack(packed: bytes) -> tuple[list[str], list[NDArray[np.int64]]]:
    """The words and columns that were packed. Raises `zlib.error` or `ValueError` for other bytes."""
    data = zlib.decompress(packed)
    at, length = 8 + int.from_bytes(data[:4], "little"), int.from_bytes(data[4:8], "little")
    words = data[8:at].decode("utf-8", "surrogatepass")
    columns = []
    while at < len(data):
        width = _WIDTHS[data[at]]
        end = at + 1 + length * width.itemsize
        columns.append(np.frombuffer(data[at + 1 : end], dtype=width).astype(np.int64))
        at = end
    return words.split("\n") if words else [], columns
