"""Matches a glob in time that grows with the text alone, whatever the glob is.

Python's `re` tries each way to share a text among the wildcards of a pattern, and holds the interpreter meanwhile:
`*a*a*a*a*b` never ends. Here all ways are followed at once, as the bits of one number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_ls.util.records import dataclass

_MAX_STEPS = 30_000_000


@dataclass(frozen=True, slots=True)
class Element:
    """A part of a glob that stands for one character."""

    test: str
    """A regular expression of one character."""
    repeats: bool = False
    """Whether it stands for a run of such characters, which is not empty unless `skips` allows it."""
    skips: tuple[int, ...] = ()
    """The number of elements that may be left out from here on, this one first."""


class LinearGlob:
    """A sequence of elements."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self._tests: dict[str, int] = {}
        self._repeated = 0
        self._skips: dict[int, int] = {}
        for at, element in enumerate(elements):
            self._tests[element.test] = self._tests.get(element.test, 0) | 1 << at
            self._repeated |= element.repeats << at
            for length in element.skips:
                self._skips[length] = self._skips.get(length, 0) | 1 << at
        # The test of a literal letter is found by the letter; the other tests are all tried.
        self._classes = [(re.compile(test, re.DOTALL), at) for test, at in self._tests.items() if test[0] in "[."]
        self._accepting: dict[str, int] = {}
        self._end = 1 << len(elements)

    def match(self, text: str) -> tuple[bool, bool]:
        """Whether it matches the whole text, and whether it matches what precedes one of its slashes."""
        reached, is_folder = self._with_skips(1), False
        for letter in text:
            is_folder = is_folder or (letter == "/" and bool(reached & self._end))
            reached &= self._find_accepting(letter)
            # A run of wildcards goes on, and may also end with this letter.
            reached = self._with_skips(reached << 1 | reached & self._repeated)
            if not reached:
                return False, is_folder
        return bool(reached & self._end), is_folder

    def _with_skips(self, reached: int) -> int:
        while True:
            more = reached
            for length, places in self._skips.items():
                more |= (more & places) << length
            if more == reached:
                return reached
            reached = more

    def _find_accepting(self, letter: str) -> int:
        """The elements that stand for a letter."""
        if letter not in self._accepting:
            found = self._tests.get(re.escape(letter), 0)
            for test, places in self._classes:
                found |= places if test.match(letter) else 0
            self._accepting[letter] = found
        return self._accepting[letter]


def is_cheap(text: str, *, size: int, runs: int, folders: int, anywhere: int = 0) -> bool:
    """Whether `re` matches a text soon with a pattern of `size` characters, however it tries the wildcards.

    `runs` of them stay in a name, `folders` end at a slash, and `anywhere` may end at any character.
    """
    if (len(text) + 2) ** (runs + folders + anywhere) * (size + len(text)) <= _MAX_STEPS:
        return True
    names = text.split("/")
    ways = (max(map(len, names)) + 1) ** runs * (len(names) + 1) ** folders * (len(text) + 1) ** anywhere
    return bool(ways * (size + len(text)) <= _MAX_STEPS)
