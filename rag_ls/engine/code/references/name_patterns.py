"""Matches patterns of reference rules around one name: `(?<!\\w){name}\\s*:` and the like.

A question asks for thousands of names. So a pattern is compiled once for all of them, in two parts, and tried where the name stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

_NAME = "{name}"
_MAX_BEFORE = 2000
_MAX_WORDS_BEFORE = 300
"""Heads of words, spaces and lists alone are short."""
_LEFT_OUT = lazy_pattern(r"\[\^((?:\\.|[^\]])*)\]")


@dataclass(frozen=True, slots=True)
class NameMatch:
    """A place where a pattern matches around a name."""

    before: re.Match[str]
    after: re.Match[str]

    @property
    def start(self) -> int:
        """The offset at which the part before the name begins."""
        return self.before.start()

    @property
    def end(self) -> int:
        """The offset at which the part behind the name ends."""
        return self.after.end()

    @property
    def value(self) -> re.Match[str]:
        """The part that holds the first group of the pattern."""
        return self.before if self.before.re.groups else self.after


@lru_cache(maxsize=1024)
def compile_for(pattern: str, name: str) -> re.Pattern[str]:
    """A pattern that holds a name, for one name."""
    return re.compile(pattern.replace(_NAME, re.escape(name)))


def find_around(pattern: str, text: str, name: str) -> Iterator[NameMatch]:
    """The places where a pattern, which holds `{name}` once and in no group, matches around a name. None for an empty name."""
    head, tail, window, stops = _compile_parts(pattern)
    for at in _find_all(text, name):
        after = tail.match(text, at + len(name))
        if not after:
            continue
        start = max(0, at - window, *(text.rfind(stop, 0, at) + 1 for stop in stops))
        before = head.match(text, at, at) or head.search(text, start, at)
        if before:
            yield NameMatch(before, after)


@lru_cache(maxsize=8)
def _find_all(text: str, name: str) -> tuple[int, ...]:
    """The places of a name in a text: several patterns are tried at each."""
    found = []
    at = text.find(name) if name else -1
    while at >= 0:
        found.append(at)
        at = text.find(name, at + len(name))
    return tuple(found)


@lru_cache(maxsize=256)
def _compile_parts(pattern: str) -> tuple[re.Pattern[str], re.Pattern[str], int, str]:
    """The two parts, the number of characters that the first one may reach back, and those that it cannot hold."""
    head, tail = pattern.split(_NAME)
    left_out = _LEFT_OUT.findall(head)
    rest = _LEFT_OUT.sub("", head)
    stops = [each for each in ")}" if left_out and all(each in part for part in left_out) and f"\\{each}" not in rest]
    stops += (
        ["\n"] if left_out and all("\\n" in part for part in left_out) and not re.search(r"\\s[*+]|\\n", rest) else []
    )
    window = _MAX_BEFORE if left_out else _MAX_WORDS_BEFORE
    return re.compile(rf"(?:{head})\Z", re.MULTILINE), re.compile(tail, re.MULTILINE), window, "".join(stops)
