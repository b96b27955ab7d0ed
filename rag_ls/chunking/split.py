"""Splits a syntax tree into pieces: at declarations first, then further down until the pieces fit the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_ls.chunking.document import Budget, Document, windows
from rag_ls.chunking.items import Item, items_of
from rag_ls.chunking.parse import Part
from rag_ls.chunking.symbols import DeclarationNode, body_path, find_declaration, name_of, qualify
from rag_ls.languages import Kind, Syntax
from rag_ls.util.records import dataclass

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 256
"""Deeper nesting is data, not structure: it is cut into lines."""

_MAX_CHILDREN = 2000
"""If a node has more children than this, and they are tiny, it is cut at lines instead of nodes."""

_MAX_BODY_PATH = 8


@dataclass(frozen=True, slots=True, eq=False)
class Enclosing:
    """A declaration, or the document itself, in which pieces lie."""

    symbol: str
    kind: Kind
    parent: Enclosing | None = None
    found: DeclarationNode | None = None
    comments: tuple[Node, ...] = ()
    parents: tuple[str, ...] = ()
    """Types of the nodes around the declaring one, outermost first."""

    def within(self, other: Enclosing) -> bool:
        """Whether this is the other scope or lies somewhere in it."""
        scope: Enclosing | None = self
        while scope is not None and scope is not other:
            scope = scope.parent
        return scope is other


@dataclass(frozen=True, slots=True)
class Piece:
    """A range of the document that fits the budget, not yet merged with its neighbours."""

    start: int
    end: int
    size: int
    node_type: str
    parents: tuple[str, ...]
    owner: Enclosing
    """The innermost declaration around it; of the head of a declaration, that one itself."""
    declares: Enclosing | None = None
    """The declaration that begins here."""
    whole: bool = True
    """False if `declares` continues in the next pieces."""
    origin: int = -1
    """The start of the split node that this piece continues; -1 if it continues none."""
    comment: bool = False


@dataclass(frozen=True, slots=True)
class _Segment:
    """A range of one or several sibling nodes that is still to be split."""

    start: int
    end: int
    size: int
    nodes: tuple[Node, ...]
    parents: tuple[str, ...]
    owner: Enclosing
    scope: Enclosing | None = None
    """The declaration that all of the segment is."""
    head: Enclosing | None = None
    """The opened declaration that begins with this segment."""
    origin: int = -1
    open: bool = False
    """Whether to open it even if it fits."""


def split_tree(document: Document, parsed: list[Part], syntax: Syntax, budget: Budget) -> list[Piece]:
    """Pieces that partition the document, in order, each within the budget.

    Only nodes that exceed the budget are opened, so the time is about linear in the length of the
    document whatever its tree; there is no recursion.
    """
    top = Enclosing("", Kind.SCOPE)
    pieces: list[Piece] = []
    stack = [_whole(part, document, top) for part in reversed(parsed)]
    while stack:
        segment = stack.pop()
        if segment.size <= budget.max_tokens and not segment.open:
            pieces.append(_piece(segment, syntax))
        elif parts := _parts(segment, document, syntax):
            stack.extend(reversed(parts))
        else:
            pieces.extend(_cut(segment, document, syntax, budget))
    return pieces


def _whole(part: Part, document: Document, top: Enclosing) -> _Segment:
    nodes = () if part.root is None else (part.root,)
    return _Segment(
        start=part.start,
        end=part.end,
        size=document.size(part.start, part.end),
        nodes=nodes,
        parents=(),
        owner=top,
        open=True,
    )


def _piece(segment: _Segment, syntax: Syntax) -> Piece:
    main = _main(segment)
    scope = segment.scope
    parents = scope.parents if scope is not None else segment.parents
    node_type = scope.found.node.type if scope is not None and scope.found is not None else main.type
    return Piece(
        start=segment.start,
        end=segment.end,
        size=segment.size,
        node_type=node_type,
        parents=parents,
        owner=segment.owner,
        declares=scope or segment.head,
        whole=scope is not None,
        origin=segment.origin if scope is None and segment.head is None else -1,
        comment=main.type in syntax.comments,
    )


def _main(segment: _Segment) -> Node:
    return max(segment.nodes, key=lambda node: node.end_byte - node.start_byte)


def _cut(segment: _Segment, document: Document, syntax: Syntax, budget: Budget) -> list[Piece]:
    """Cut a segment without usable structure into windows of lines."""
    head = segment.scope or segment.head
    origin = segment.origin if segment.origin >= 0 else segment.start
    node_type = _main(segment).type if segment.nodes else "ERROR"
    pieces = []
    for start, end in windows(document, segment.start, segment.end, budget, prose=syntax.prose):
        first = start == segment.start
        pieces.append(
            Piece(
                start=start,
                end=end,
                size=document.size(start, end),
                node_type=node_type,
                parents=segment.parents,
                owner=segment.scope or segment.owner,
                declares=head if first else None,
                whole=not head and first,
                origin=-1 if first and (head or segment.origin < 0) else origin,
            )
        )
    return pieces


def _parts(segment: _Segment, document: Document, syntax: Syntax) -> list[_Segment]:
    """The parts of a segment one level down; empty if no lower level is useful."""
    if not segment.nodes:
        return []
    if len(segment.nodes) > 1:
        items = [Item(node.start_byte, (node,), node, ()) for node in segment.nodes]
        parents = segment.parents
    else:
        node = segment.nodes[0]
        if node.type in syntax.leaves or not _worth_opening(segment, node):
            return []
        items = items_of(node, document, syntax)
        parents = (*segment.parents, node.type)
    edges = [*_starts(segment, items, document), segment.end]
    builder = _Parts.of(segment, parents, syntax, document.data)
    head = segment.scope or segment.head
    parts = []
    for item, start, end, size in zip(items, edges, edges[1:], document.sizes(edges), strict=False):
        if start < end:
            parts.append(builder.part(item, start, end, size, head))
            head = None
    return parts


@dataclass(frozen=True, slots=True)
class _Parts:
    """The common data of an opened segment's parts."""

    owner: Enclosing
    parents: tuple[str, ...]
    origin: int
    body: frozenset[int]
    """Nodes from the opened declaration down to its body: these are never left whole."""
    syntax: Syntax
    data: bytes

    @classmethod
    def of(cls, segment: _Segment, parents: tuple[str, ...], syntax: Syntax, data: bytes) -> _Parts:
        owner = segment.scope or segment.owner
        return cls(
            owner=owner, parents=parents, origin=_origin(segment), body=_body_ids(owner), syntax=syntax, data=data
        )

    def part(self, item: Item, start: int, end: int, size: int, head: Enclosing | None) -> _Segment:
        scope = self._scope(item)
        if scope is not None and scope.kind is Kind.GROUP and item.main.start_byte < start:
            scope = None  # the declaration begins in another region of the document, so this rest declares nothing
        must_open = self._must_open(item.main, scope)
        return _Segment(
            start=start,
            end=end,
            size=size,
            nodes=item.nodes,
            parents=self.parents,
            owner=self.owner,
            scope=scope,
            head=head,
            origin=self.origin,
            open=must_open,
        )

    def _must_open(self, main: Node, scope: Enclosing | None) -> bool:
        if main.type == "ERROR" or main.type in self.syntax.transparent or main.id in self.body:
            return True
        return scope is not None and scope.kind is Kind.SCOPE

    def _scope(self, item: Item) -> Enclosing | None:
        """The scope of the declaration that the item is, unless it is the one already opened."""
        owner, syntax = self.owner, self.syntax
        found = find_declaration(item.main, syntax, self.data)
        if found is None or (owner.found is not None and found.node.id == owner.found.node.id):
            return None
        kind = found.rule.kind
        if kind is Kind.VALUE and owner.kind is Kind.FUNCTION:
            return None
        name = name_of(found, syntax, self.data)
        if not name and kind is not Kind.SCOPE:
            return None
        parents = (*self.parents, *(node.type for node in found.path[:-1]))
        return Enclosing(
            symbol=qualify(owner.symbol, name, syntax),
            kind=kind,
            parent=owner,
            found=found,
            comments=item.comments,
            parents=parents,
        )


