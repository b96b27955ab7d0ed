"""Reads which members of an imported module a document uses: `pkg.Name`, `module::name`. One pass over the text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from rag_ls.languages.import_rules import Statement, UseRule
from rag_ls.model import Import

MAX_USES = 200
_MAX_BINDINGS = 300
_BEFORE_BYTES = 500


def statement_of(imported: Import, text: str, data: bytes, start: int) -> Statement:
    """An import that was read from the statement `text`, which begins at the offset `start` of a document."""
    return Statement(imported, text, data[max(0, start - _BEFORE_BYTES) : start])


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
