"""The sizes of chunks, and approximate token counts without a tokenizer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rag_ls.util.records import dataclass

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


_SPACE, _WORD, _MARK, _WIDE = range(4)


def _byte_classes() -> NDArray[np.uint8]:
    classes = np.full(256, _MARK, dtype=np.uint8)
    classes[[9, 10, 11, 12, 13, 28, 29, 30, 31, 32]] = _SPACE
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
