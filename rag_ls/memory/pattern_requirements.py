"""Finds out what every match of a regular expression must contain, to skip texts that cannot match."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

# Ignoring case, these also match non-ASCII letters (\u017f, \u0131), which `str.lower` does not change.
_FOLDED = "iks"


@dataclass(frozen=True, slots=True)
class Need:
    """The words that a text must contain for a pattern to match in it; by default none."""

    run: int = 0
    """At least this many characters in a row without white space."""
    literal: str = ""
    """This string; in lower case if the pattern ignores case."""
    ignores_case: bool = False

    def is_met(self, text: Text) -> bool:
        """Whether the pattern may match in a text; False means that it cannot."""
        return self.run <= text.longest_run and self.literal in (text.lower if self.ignores_case else text.plain)


@dataclass(frozen=True, slots=True)
class Text:
    """A text with the values that `Need` checks. Create it with `of`."""

    plain: str
    lower: str
    longest_run: int

    @staticmethod
    def of(lines: Iterable[str]) -> Text:
        """A text of several lines, each of which is searched by itself."""
        plain = "\n".join(lines)
        return Text(plain, plain.lower(), max(map(len, plain.split()), default=0))


def need_of(pattern: re.Pattern[str]) -> Need:
    """The longest run and the longest literal that no match of a pattern can do without."""
    try:
        parser: Any = importlib.import_module("re._parser")
    except ImportError:
        # Without the parser nothing is known, so every pattern is searched for.
        return Need()
    if pattern.flags & re.ASCII:
        # With ASCII rules, `\S` also matches non-ASCII spaces.
        return Need()
    ignores_case = bool(pattern.flags & re.IGNORECASE)
    run = longest_run = 0
    literal = longest_literal = ""
    for width, character in _steps(parser.parse(pattern.pattern, pattern.flags)):
        run = 0 if width is None else run + width
        mark = character.lower() if ignores_case else character
        is_known = mark and not (ignores_case and (mark in _FOLDED or not mark.isascii()))
        literal = literal + mark if is_known else ""
        longest_run = max(longest_run, run)
        longest_literal = max(longest_literal, literal, key=len)
    return Need(longest_run, longest_literal, ignores_case)


def _steps(items: Iterable[tuple[Any, Any]]) -> Iterator[tuple[int | None, str]]:
    """Parts of a parsed pattern in order: the least width (None if it may match white space), and the character it is."""
    for operator, argument in items:
        name = str(operator)
        if name == "SUBPATTERN" and not (argument[1] or argument[2]):
            yield from _steps(argument[3])
        elif name == "LITERAL":
            yield _width([(operator, argument)]), chr(argument)
        elif name not in ("AT", "ASSERT", "ASSERT_NOT"):
            yield _width([(operator, argument)]), ""


def _width(items: Iterable[tuple[Any, Any]]) -> int | None:
    """The least number of characters that parts match, all together; None if white space may be among them."""
    total = 0
    for operator, argument in items:
        width = _width_of(str(operator), argument)
        if width is None:
            return None
        total += width
    return total


def _width_of(name: str, argument: Any) -> int | None:
    if name in ("AT", "ASSERT", "ASSERT_NOT"):
        return 0
    if name == "LITERAL":
        return None if chr(argument).isspace() else 1
    if name == "IN":
        return None if _may_be_space(argument) else 1
    if name == "SUBPATTERN":
        return None if argument[1] & re.ASCII else _width(argument[3])
    if name == "BRANCH":
        widths = [_width(branch) for branch in argument[1]]
        return None if None in widths else min(width for width in widths if width is not None)
    if name in ("MAX_REPEAT", "MIN_REPEAT"):
        width = _width(argument[2])
        return None if width is None else int(argument[0]) * width
    return None


def _may_be_space(members: Iterable[tuple[Any, Any]]) -> bool:
    named = [(str(operator), argument) for operator, argument in members]
    if named[0][0] == "NEGATE":
        return ("CATEGORY", "CATEGORY_SPACE") not in [(name, str(argument)) for name, argument in named]
    return any(
        not (
            (name == "LITERAL" and not chr(argument).isspace())
            or (name == "RANGE" and argument[0] > ord(" ") and argument[1] < 0x7F)
            or (name == "CATEGORY" and str(argument) in ("CATEGORY_DIGIT", "CATEGORY_WORD", "CATEGORY_NOT_SPACE"))
        )
        for name, argument in named
    )
