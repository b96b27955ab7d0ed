"""Reads types as they are written in code: `Promise<User[]>`, `readonly User[]`, `User | undefined`."""

from __future__ import annotations

import re
from typing import NamedTuple

from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.util.patterns import lazy_pattern

_MAX_STEPS = 6
_NAME = lazy_pattern(r"\s*[&*|(\"']*([A-Za-z_$](?:\w*(?:::\w+)+|[\w.$]*))")
_ARGUMENTS = lazy_pattern(r"\s*[<\[]")
_ALTERNATIVE = lazy_pattern(r"[\s>)]*\|(?!\|)")
_PART = lazy_pattern(r"[\s>)]*[|&](?![|&])")
"""`Cart & Shop` has the members of both."""
_FORMER = lazy_pattern(r"([A-Za-z_][\w.]*)\s*\|\s*$")
_MAX_ALTERNATIVES = 8
_MAX_NAME = 100
_BRACKETS = lazy_pattern(r"[)> ]*\[\]")
_WORDS = frozenset({"readonly", "typeof"})
_NOTHING = frozenset({"undefined", "null", "None"})


class WrittenType(NamedTuple):
    """The name of a type, and whether a list of such things is meant."""

    name: str
    is_list: bool = False


def read_written_types(text: str, start: int, rule: ReferenceRule) -> list[WrittenType]:
    """The types that are written in a text around an offset: several where it may be any of these; empty if none is."""
    found: list[WrittenType] = []
    former = start
    while (match := _FORMER.search(text, max(0, former - _MAX_NAME), former)) and len(found) < _MAX_ALTERNATIVES:
        found.append(WrittenType(match[1]))
        former = match.start()
    at: int | None = start
    while at is not None and len(found) < _MAX_ALTERNATIVES:
        written, at = _read_one(text, at, rule)
        found += [written] if written.name not in ("", *_NOTHING) else []
    return found


def _read_one(text: str, start: int, rule: ReferenceRule) -> tuple[WrittenType, int | None]:
    """The type at an offset, and the offset of its alternative if one follows."""
    at, is_list = start, False
    if rule.leading_dot and text.startswith("[", at):
        at, is_list = at + 1, True
    for _ in range(_MAX_STEPS):
        match = _NAME.match(text, at)
        if match is None:
            break
        name, at = match[1].removesuffix(".new"), match.end()
        arguments = _ARGUMENTS.match(text, at)
        if name in _WORDS:
            continue
        last = re.split(r"[.:]", name)[-1]
        if arguments is not None and last in rule.lists | rule.wrappers:
            is_list = is_list or last in rule.lists
            at = arguments.end()
            continue
        end = _pass_arguments(text, at)
        if is_list and rule.leading_dot and text[end:].lstrip().startswith(":"):
            return WrittenType(""), None
        brackets = _BRACKETS.match(text, end)
        other = (_PART if rule.pure_types else _ALTERNATIVE).match(text, brackets.end() if brackets else end)
        return WrittenType(name, is_list or brackets is not None), other.end() if other else None
    return WrittenType(""), None


def _pass_arguments(text: str, start: int) -> int:
    """The offset behind the arguments of a type, `<K, V>`; where none are, the same offset."""
    depth = 0
    for at in range(start, min(len(text), start + 200)):
        depth += (text[at] == "<") - (text[at] == ">" and text[at - 1] != "=")
        if not depth:
            return at + (text[at] == ">")
    return start
