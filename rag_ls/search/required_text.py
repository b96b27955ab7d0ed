"""The literal texts that a regular expression needs in a line, so that most documents need not be read."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from rag_ls.storage import Need
from rag_ls.util.patterns import lazy_pattern

NOTHING = Need()
# Each of so many texts is looked for in less time than all of them together as an expression.
_MAX_TEXTS = 4
_GROUPS = (codes.SUBPATTERN, codes.ATOMIC_GROUP)
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_LOOKS = (codes.ASSERT, codes.ASSERT_NOT)
# Elements that look beyond a line, or that depend on former attempts.
_BEYOND_LINES = (
    *_LOOKS, codes.ATOMIC_GROUP, codes.POSSESSIVE_REPEAT, codes.GROUPREF, codes.GROUPREF_EXISTS, codes.GROUPREF_IGNORE,
)  # fmt: skip
_LINE_ENDS = (codes.AT_BEGINNING, codes.AT_END)
_TEXT_ENDS = (codes.AT_BEGINNING_STRING, codes.AT_END_STRING, codes.AT_NON_BOUNDARY)

ELEMENT = lazy_pattern(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[]", re.DOTALL)
"""A set, or a character that stands for something, of a regular expression."""


def parse(pattern: str) -> Any | None:
    """The syntax tree of a regular expression; None if Python's `re` does not understand it, or may mean something else."""
    with warnings.catch_warnings():
        # `re` warns of sets such as `[[:alpha:]]`, which other engines understand differently.
        warnings.simplefilter("error")
        try:
            return _parser.parse(pattern)
        except (re.error, RecursionError, OverflowError, Warning):
            return None


def need_of(tree: Any) -> Need:
    """The literal texts that a line needs to match."""
    return _need_of(list(tree))


def choose_held(need: Need, *, is_folded: bool) -> tuple[str, ...]:
    """The texts of which each line that meets a need holds one, the longest of its literals; `is_folded`: as `fold` leaves them.

    None if that is not known.
    """
    literals = [part for each in need.literals for part in (need.parts_of(each) if is_folded else [each])]
    choices: list[tuple[str, ...]] = [(literal,) for literal in literals]
    for group in need.either:
        held = [choose_held(each, is_folded=is_folded) for each in group]
        choices += [tuple(chain.from_iterable(held))] if held and all(held) else []
    return max(choices, key=lambda choice: min(map(len, choice)), default=())


def texts_of(items: Iterable[tuple[Any, Any]]) -> list[str]:
    """The texts of which each is a match, and nothing else is; none where they are too many, or the pattern says more."""
    texts = [""]
    for kind, value in _flatten(items):
        if kind is codes.LITERAL:
            parts = [chr(value)]
        elif kind is codes.IN and all(member is codes.LITERAL for member, _ in value):
            parts = [chr(code) for _, code in value]
        elif kind is codes.BRANCH:
            branches = [texts_of(branch) for branch in value[1]]
            parts = [text for branch in branches for text in branch] if all(branches) else []
        else:
            return []
        texts = [text + part for text in texts for part in parts]
        if not 0 < len(texts) <= _MAX_TEXTS:
            return []
    return [text for text in texts if text]


def begins_with_text(tree: Any) -> bool:
    """Whether each match begins with a certain letter, which `regex` looks for itself, as fast as a text is found."""
    kinds = (kind for kind, _ in _flatten(tree) if kind is not codes.AT)
    return next(kinds, None) is codes.LITERAL


def stays_in_line(tree: Any) -> bool:
    """Whether a pattern, matched against a whole text, finds the same as in each line alone; `^` and `$` mean those of a line."""
    if tree.state.flags & (re.DOTALL | re.VERBOSE):
        return False
    return all(map(_stays, _walk(tree)))


def knows_letters(tree: Any) -> bool:
    """Whether a pattern tells letters, digits, spaces or cases apart."""
    if tree.state.flags & re.IGNORECASE:
        return True
    for kind, value in _walk(tree):
        members = value if kind is codes.IN else [(kind, value)]
        if any(member in (codes.CATEGORY, codes.AT) and what not in _LINE_ENDS for member, what in members):
            return True
    return False


