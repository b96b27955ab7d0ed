"""Reads chains of names, members and calls from text: what stands before a member, what a variable is set to."""

from __future__ import annotations

from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

_MAX_STEPS = 12
_MAX_BRACKETS = 4000
_MAX_SPACES = 400
_OPENING = {")": "(", "]": "[", "}": "{"}
_CLOSING = {opening: closing for closing, opening in _OPENING.items()}
_PREFIX = lazy_pattern(r"(?:(?:await|new|return|yield|typeof)\b|[&*!]|mut\b)\s*")
_NAME = lazy_pattern(r"[$@]?[A-Za-z_][\w$]*|\$\d")
_MARK = lazy_pattern(r"\s*(?:\?\.|!\.|&\.|->|::|\.)\s*")
_MARK_BEFORE = lazy_pattern(r"\s*(?:\?\.|!\.|&\.|->|::|\.)\s*$")
_NAME_BEFORE = lazy_pattern(r"(?:(?:\bthis)?[$@]?[A-Za-z_][\w$]*|\$\d)[!?]?$")
_TYPE_ARGUMENTS = lazy_pattern(r"(?:::)?<[\w\s,.|\[\]<>\"'&]{1,200}?>(?=\s*\()")
_TYPE_ARGUMENTS_BEFORE = lazy_pattern(r"<[\w\s,.|\[\]<>\"'&]{1,200}>$")
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


def read_chain_before(text: str) -> str:
    """The chain that ends a text, with the mark between it and the member that follows; empty if none ends it."""
    text = _blank_strings(text)
    mark = _MARK_BEFORE.search(text, max(0, len(text) - _MAX_SPACES))
    at = mark.start() if mark else 0
    start = at
    while at > 0:
        if text[at - 1] in "!?":
            at -= 1
        while at > 0 and text[at - 1] in _OPENING:
            opened = _open(text, at - 1)
            if opened < 0:
                return ""
            start = at = opened
            if arguments := _TYPE_ARGUMENTS_BEFORE.search(text, max(0, at - 200), at):
                at = arguments.start()
        name = _NAME_BEFORE.search(text, max(0, at - 200), at)
        if name is None:
            break
        start = name.start()
        before = _MARK_BEFORE.search(text, max(0, start - _MAX_SPACES), start)
        if before is None:
            break
        at = before.start()
    return text[start : mark.start()].strip() if mark else ""


def close_bracket(text: str, start: int) -> int:
    """The offset of the bracket that closes the one at an offset; the end of the text if none does."""
    depth = 0
    for at in range(start, min(len(text), start + _MAX_BRACKETS)):
        depth += (text[at] in _CLOSING) - (text[at] in _OPENING)
        if not depth:
            return at
    return len(text)


def _open(text: str, end: int) -> int:
    """The offset of the bracket that the one at an offset closes; -1 if there is none."""
    depth = 0
    for at in range(end, max(-1, end - _MAX_BRACKETS), -1):
        depth += (text[at] in _OPENING) - (text[at] in _CLOSING)
        if not depth:
            return at
    return -1


def _blank_strings(text: str) -> str:
    """A text with spaces for what stands in quotes."""
    return _STRINGS.sub(lambda match: match[0][0] + " " * (len(match[0]) - 2) + match[0][0], text)
