"""Several texts as one, so that a pattern looks into all of them in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class JoinedTexts:
    """Texts side by side, with the end of a line between them."""

    text: str
    starts: NDArray[np.int64]
    """The beginning of each, of shape (texts,)."""

    @classmethod
    def join(cls, texts: Sequence[str]) -> JoinedTexts:
        """Join texts."""
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        return cls("\n".join(texts), np.cumsum(lengths + 1) - lengths - 1)

    def find_holders(self, positions: Iterable[int]) -> NDArray[np.int64]:
        """The index of the text that holds each position."""
        found: NDArray[np.int64] = np.searchsorted(self.starts, np.fromiter(positions, np.int64), side="right") - 1
        return found

    def count(self, positions: Iterable[int]) -> list[int]:
        """The number of positions in each text."""
        counts: list[int] = np.bincount(self.find_holders(positions), minlength=len(self.starts)).tolist()
        return counts


def find_in_lines(text: str, literal: str) -> list[int]:
    """The first place of a literal in each line that holds it."""
    found = []
    find = text.find
    at = find(literal)
    while at >= 0:
        found.append(at)
        end = find("\n", at)
        at = find(literal, end + 1) if end >= 0 else -1
    return found
