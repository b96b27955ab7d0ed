"""Tells which of a question's words a text holds, and how close together."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from rag_ls.retrieval.asked import AskedTerms
from rag_ls.storage import fold_text, is_unspaced, stem

# About the lines of a statement with its comment.
_LINES = 5
_MIN_PREFIX = 2
_LOWER, _LINE_END = re.compile("[a-z]"), re.compile("\n")


@dataclass(frozen=True, slots=True)
class Held:
    """The shares of a question that a text holds, 0..1; a rare word counts more."""

    whole: float
    """In all of the text."""
    close: float
    """In `_LINES` consecutive lines."""
    words: int = 0
    """The number of its words in all of the text."""


@dataclass(frozen=True, slots=True)
class _Word:
    """The beginning that all forms of a word share, in lower case."""

    prefix: str

    def find_starts(self, text: str, lowered: str) -> Iterator[int]:
        """The places where a word or a part of an identifier begins so; `lowered` is the text in lower case."""
        prefix, capitalized = self.prefix, self.prefix.capitalize()
        is_anywhere = is_unspaced(prefix)
        at = lowered.find(prefix)
        while at >= 0:
            before = text[at - 1 : at]
            # In `maxRetries` a part begins with a capital letter.
            if is_anywhere or not before.isalpha() or (_LOWER.match(before) and text.startswith(capitalized, at)):
                yield at
            at = lowered.find(prefix, at + 1)


class WordFinder:
    """Finds the words of a question in texts: identifiers, option names and literals are taken apart as it goes."""

    def __init__(self, asked: AskedTerms, words: Collection[str]) -> None:
        """`words` are in lower case; those that `asked` does not weigh are left out."""
        weighed = [word for word in words if stem(word) in asked.weights]
        self._weights = [asked.weights[stem(word)] for word in weighed]
        self._total = sum(self._weights)
        self._words = [_Word(_prefix_of(word)) for word in weighed]
        self._shares: dict[int, float] = {0: 0.0}

    def find(self, text: str) -> Held:
        """The shares of the question that a text holds."""
        # Folded, each letter is one in lower case too.
        text = fold_text(text)
        lowered = text.lower()
        ends: list[int] = []
        of_lines: dict[int, int] = {}
        for at, word in enumerate(self._words):
            if word.prefix not in lowered:
                continue
            ends = ends or [end.start() for end in _LINE_END.finditer(text)]
            for start in word.find_starts(text, lowered):
                line = bisect_left(ends, start)
                of_lines[line] = of_lines.get(line, 0) | 1 << at
        whole = 0
        for mask in of_lines.values():
            whole |= mask
        return Held(self._share(whole), max(map(self._share, _windows(of_lines)), default=0.0), whole.bit_count())

    def _share(self, mask: int) -> float:
        if mask not in self._shares:
            held = sum(weight for at, weight in enumerate(self._weights) if mask >> at & 1)
            self._shares[mask] = held / self._total if self._total else 0.0
        return self._shares[mask]


def _windows(of_lines: Mapping[int, int]) -> Iterator[int]:
    """The words that each run of `_LINES` lines holds which begins with some of them; `of_lines` has those of each line."""
    for first, mask in of_lines.items():
        for line in range(first + 1, first + _LINES):
            mask |= of_lines.get(line, 0)
        yield mask


def _prefix_of(word: str) -> str:
    """The beginning that all forms of a word share: `retr` of retry and retries."""
    stemmed = stem(word)
    length = next((at for at, pair in enumerate(zip(word, stemmed, strict=False)) if pair[0] != pair[1]), len(stemmed))
    return word[: max(length, _MIN_PREFIX)]
