"""Reads the text around names: patterns of reference rules, `(?<!\\w){name}\\s*:` and the like, and chains of names, members and calls.

A question asks for thousands of names. So a pattern is compiled once for all of them, in two parts, and tried where the name stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

_PLACEHOLDER = "{name}"
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
    return re.compile(pattern.replace(_PLACEHOLDER, re.escape(name)))


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
    head, tail = pattern.split(_PLACEHOLDER)
    left_out = _LEFT_OUT.findall(head)
    rest = _LEFT_OUT.sub("", head)
    stops = [each for each in ")}" if left_out and all(each in part for part in left_out) and f"\\{each}" not in rest]
    stops += (
        ["\n"] if left_out and all("\\n" in part for part in left_out) and not re.search(r"\\s[*+]|\\n", rest) else []
    )
    window = _MAX_BEFORE if left_out else _MAX_WORDS_BEFORE
    return re.compile(rf"(?:{head})\Z", re.MULTILINE), re.compile(tail, re.MULTILINE), window, "".join(stops)


_MAX_STEPS = 12
_MAX_BRACKETS = 4000
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_PREFIX = lazy_pattern(r"(?:(?:await|new|return|yield|typeof)\b|[&*!]|mut\b)\s*")
_NAME = lazy_pattern(r"[$@]?[A-Za-z_][\w$]*|\$\d")
_MARK = lazy_pattern(r"\s*(?:\?\.|!\.|&\.|->|::|\.)\s*")
_TYPE_ARGUMENTS = lazy_pattern(r"(?:::)?<[\w\s,.|\[\]<>\"'&]{1,200}?>(?=\s*\()")
_STRINGS = lazy_pattern(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`")
_LABEL = lazy_pattern(r"\bthis@(?=[A-Z])|(?<=\bthis)@[a-z]\w*")
"""The parts of labels that are left out: `Cart` is left of `this@Cart`, and `this` of `this@plus`, where `plus` is the function."""
_END = lazy_pattern(r"\s*(?:$|[;,)\]}{\n:#]|//|(?:if|unless|satisfies)\b)")
_CAST_AFTER = lazy_pattern(r"\s+as\s+(?!const\b)([A-Za-z_][\w.]*)")


@dataclass(frozen=True, slots=True)
class Step:
    """A name of a chain."""

    name: str
    is_called: bool
    """Whether the result of a call is meant, or what a type makes."""


def read_steps(text: str) -> list[Step]:
    """The chain that a text begins with; empty if it begins with anything else, or an element of a list is in it."""
    text, at = _LABEL.sub("", _blank_strings(text)), 0
    while match := _PREFIX.match(text, at):
        at = match.end()
    found: list[Step] = []
    if text.startswith("(", at):
        # `(new Cart()).add()`, `(cart as Cart).add()`
        end = close_bracket(text, at)
        found, mark = read_steps(text[at + 1 : end]), _MARK.match(text, end + 1)
        if not found or mark is None:
            return found
        at = mark.end()
    while len(found) < _MAX_STEPS and (match := _NAME.match(text, at)):
        at = match.end()
        if arguments := _TYPE_ARGUMENTS.match(text, at):
            at = arguments.end()
        is_called = text[at : at + 1] in ("(", "{") and text[at - 1 : at] != " "
        if is_called:
            at = close_bracket(text, at) + 1
        found.append(Step(match[0], is_called))
        mark = _MARK.match(text, at)
        if mark is None:
            cast = _CAST_AFTER.match(text, at)
            return [Step(cast[1], True)] if cast else found if _END.match(text, at) else []
        at = mark.end()
    return []


def close_bracket(text: str, start: int) -> int:
    """The offset of the bracket that closes the one at an offset; the end of the text if none does."""
    depth = 0
    for at in range(start, min(len(text), start + _MAX_BRACKETS)):
        depth += (text[at] in _OPENING) - (text[at] in _CLOSING)
        if not depth:
            return at
    return len(text)


def _blank_strings(text: str) -> str:
    """A text with spaces for what stands in quotes."""
    return _STRINGS.sub(lambda match: match[0][0] + " " * (len(match[0]) - 2) + match[0][0], text)
