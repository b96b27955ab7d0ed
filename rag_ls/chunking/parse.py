"""Parse bytes into syntax trees, without ever hanging on a document."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from rag_ls.languages import MAX_NESTING, Syntax, find_language
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, replace

if TYPE_CHECKING:
    from tree_sitter import Node, Point

MAX_BYTES = 8_000_000
"""Larger documents are data or generated; a tree of one would take hundreds of megabytes."""

BLOCK_BYTES = 16_384
"""The size of blocks if parsing the whole document takes too long."""

_MAX_ERRORS = 1000
"""A tree with more errors than this is not worth mending."""

_READ_BYTES = 65_536
_READ_AGAIN_BYTES = 256
_SECONDS = 0.5
_BLOCK_SECONDS = 0.05
_SECONDS_PER_BYTE = 5e-6
"""CPU time. Sound text takes a tenth of it, so that only hopeless text meets the limit: error recovery of
some grammars (Lua, Scala, Dart, Julia, Svelte) is quadratic, minutes for one stray word in 100 KB."""

_LONG_CHARACTER = lazy_pattern(rb"[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_STAND_INS = {3: "\u00e9x".encode(), 4: "\u00e9\u00e9".encode()}

_TOP_LEVEL = lazy_pattern(rb"\n[ \t]*\r?\n(?=[^\s})\]])")


@dataclass(frozen=True, slots=True)
class Part:
    """A range of a document and the root of a tree that covers it; None where parsing was given up."""

    start: int
    end: int
    root: Node | None
    others: tuple[Part, ...] = ()
    """Branches of conditional compilation that the tree leaves out, in trees of their own."""


def parse(data: bytes, syntax: Syntax) -> list[Part]:
    """Trees that cover the document, in order: a single one if possible.

    Where an unclosed bracket has swallowed the text after it, each top-level section there is parsed
    by itself. If parsing takes far too long, blocks of lines are parsed instead. Each range gets its own parser (made in
    microseconds), so threads share nothing. The same text gives the same trees, except that a text near the time limit may
    fall on either side of it.
    """
    limit = _SECONDS + len(data) * _SECONDS_PER_BYTE
    root = _parse_range(data, syntax, 0, len(data), limit)
    if root is None:
        return _parse_blocks(data, syntax, list(_blocks(data)), limit)
    if not root.has_error:
        return [Part(0, len(data), root)]
    others: tuple[Part, ...] = ()
    if syntax.variant is not None:
        variant = syntax.variant(data)
        chosen = _parse_range(variant.text, syntax, 0, len(data), limit) if variant.text != data else None
        if chosen is not None and _count_errors(chosen) < _count_errors(root):
            others = tuple(Part(*span, root) for span in variant.left_out)
            data, root = variant.text, chosen
    start, end = _find_swallowed(data, root)
    if start >= end:
        return [Part(0, len(data), root, others)]
    mended = _parse_blocks(data, syntax, list(_regions(data, start, end)), limit)
    parts = [Part(0, start, root), *mended, Part(end, len(data), root)]
    first, *rest = (part for part in parts if part.start < part.end)
    return [replace(first, others=others), *rest]


def with_others(parts: Sequence[Part]) -> list[Part]:
    """The parts, and the branches that they leave out."""
    return [*parts, *(other for part in parts for other in part.others)]


def parse_within(data: bytes, syntax: Syntax, start: int, end: int) -> Node | None:
    """The root of a tree of a range of the text, with offsets in the text; None where it took far too long."""
    return _parse_range(data, syntax, start, end, _SECONDS + (end - start) * _SECONDS_PER_BYTE)


def _parse_blocks(data: bytes, syntax: Syntax, blocks: list[tuple[int, int]], limit: float) -> list[Part]:
    deadline = time.thread_time() + limit
    parts = []
    for start, end in blocks:
        seconds = min(_BLOCK_SECONDS + (end - start) * _SECONDS_PER_BYTE, deadline - time.thread_time())
        parts.append(Part(start, end, _parse_range(data, syntax, start, end, seconds)))
    return parts


def _find_swallowed(data: bytes, root: Node) -> tuple[int, int]:
    """The range of the errors that span the start of a new top-level section; empty if there are none."""
    low, high = len(data), 0
    for start, end in _errors(root):
        if _TOP_LEVEL.search(data, start, end):
            low, high = min(low, start), max(high, end)
    if low >= high:
        return 0, 0
    before = [match.end() for match in _TOP_LEVEL.finditer(data, 0, low)]
    after = _TOP_LEVEL.search(data, max(0, high - 1))
    return (before[-1] if before else 0), (after.end() if after else len(data))


def _errors(root: Node) -> list[tuple[int, int]]:
    """The ranges of the outermost error nodes, and of nodes that lack their end; none if there are too many."""
    ranges: list[tuple[int, int]] = []
    stack = [root]
    for _ in range(_MAX_ERRORS):
        if not stack:
            return ranges
        node = stack.pop()
        if node.type == "ERROR":
            ranges.append((node.start_byte, node.end_byte))
            continue
        for child in node.children:
            if child.is_missing:
                ranges.append((node.start_byte, node.end_byte))
            elif child.has_error:
                stack.append(child)
    return []


def _count_errors(root: Node) -> int:
    """The number of bytes in errors; `MAX_BYTES` where there are too many to list."""
    return (sum(max(1, end - start) for start, end in _errors(root)) or MAX_BYTES) if root.has_error else 0


@cache
def find_keywords(language: str) -> frozenset[str]:
    """The words that a language's grammar knows by themselves; none for a language without a grammar."""
    from tree_sitter_language_pack import get_language

    syntax = find_language(language).syntax
    if syntax is None:
        return frozenset()
    grammar = get_language(syntax.grammar)
    # The first kind is the end of a text, called `end`.
    kinds = (
        grammar.node_kind_for_id(kind) or ""
        for kind in range(1, grammar.node_kind_count)
        if not grammar.node_kind_is_named(kind)
    )
    return frozenset(filter(str.isalpha, kinds))


