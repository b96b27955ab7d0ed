"""Reads the imports of a document, and which members of the imported modules it uses: `pkg.Name`, `module::name`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_ls.chunking.document import Document
from rag_ls.languages.import_rules import ImportRule, Statement, UseRule
from rag_ls.model import Import

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_STATEMENT = 8_192
MAX_MODULE = 300
MAX_USES = 200
_MAX_BINDINGS = 300
_BEFORE_BYTES = 500


def imports_of(node: Node, rule: ImportRule, document: Document) -> list[Statement]:
    """The imports of one node that the rule found, in the order of the text; empty if it cannot be read."""
    start = node.start_byte
    text = document.data[start : min(node.end_byte, start + _MAX_STATEMENT)].decode("utf-8", "ignore")
    line, before = document.line(start), document.data[max(0, start - _BEFORE_BYTES) : start]
    return [
        # In broken code, a name may be missing.
        Statement(Import(module, tuple(filter(None, names)), line), text, before)
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
    if not names:
        return {}
    # The longest first: `a.b` would hide `a.b.c`.
    alternatives = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w$./])({alternatives}){separator}([A-Za-z_$][\w$]*)".encode())
    members: dict[str, dict[str, None]] = defaultdict(dict)
    for match in pattern.finditer(data):
        members[match[1].decode()][match[2].decode()] = None
    return {name: list(found) for name, found in members.items()}