def _body_ids(owner: Enclosing) -> frozenset[int]:
    found = owner.found
    if found is None or found.rule.kind is Kind.VALUE:
        return frozenset()
    path = body_path(found.node, "value" if found.rule.kind is Kind.GROUP else "body")
    while path and path[-1].named_child_count == 1 and len(path) < _MAX_BODY_PATH:
        inner = path[-1].named_child(0)
        if inner is None or inner.child_count == 0:
            break
        path.append(inner)
    return frozenset(node.id for node in (*found.path, *path))


def _starts(segment: _Segment, items: list[Item], document: Document) -> list[int]:
    """The starts of the items' texts within the segment, in order; the first item includes any text before it."""
    starts: list[int] = []
    low = segment.start
    for item in items:
        low = max(low, min(document.floor(item.start), segment.end)) if starts else low
        starts.append(low)
    return starts


def _origin(segment: _Segment) -> int:
    """The origin of the parts when this segment is opened."""
    if segment.scope is not None:
        return segment.start if segment.scope.kind in (Kind.FUNCTION, Kind.VALUE) else -1
    return segment.origin if segment.open or segment.origin >= 0 else segment.start


def _worth_opening(segment: _Segment, node: Node) -> bool:
    if node.child_count == 0 or len(segment.parents) >= MAX_DEPTH:
        return False
    if node.child_count <= _MAX_CHILDREN or segment.size > 4 * node.child_count:
        return True
    return node.type != "ERROR" and (segment.open or segment.scope is not None)
