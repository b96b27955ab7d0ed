"""The lines of a hit that speak for it: those that hold the words of the question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rag_ls.util.patterns import lazy_pattern

_WORD = lazy_pattern(r"[^\W_]+")
# Parts of a word of the question: `getUserByID` is get, User, By, ID.
_PART = lazy_pattern(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "s", "y", "e")
_MIN_STEM_LETTERS = 3
# They are in most lines and most questions. Written from rag_ls/search/terms.py by scripts/dev.py docs.
_STOP_WORDS = frozenset(
    "a an and any are as at be been but by can could did do does for from had has have how i if in into is it its "
    "me my no not of on or our should so some than that the their them then there these they this to up via was we "
    "what when where which who why will with would you your".split()
)
_MIN_LINES_WITHOUT_MATCH = 3
# The points of the line of the declaration; each word of the question that a line holds gives one point.
_DECLARATION_POINTS = 0.5


class Line(NamedTuple):
    """One line of a file."""

    number: int
    """From 1."""
    text: str
    column: int
    """The column where the first word of the question begins, from 1; 1 where there is none."""
    weight: float
    """The evidence for it."""


class Words:
    """The words of a question, to be found in lines: whatever their ending, and as parts of names."""

    def __init__(self, question: str) -> None:
        found = [part for word in _WORD.findall(question) for part in (*_PART.findall(word), word)]
        wanted = dict.fromkeys(word.lower() for word in found if len(word) > 1)
        telling = [word for word in wanted if word not in _STOP_WORDS] or list(wanted)
        self._stems = list(dict.fromkeys(map(_stem, telling)))
        self.pattern = _pattern(self._stems)
        """Finds them in a text; None where the question has no words."""

    def count(self, line: str) -> int:
        """The number of different words in a line."""
        if self.pattern is None:
            return 0
        held = (found[0].lower() for found in self.pattern.finditer(line))
        return len({stem for text in held for stem in self._stems if text.startswith(stem)})

    def lines_of(self, text: str, first: int, symbol: str) -> list[Line]:
        """The lines of a chunk that hold words of the question, and the one that declares it; else its first ones."""
        name = re.split(r"[.:#]", symbol)[-1] if symbol else ""
        found: list[Line] = []
        is_declared = False
        rows = [row.rstrip("\r") for row in text.split("\n")]
        for number, row in enumerate(rows, first):
            weight: float = self.count(row)
            if name and not is_declared and name in row:
                is_declared = True
                weight += _DECLARATION_POINTS
            if weight:
                match = self.pattern.search(row) if self.pattern else None
                found.append(Line(number, row, match.start() + 1 if match else 1, weight))
        if any(line.weight >= 1 for line in found):
            return found
        told = [Line(number, row, 1, 0.0) for number, row in enumerate(rows, first) if row.strip()]
        start = next((at for at, line in enumerate(told) if found and line.number == found[0].number), 0)
        return told[start : start + _MIN_LINES_WITHOUT_MATCH]


def best(lines: Sequence[Line], count: int) -> list[Line]:
    """The lines for which most speaks, in the order of the file."""
    chosen = sorted(lines, key=lambda line: (-line.weight, line.number))[:count]
    return sorted({line.number: line for line in chosen}.values(), key=lambda line: line.number)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM_LETTERS:
            return word.removesuffix(ending)
    return word


def _pattern(stems: Sequence[str]) -> re.Pattern[str] | None:
    if not stems:
        return None
    # A short word counts only at the beginning of a word; otherwise `in` of `index` would match in `begin`.
    parts = [re.escape(stem) for stem in sorted(stems, key=len, reverse=True)]
    return re.compile(rf"(?:(?<![^\W_])|(?<=[a-z])(?=[A-Z]))(?:{'|'.join(parts)})[a-z]*", re.IGNORECASE)
