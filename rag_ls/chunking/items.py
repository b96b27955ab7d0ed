"""The children of a node, grouped: each with the comments before it and the marks after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_ls.chunking.document import Document
from rag_ls.languages import Kind, Syntax
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_SPINE = 8
_MAX_INDENT = 512
# One blank line.
_MAX_LINE_ENDS = 2
# Words of a first comment that is about the whole document.
_OF_FILE = lazy_pattern(rb"(?i)copyright|\blicen[sc]e|[@\\](?:file|module|package|overview)")


@dataclass(frozen=True, slots=True)
class Item:
    """A main child, and the siblings that belong to it."""

    start: int
    """The start of its text: the start of its line, if only white space precedes it there."""
    nodes: tuple[Node, ...]
    main: Node
    comments: tuple[Node, ...]
    """The comments directly before it, in order."""


def items_of(node: Node, document: Document, syntax: Syntax) -> list[Item]:
    """Group all children of a node, in order; below a comment, the children of a transparent one stand in its place."""
    leading = syntax.comments | syntax.attributes
    data = document.data
    groups: list[list[Node]] = []
    pending: list[Node] = []
    left = node.children[::-1]
    while left:
        child = left.pop()
        if pending and _blank_between(data, pending[-1], child) and not _documents(data, pending[-1], child, syntax):
            groups.append(pending)
            pending = []
        if pending and child.type in syntax.transparent and _begins_with_content(child):
            left += child.children[::-1]
        elif not pending and groups and _belongs_to_former(data, groups[-1][-1], child, syntax):
            groups[-1].append(child)
        elif child.type in leading:
            pending.append(child)
        else:
            groups.append([*pending, child])
            pending = []
    if pending:
        groups.append(pending)
    return _items(groups, document, leading)


def _items(groups: list[list[Node]], document: Document, leading: frozenset[str]) -> list[Item]:
    firsts: list[Node] = []
    mains: list[tuple[Node, tuple[Node, ...]]] = []
    former: Node | None = None
    for group in groups:
        first = main = group[0]
        comments: tuple[Node, ...] = ()
        if len(group) > 1:
            main = next((node for node in group if node.type not in leading), first)
            comments = tuple(group[: group.index(main)])
        if former is not None and first is main and main.is_named:
            stray = _stray_comments(former, main, document.data, leading)
            if stray:
                comments, first = stray, stray[0]
        firsts.append(first)
        mains.append((main, comments))
        former = group[-1]
    return [
        Item(start, tuple(group), main, comments)
        for start, group, (main, comments) in zip(_text_starts(document, firsts), groups, mains, strict=True)
    ]


def _begins_with_content(node: Node) -> bool:
    first = node.child(0)
    return first is not None and first.is_named


def _belongs_to_former(data: bytes, former: Node, child: Node, syntax: Syntax) -> bool:
    """A mark or a comment on the same line, or a body that the grammar leaves beside its head."""
    if child.type in syntax.trailers:
        return True
    if child.is_named and child.type not in syntax.comments:
        return False
    gap = data[max(former.start_byte, former.end_byte - 1) : child.start_byte]
    return b"\n" not in gap and b"\r" not in gap


def _blank_between(data: bytes, former: Node, child: Node) -> bool:
    end = former.end_byte
    while end > former.start_byte and data[end - 1] in b"\r\n":
        end -= 1
    return _count_line_ends(data[end : child.start_byte]) > 1


def _count_line_ends(gap: bytes) -> int:
    return max(gap.count(b"\n"), gap.count(b"\r"))


def _documents(data: bytes, comment: Node, child: Node, syntax: Syntax) -> bool:
    """Whether a `/**` comment is the documentation of a declaration below one blank line, as many JavaScript projects write it."""
    if comment.type not in syntax.comments or not data.startswith(b"/**", comment.start_byte):
        return False
    former = comment.prev_sibling
    if (former is None or former.type == "php_tag") and _OF_FILE.search(data, comment.start_byte, comment.end_byte):
        return False
    rules = syntax.declarations.get(child.type, ())
    declares = child.type in syntax.wrappers or any(rule.kind in (Kind.FUNCTION, Kind.TYPE) for rule in rules)
    gap = data[comment.end_byte : child.start_byte]
    return declares and not gap.strip() and _count_line_ends(gap) <= _MAX_LINE_ENDS


def _stray_comments(former: Node, main: Node, data: bytes, leading: frozenset[str]) -> tuple[Node, ...]:
    """Comments right before `main` that the grammar put at the end of the node before it."""
    found: list[Node] = []
    below, node = main, former
    for _ in range(_MAX_SPINE):
        last = node.child(node.child_count - 1) if node.child_count else None
        while last is not None and last.type in leading and _directly_above(data, last, below, main):
            found.append(last)
            below, last = last, last.prev_sibling
        if found or last is None:
            break
        node = last
    return tuple(reversed(found))


def _directly_above(data: bytes, comment: Node, below: Node, main: Node) -> bool:
    same_column = comment.start_point.column == main.start_point.column
    return same_column and comment.start_byte < below.start_byte and not _blank_between(data, comment, below)


def _text_starts(document: Document, nodes: list[Node]) -> list[int]:
    """The starts of the nodes' texts: the starts of their lines, if only white space precedes them there."""
    offsets = [node.start_byte for node in nodes]
    starts = []
    for offset, line in zip(offsets, document.line_starts_of(offsets), strict=True):
        alone = offset - line <= _MAX_INDENT and not document.data[line:offset].strip()
        starts.append(line if alone else document.floor(offset))
    return starts