def keep_in_line(pattern: str, classes: Mapping[str, str], spaces: str) -> str:
    """The pattern with classes and sets that do not take the end of a line, as far as that is easy to write.

    `classes` has what stands for a class alone, `spaces` for that of spaces in a set.
    """

    def narrow(found: re.Match[str]) -> str:
        element = found[0]
        if not element.startswith("["):
            return classes.get(element, element)
        members = element.replace(r"\s", spaces) if r"\\s" not in element else element
        return rf"{members[:-1]}\n]" if element.startswith("[^") else members

    return ELEMENT.sub(narrow, pattern)


def spans_lines(tree: Any) -> bool:
    """Whether a pattern names the end of a line, or lets `.` stand for it."""
    return bool(tree.state.flags & re.DOTALL) or any(
        (kind is codes.LITERAL and value in (10, 13)) or (kind is codes.SUBPATTERN and value[1] & re.DOTALL)
        for kind, value in _walk(tree)
    )


def _stays(item: tuple[Any, Any]) -> bool:
    kind, value = item
    if kind in _BEYOND_LINES:
        return False
    if kind is codes.AT:
        return value not in _TEXT_ENDS
    if kind is codes.NOT_LITERAL:
        return False
    if kind is codes.IN:
        return not _takes_newline(value)
    return not (kind is codes.LITERAL and value in (10, 13))


def _takes_newline(members: Sequence[tuple[Any, Any]]) -> bool:
    """Whether a set holds the end of a line."""
    is_negated = members[0][0] is codes.NEGATE
    held = any(_holds_newline(kind, value) for kind, value in members)
    return held is not is_negated


def _holds_newline(kind: Any, value: Any) -> bool:
    if kind is codes.LITERAL:
        return bool(value == 10)
    if kind is codes.RANGE:
        return bool(value[0] <= 10 <= value[1])
    return kind is codes.CATEGORY and value in (
        codes.CATEGORY_SPACE, codes.CATEGORY_NOT_WORD, codes.CATEGORY_NOT_DIGIT,
    )  # fmt: skip


def _walk(tree: Iterable[tuple[Any, Any]]) -> Iterable[tuple[Any, Any]]:
    for kind, value in tree:
        yield kind, value
        if kind in _REPEATS:
            yield from _walk(value[2])
        elif kind is codes.SUBPATTERN:
            # Flags within a group, as in `(?s:.)`.
            if value[1] or value[2]:
                yield codes.ATOMIC_GROUP, value
            yield from _walk(value[3])
        elif kind is codes.BRANCH:
            for branch in value[1]:
                yield from _walk(branch)


def _need_of(items: Sequence[tuple[Any, Any]]) -> Need:
    literals: list[str] = []
    either: list[tuple[Need, ...]] = []
    run: list[str] = []

    def end_run() -> None:
        if run:
            literals.append("".join(run))
            run.clear()

    for kind, value in _flatten(items):
        if kind is codes.LITERAL:
            run.append(chr(value))
            continue
        if kind is codes.AT:
            # It matches no text.
            continue
        end_run()
        if kind in _REPEATS and value[0] >= 1:
            inner = _need_of(list(value[2]))
            literals += inner.literals
            either += inner.either
        elif kind is codes.ATOMIC_GROUP:
            inner = _need_of(list(value))
            literals += inner.literals
            either += inner.either
        elif kind is codes.BRANCH:
            either.append(tuple(_need_of(list(branch)) for branch in value[1]))
    end_run()
    return Need(tuple(literals), tuple(either), any_case=True)


def _flatten(items: Iterable[tuple[Any, Any]]) -> Iterable[tuple[Any, Any]]:
    """The items of a sequence, those of its groups among them."""
    for kind, value in items:
        if kind is codes.SUBPATTERN:
            yield from _flatten(value[3])
        else:
            yield kind, value
