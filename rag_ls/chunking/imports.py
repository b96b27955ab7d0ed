"""Reads the imports of a document, and which members of the imported modules it uses: `pkg.Name`, `module::name`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from rag_ls.chunking.document import Document
from rag_ls.languages.imports import ImportRule, Statement, UseRule
from rag_ls.model import Import
from rag_ls.util.patterns import lazy_pattern

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_STATEMENT = 8_192
MAX_MODULE = 300
MAX_USES = 200
_MAX_BINDINGS = 300
_BEFORE_BYTES = 500
_INNER = lazy_pattern(rb"[\w$./]")
"""A character before a name that makes it a part of another one."""


def imports_of(node: Node, rule: ImportRule, document: Document) -> list[Statement]:
    """The imports of one node that the rule found, in the order of the text; empty if it cannot be read."""
    return read_imports(node.start_byte, node.end_byte, rule, document)


def read_imports(start: int, end: int, rule: ImportRule, document: Document) -> list[Statement]:
    """The imports of a statement, in the order of the text; empty if it cannot be read."""
    text = document.data[start : min(end, start + _MAX_STATEMENT)].decode("utf-8", "ignore")
    line, before = document.line(start), document.data[max(0, start - _BEFORE_BYTES) : start]
    return [
        # In broken code, a name may be missing.
        Statement(Import(rule.placed(module, document.data, start), tuple(filter(None, names)), line), text, before)
        for module, names in rule.reader(text)
        if module and len(module) <= MAX_MODULE and "\n" not in module
    ]


def with_uses(statements: Sequence[Statement], rule: UseRule | None, data: bytes) -> list[Import]:
    """The imports of a document, each with the members that its text takes from the imported module or names."""
    if rule is None:
        return [statement.imported for statement in statements]
    statements = [rule.complete(statement) for statement in statements]
    bound: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, statement in enumerate(statements):
        for name, owner in rule.bindings(statement):
            bound[name].append((number, owner))
    members = _members(list(bound)[:_MAX_BINDINGS], rule.separator, data)
    uses: dict[int, list[str]] = defaultdict(list)
    for name, used in members.items():
        for number, owner in bound[name]:
            uses[number] += [f"{owner}.{member}" if owner else member for member in used]
    return [
        replace(
            statement.imported,
            uses=tuple(dict.fromkeys(uses[number]))[:MAX_USES],
            aliases=tuple(statement.aliases().items()),
        )
        for number, statement in enumerate(statements)
    ]


def _members(names: Sequence[str], separator: str, data: bytes) -> dict[str, list[str]]:
    """The members that follow each name in the text."""
    places = [(*place, name) for name in names if name for place in _places_of(name.encode(), separator, data)]
    members: dict[str, dict[str, None]] = defaultdict(dict)
    done = 0
    # The longest first: `a.b` would hide `a.b.c`.
    for start, _, end, member, name in sorted(places):
        if start >= done:
            members[name][member] = None
            done = end
    return {name: list(found) for name, found in members.items()}


def _places_of(name: bytes, separator: str, data: bytes) -> Iterator[tuple[int, int, int, str]]:
    """The start of each place where a member follows a name, the name's length below zero, the place's end, and the member.

    To search for plain bytes is faster than to compile a pattern of a document's own names.
    """
    follows, start = _member_after(separator), data.find(name)
    while start >= 0:
        match = follows.match(data, start + len(name))
        if match is not None and not _INNER.match(data, max(0, start - 1), start):
            yield start, -len(name), match.end(), match[1].decode()
        start = data.find(name, start + 1)


@cache
def _member_after(separator: str) -> re.Pattern[bytes]:
    return re.compile(rf"{separator}([A-Za-z_$][\w$]*)".encode())
