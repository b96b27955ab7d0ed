"""Finds all nodes for an outline in one pass over a tree, inside the parsing library."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from rag_ls.chunking.parse import Part
from rag_ls.languages import find_language
from rag_ls.languages.syntax import Syntax
from rag_ls.util.records import dataclass

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query, QueryCursor


_BARE = frozenset({"expression_statement"})
"""Wrappers that add nothing to the node inside; skipped because there are many."""


@dataclass(frozen=True, slots=True)
class Captured:
    """Nodes in the order of the text, outer before inner ones."""

    declared: list[Node]
    """The nodes that the language's syntax names: declarations, wrappers, comments, lambdas."""
    imported: list[Node]


def capture(part: Part, syntax: Syntax, language: str, data: bytes, *, declared: bool = True) -> Captured:
    """All nodes of one part of a document that matter to its outline; those that are `declared` only if they are wanted."""
    from tree_sitter import QueryCursor

    if part.root is None:
        return Captured([], [])
    rule = find_language(language).imports
    with_calls = rule is not None and any(word in data for word in rule.words)
    cursor = QueryCursor(_query(syntax.grammar, language, _types(syntax) if declared else frozenset(), with_calls))
    cursor.set_byte_range(part.start, part.end)
    found = _captures(cursor, part)
    # A predicate in the query would read the text through a callback, which takes a hundred times as long.
    begins = re.compile(b"(?:%s)(?![\\w./-])" % b"|".join(map(re.escape, rule.words if rule is not None else ())))
    called = [node for node in found.get("call", ()) if begins.match(data, node.start_byte)]
    return Captured(
        _order_nodes(found.get("declared", ()), part, syntax.wrappers),
        _first_of_each_start(_order_nodes([*found.get("import", ()), *called], part, frozenset())),
    )


def nodes_of(part: Part, grammar: str, types: frozenset[str]) -> list[Node]:
    """The nodes of these types in one part of a document, in the order of the text."""
    from tree_sitter import QueryCursor

    cursor = QueryCursor(_query(grammar, "", types, False))
    cursor.set_byte_range(part.start, part.end)
    return _order_nodes(_captures(cursor, part).get("declared", ()), part, frozenset())


def captures_of(query: Query, part: Part) -> dict[str, list[Node]]:
    """The nodes that a query captures in one part of a document, by the names of the captures, in no order."""
    from tree_sitter import QueryCursor

    cursor = QueryCursor(query)
    cursor.set_byte_range(part.start, part.end)
    return _captures(cursor, part)


def _captures(cursor: QueryCursor, part: Part) -> dict[str, list[Node]]:
    """The captures of a query in one part of a document.

    The children of an erroneous root are queried one by one. On the whole root, the cursor would search a named
    sibling after each child, which is quadratic for thousands of brackets; such a root is flat anyway.
    """
    root = part.root
    if root is None or root.type != "ERROR":
        return {} if root is None else cursor.captures(root)
    found: dict[str, list[Node]] = {}
    for child in root.named_children:
        if child.start_byte < part.end and child.end_byte > part.start:
            for name, nodes in cursor.captures(child).items():
                found.setdefault(name, []).extend(nodes)
    return found


def _types(syntax: Syntax) -> frozenset[str]:
    others = syntax.wrappers - _BARE | syntax.comments | syntax.attributes | syntax.trailers | syntax.lambdas
    return others | frozenset(syntax.declarations)


def _order_nodes(nodes: Iterable[Node], part: Part, wrappers: frozenset[str]) -> list[Node]:
    """The nodes that begin in the part, in order; a wrapper comes before its content even if both have one range."""
    keyed = [
        (start, -node.end_byte, node.type not in wrappers, index, node)
        for index, node in enumerate(nodes)
        if part.start <= (start := node.start_byte) < part.end
    ]
    keyed.sort(key=lambda entry: entry[:4])
    return [entry[4] for entry in keyed]


def _first_of_each_start(nodes: list[Node]) -> list[Node]:
    """One node per start offset: a call of a call's result begins like the inner call and means the same import."""
    return list({node.start_byte: node for node in reversed(nodes)}.values())[::-1]


@cache
def _query(grammar: str, language: str, types: frozenset[str], with_calls: bool) -> Query:
    """Compile the query, once, in milliseconds. Types that the grammar lacks (its dialects have them) are left out."""
    from tree_sitter import Query
    from tree_sitter_language_pack import get_language

    known: Language = get_language(grammar)
    rule = find_language(language).imports
    patterns = [f"({name}) @declared" for name in known_types(known, types)]
    if rule is not None:
        patterns += [f"({name}) @import" for name in known_types(known, rule.types)]
        patterns += rule.calls if with_calls else ()
    return Query(known, "\n".join(patterns))


def known_types(language: Language, types: Iterable[str]) -> list[str]:
    """The types of nodes that a grammar has, of some types."""
    return sorted(name for name in types if language.id_for_node_kind(name, True))
