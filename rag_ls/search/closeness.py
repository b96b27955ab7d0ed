"""Tells which of a question's words a text holds, and how close together."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_ls.retrieval.asked import AskedTerms
from rag_ls.storage import stem

# About the lines of a statement with its comment.
_LINES = 5
_MIN_PREFIX = 2


@dataclass(frozen=True, slots=True)
class Held:
    """The shares of a question that a text holds, 0..1; a rare word counts more."""

    whole: float
    """In all of the text."""
    close: float
    """In `_LINES` consecutive lines."""


class WordFinder:
    """Finds the words of a question in texts: identifiers, option names and literals are taken apart as it goes."""

    def __init__(self, asked: AskedTerms, words: Collection[str]) -> None:
        """`words` are in lower case; those that `asked` does not weigh are left out."""
        weighed = [word for word in words if stem(word) in asked.weights]
        self._weights = [asked.weights[stem(word)] for word in weighed]
        self._total = sum(self._weights)
        self._words = [(prefix, _pattern(prefix)) for prefix in map(_prefix_of, weighed)]
        self._shares: dict[int, float] = {0: 0.0}

    def find(self, text: str) -> Held:
        """The shares of the question that a text holds."""
        lowered = text.lower()
        present = [at for at, (prefix, _) in enumerate(self._words) if prefix in lowered]
        if not present:
            return Held(0.0, 0.0)
        of_lines = [self._find_in(line, present) for line in text.split("\n")]
        whole = 0
        for mask in of_lines:
            whole |= mask
        return Held(self._share(whole), max(self._share(mask) for mask in _windows(of_lines)))

    def _find_in(self, line: str, present: Sequence[int]) -> int:
        """The words that a line holds, as bits."""
        lowered = line.lower()
        mask = 0
        for at in present:
            prefix, pattern = self._words[at]
            if prefix in lowered and pattern.search(line):
                mask |= 1 << at
        return mask

    def _share(self, mask: int) -> float:
        if mask not in self._shares:
            held = sum(weight for at, weight in enumerate(self._weights) if mask >> at & 1)
            self._shares[mask] = held / self._total if self._total else 0.0
        return self._shares[mask]


def _windows(masks: Sequence[int]) -> list[int]:
    """The words that each run of `_LINES` lines holds."""
    joined = list(masks)
    for at in range(len(masks)):
        for mask in masks[at + 1 : at + _LINES]:
            joined[at] |= mask
    return joined


def _prefix_of(word: str) -> str:
    """The beginning that all forms of a word share: `retr` of retry and retries."""
    stemmed = stem(word)
    length = next((at for at, pair in enumerate(zip(word, stemmed, strict=False)) if pair[0] != pair[1]), len(stemmed))
    return word[: max(length, _MIN_PREFIX)]


@lru_cache(maxsize=4096)
def _pattern(prefix: str) -> re.Pattern[str]:
    """A prefix at the beginning of a word, or of a part of an identifier."""
    escaped = re.escape(prefix)
    return re.compile(rf"(?<![^\W\d_])(?i:{escaped})|(?<=[a-z]){re.escape(prefix.capitalize())}")
