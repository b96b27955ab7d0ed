"""Reads types as they are written in code: `Promise<User[]>`, `readonly User[]`, `User | undefined`."""

from __future__ import annotations

import re
from typing import NamedTuple

from rag_ls.languages.reference_rules import ReferenceRule

_MAX_STEPS = 6
_NAME = re.compile(r"\s*[&*|(\"']*([A-Za-z_$](?:\w*(?:::\w+)+|[\w.$]*))")
_ARGUMENTS = re.compile(r"\s*[<\[]")
_ALTERNATIVE = re.compile(r"\s*\|")
_BRACKETS = re.compile(r"[)> ]*\[\]")
_WORDS = frozenset({"readonly", "typeof"})
_NOTHING = frozenset({"undefined", "null", "None"})


class WrittenType(NamedTuple):
    """The name of a type, and whether a list of such things is meant."""

    name: str
    is_list: bool = False


def read_written_type(text: str, start: int, rule: ReferenceRule) -> WrittenType:
    """The type that is written in a text from an offset on; without a name if none is."""
    at, is_list = start, False
    for _ in range(_MAX_STEPS):
        match = _NAME.match(text, at)
        if match is None:
            break
        name, at = match[1], match.end()
        arguments = _ARGUMENTS.match(text, at)
        if name in _WORDS or (name in _NOTHING and (arguments := _ALTERNATIVE.match(text, at))):
            at = arguments.end() if arguments and name in _NOTHING else at
        elif arguments is not None and name.rpartition(".")[2] in rule.lists | rule.wrappers:
            is_list = is_list or name.rpartition(".")[2] in rule.lists
            at = arguments.end()
        else:
            return WrittenType(name, is_list or bool(_BRACKETS.match(text, _pass_arguments(text, at))))
    return WrittenType("")


def _pass_arguments(text: str, start: int) -> int:
    """The offset behind the arguments of a type, `<K, V>`; where none are, the same offset."""
    depth = 0
    for at in range(start, min(len(text), start + 200)):
        depth += (text[at] == "<") - (text[at] == ">" and text[at - 1] != "=")
        if not depth:
            return at + (text[at] == ">")
    return start
