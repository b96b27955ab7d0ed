"""Tells which of a question's words a text holds, and how close together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from rag_ls.search.asked import AskedTerms
from rag_ls.storage import fold_text, is_unspaced, stem
from rag_ls.util.records import dataclass

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
    words: int = 0
    """The number of its words in all of the text."""


class _Word:
    """A beginning that forms of a word share, in lower case."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._capitalized = prefix.capitalize()
        self._is_anywhere = is_unspaced(prefix)

    def find_lines(self, text: str, lowered: str) -> Iterator[int]:
        """The lines in which a word or a part of an identifier begins so; `lowered` is the text in lower case."""
        at = lowered.find(self.prefix)
        line = counted = 0
        while at >= 0:
            if self._begins(text, at):
                line += lowered.count("\n", counted, at)
                counted = at
                yield line
                if (at := lowered.find("\n", at)) < 0:
                    return
            at = lowered.find(self.prefix, at + 1)

    def _begins(self, text: str, at: int) -> bool:
        """Whether a word or a part of an identifier begins there. In `maxRetries` a part begins with a capital letter."""
        before = text[at - 1 : at]
        return (
            not before.isalpha()
            or self._is_anywhere
            or ("a" <= before <= "z" and text.startswith(self._capitalized, at))
        )


class WordFinder:
    """Finds the words of a question in texts: identifiers, option names and literals are taken apart as it goes."""

    def __init__(self, asked: AskedTerms, words: Collection[str]) -> None:
        """`words` are in lower case; those that `asked` does not weigh are left out."""
        weighed = [word for word in words if stem(word) in asked.weights]
        self._weights = [asked.weights[stem(word)] for word in weighed]
        self._total = sum(self._weights)
        self._words = [tuple(map(_Word, _beginnings_of(word))) for word in weighed]
        self._shares: dict[int, float] = {0: 0.0}

    def find(self, text: str) -> Held:
        """The shares of the question that a text holds."""
        # Folded, each letter is one in lower case too.
        text = fold_text(text)
        lowered = text.lower()
        of_lines: dict[int, int] = {}
        whole = 0
        for at, beginnings in enumerate(self._words):
            for each in beginnings:
                if each.prefix in lowered:
                    for line in each.find_lines(text, lowered):
                        of_lines[line] = of_lines.get(line, 0) | 1 << at
                        whole |= 1 << at
        # One word, or none, is as close together as it is.
        close = {whole} if whole.bit_count() < 2 else set(_windows(of_lines))
        return Held(self._share(whole), max(map(self._share, close)), whole.bit_count())

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


def _beginnings_of(word: str) -> Sequence[str]:
    """The beginnings of all forms of a word: `pars` of parsing, `copy` and `copi` of copies, not the `cop` of copper."""
    stemmed = stem(word)
    with_y = f"{stemmed[:-1]}y"
    if stemmed.endswith("i") and len(stemmed) > _MIN_PREFIX and stem(with_y) == stemmed:
        return with_y, stemmed
    length = next((at for at, pair in enumerate(zip(word, stemmed, strict=False)) if pair[0] != pair[1]), len(stemmed))
    return (word[: max(length, _MIN_PREFIX)],)