def is_safe(data: bytes, syntax: Syntax) -> bool:
    """Whether the text is nested too little to overflow the stack of the grammar's scanner."""
    return syntax.nesting is None or syntax.nesting(data) <= MAX_NESTING


def _parse_range(data: bytes, syntax: Syntax, start: int, end: int, seconds: float) -> Node | None:
    """The root of the tree of a range, with offsets in the document; None when time is up."""
    from tree_sitter import Range
    from tree_sitter_language_pack import get_parser

    if seconds <= 0:
        return None
    parser = get_parser(syntax.grammar)
    if syntax.is_ascii_alone:
        # A tree has only offsets, which must stay right: each such character is replaced by letters of as many bytes.
        data = _LONG_CHARACTER.sub(lambda character: _STAND_INS[len(character[0])], data)
    if syntax.masked:
        data = re.sub(syntax.masked, lambda found: found[1] + b" " * len(found[2]), data)
    if (start, end) != (0, len(data)):
        # Rows count from the start of the range. Nobody uses them, and counting from the start of the text takes quadratic
        # time.
        parser.included_ranges = [Range((0, 0), (data.count(b"\n", start, end), 0), start, end)]

    read = _Reading(data, end, _WINDOWS)
    try:
        root: Node = parser.parse(read, progress_callback=_time_limit(seconds)).root_node
    except ValueError:  # raised by the binding when the callback stops it
        return None
    return root


def _time_limit(seconds: float) -> Callable[[int, bool], bool]:
    """A function that says whether this thread has worked for longer: parsers ask it every hundred steps.

    To ask the system for the thread's time may take as long as these. It is never more than the time on the clock.
    """
    deadline, earliest = time.thread_time() + seconds, time.monotonic() + seconds
    return lambda *_: time.monotonic() > earliest and time.thread_time() > deadline


class _Windows(threading.local):
    """The buffers through which a thread's parsers read.

    The binding (0.26.1) keeps a reference to whatever a read returned, for good: a slice of the text for each read, or
    the text itself. It can keep these: there are two of them a thread.
    """

    def __init__(self) -> None:
        self.forward = bytearray()
        self.again = bytearray()


_WINDOWS = _Windows()


class _Reading:
    """The function with which a parser reads a text up to an end: it returns a window that the next call overwrites."""

    def __init__(self, data: bytes, end: int, windows: _Windows) -> None:
        self._data = data
        self._end = end
        self._windows = windows
        self._read_to = 0

    def __call__(self, offset: int, _point: Point) -> bytearray:
        # Some scanners look ahead to the end of the text at each token, and go back: they seldom use the rest again.
        is_again = offset < self._read_to
        window, size = (self._windows.again, _READ_AGAIN_BYTES) if is_again else (self._windows.forward, _READ_BYTES)
        self._read_to = min(self._end, offset + size)
        window[:] = self._data[offset : self._read_to]
        return window


def _regions(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Parts of the range, cut at every line that starts a top-level section."""
    for match in _TOP_LEVEL.finditer(data, start, end):
        if start < match.end() < end:
            yield start, match.end()
            start = match.end()
    yield start, end


def _blocks(data: bytes) -> Iterator[tuple[int, int]]:
    """Ranges of about 16 KB that begin at the start of a top-level section, if one is found."""
    start = 0
    while len(data) - start > BLOCK_BYTES:
        low, high = start + BLOCK_BYTES // 4, start + BLOCK_BYTES
        ends = [match.end() for match in _TOP_LEVEL.finditer(data, low, high)]
        end = ends[-1] if ends else data.rfind(b"\n", low, high) + 1
        end = end if end > low else _character_start(data, high)
        yield start, end
        start = end
    yield start, len(data)


def _character_start(data: bytes, offset: int) -> int:
    while data[offset] & 0xC0 == 0x80:
        offset -= 1
    return offset


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
