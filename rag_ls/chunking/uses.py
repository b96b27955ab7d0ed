"""Reads the uses of names in a document from its tree: calls, bases, imports, mentions. Packed, they take a few bytes each."""

from __future__ import annotations

import re
import sys
import zlib
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rag_ls.chunking.document import Document
from rag_ls.chunking.parse import Part, captures_of, known_types, with_others
from rag_ls.languages import ReferenceRule, Syntax, find_language
from rag_ls.model import Use, UseKind
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, field

if TYPE_CHECKING:
    from tree_sitter import Node, Query

UNKNOWN = "?"
"""The receiver that is no chain of names."""
KEY, SHORTHAND = "{:}", "{}"
"""The receivers of names that are members of an object: `{ size: 1 }`, `{ size }`, which is a name of the document, too."""
_RECEIVERS = {"symbol": UNKNOWN.encode(), "key": KEY.encode(), "shorthand": SHORTHAND.encode()}
"""By the name of the capture; of several captures of one name the last one counts."""
_MAX_USES = 100_000
"""More names than this are data."""
_MAX_NAME = 200
_MAX_RECEIVER = 80
_MAX_ARGUMENTS = 300
_BEFORE = lazy_pattern(rb"([\w$@\x80-\xff]+)$")
_MARKS = (b"?.", b"&.", b"!.", b"::", b"->", b".", b":", b"\\")
"""Marks between a receiver and its member, the longest first."""
_IS_MARK = np.zeros(256, dtype=np.bool_)
_IS_MARK[[ord(each) for each in ".:>\\"]] = True
_TYPED_CALL = lazy_pattern(rb"::<(?:[^<>(){};]|<[^<>(){};]{0,100}>){1,100}>\(")
_SPACES = b" \t\r\n"
_WORD = lazy_pattern(rb"\"(?:[^\"\\\n]|\\.)*\"|//[^\n]*|(?<![\w#])[A-Za-z_]\w*")
_BEFORE_GLOBAL = b"([{=,;!&|+-*/<?:"
_KINDS = {int(kind): kind for kind in UseKind}

_START, _END = attrgetter("start_byte"), attrgetter("end_byte")

Numbers = NDArray[np.int64]


@dataclass(slots=True)
class UseTable:
    """The uses of names in a document, by column. Objects would take as long to make as all the rest of cutting."""

    words: dict[bytes, int] = field(default_factory=lambda: {b"": 0})
    parts: list[tuple[Numbers, ...]] = field(default_factory=list)

    def add(self, document: Document, parts: list[Part], syntax: Syntax, language: str) -> None:
        """Add the uses in some trees of one language, declared names among them; none where it has no rule for them."""
        rule = find_language(language).references
        if rule is None:
            return
        for part in with_others(parts):
            if part.root is not None and sum(len(each[0]) for each in self.parts) < _MAX_USES:
                self._add_part(document, part, captures_of(_query(syntax.grammar, language), part), rule)

    def pack(self, line_of: Callable[[Numbers], Numbers] = lambda lines: lines) -> bytes:
        """The uses as bytes that `read_uses` reads; `line_of` gives the lines that are stored for those that were read."""
        if not self.parts:
            return b""
        names, kinds, lines, columns, receivers = (np.concatenate(each) for each in zip(*self.parts, strict=True))
        order = np.argsort(lines, kind="stable")
        words = [word.decode("utf-8", "ignore") for word in self.words]
        steps = np.diff(line_of(lines[order]), prepend=0)
        return pack(words, (names[order], kinds[order], steps, columns[order], receivers[order]))

    def _add_part(self, document: Document, part: Part, found: dict[str, list[Node]], rule: ReferenceRule) -> None:
        data = document.data
        owned = {name: _symbol_starts(found[name], data) for name in _RECEIVERS if name in found}
        symbols = {start: end for each in owned.values() for start, end in each.items()}
        owners = {start: _RECEIVERS[name] for name, each in owned.items() for start in each}
        if rule.texts:
            symbols |= {
                match.start(1): match.end(1) for match in re.compile(rule.texts).finditer(data, part.start, part.end)
            }
        words = {
            match.start(): match.end()
            for node in found.get("words", ())
            for match in _WORD.finditer(data, node.start_byte, node.end_byte)
            if match[0][:1] not in b'"/'
        }
        starts, ends = _names_in(part, found, words | symbols)
        if rule.is_dotted:
            starts = np.fromiter(
                (max(start, data.rfind(b".", start, end) + 1) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)),
                dtype=np.int64, count=starts.size,
            )  # fmt: skip
        if not starts.size:
            return
        kinds = np.zeros(starts.size, dtype=np.int64)
        kinds[_inside(starts, found.get("import", ()))] = UseKind.IMPORT
        kinds[_end_at(ends, found.get("base", ()), len(data))] = UseKind.IMPLEMENT
        if rule.calls:
            kinds[_end_at(ends, found.get("call", ()), len(data))] = UseKind.CALL
            if words:
                is_word = np.isin(starts, list(words))
                kinds[is_word & (_bytes_at(data, ends) == ord("("))] = UseKind.CALL
            if rule.heads:
                heads = [match.start(1) for match in re.compile(rule.heads).finditer(data, part.start, part.end)]
                kinds[np.isin(starts, heads)] = UseKind.MENTION
        if not rule.calls or "macro" in found:
            # The grammar does not parse a macro's arguments: they are mere words to it.
            after, called = _bytes_at(data, ends), kinds == UseKind.MENTION
            if rule.calls:
                called &= _inside(starts, found["macro"])
                for at in np.flatnonzero(called & (after == ord(":"))).tolist():
                    kinds[at] = UseKind.CALL if _TYPED_CALL.match(data, ends[at]) else UseKind.MENTION
            kinds[called & (after == ord("("))] = UseKind.CALL
        spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
        numbers = self.words
        texts = [data[start:end] for start, end in spans]
        names, receivers = self._number(texts), self._receivers(data, spans, texts, starts)
        for at in np.flatnonzero(np.isin(starts, list(symbols))).tolist() if symbols else ():
            owner = owners.get(spans[at][0], UNKNOWN.encode())
            receivers[at] = numbers.setdefault(owner, len(numbers))
        if rule.locals:
            bare = np.flatnonzero((kinds == UseKind.MENTION) & (receivers == 0)).tolist()
            kinds[_bare_calls(starts.tolist(), texts, bare, found)] = UseKind.CALL
        if namespaces := list(map(_START, found.get("namespace", ()))):
            kept = ~np.isin(starts, namespaces)
            starts, names, kinds, receivers = starts[kept], names[kept], kinds[kept], receivers[kept]
        self._store(document, names, kinds, starts, receivers)

    def add_names(self, document: Document, starts: Numbers, ends: Numbers, kinds: Numbers) -> None:
        """Add names by their places, in the order of the text."""
        data, starts, ends, kinds = document.data, starts[:_MAX_USES], ends[:_MAX_USES], kinds[:_MAX_USES]
        spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
        texts = [data[start:end] for start, end in spans]
        self._store(document, self._number(texts), kinds, starts, self._receivers(data, spans, texts, starts))

    def _store(self, document: Document, names: Numbers, kinds: Numbers, starts: Numbers, receivers: Numbers) -> None:
        lines = document.lines.searchsorted(starts, side="right")
        self.parts.append((names, kinds, lines, starts - document.lines[lines - 1], receivers))

    def _number(self, texts: list[bytes]) -> Numbers:
        words = self.words
        for text in dict.fromkeys(texts):
            words.setdefault(text, len(words))
        return np.fromiter(map(words.__getitem__, texts), dtype=np.int64, count=len(texts))

    def _receivers(self, data: bytes, spans: list[tuple[int, int]], texts: list[bytes], starts: Numbers) -> Numbers:
        words = self.words
        receivers = np.zeros(starts.size, dtype=np.int64)
        chains: dict[int, bytes] = {}
        called: dict[int, bytes] = {}
        for at in np.flatnonzero(_IS_MARK[_bytes_at(data, starts - 1)]).tolist():
            start = spans[at][0]
            last, last_end = (texts[at - 1], spans[at - 1][1]) if at else (b"", -1)
            former = chains.get(at - 1)
            receiver = _receiver(data, start, last_end, last if former is None else former + b"." + last, called)
            chains[at] = receiver
            called[spans[at][1]] = receiver + b"." + texts[at]
            receivers[at] = words.setdefault(receiver, len(words))
        return receivers


def read_uses(packed: bytes, names: Collection[str] | None = None, kind: UseKind | None = None) -> list[Use]:
    """The uses that were packed, in order of lines; with `names` or a kind, those of these names and this kind alone."""
    if not packed:
        return []
    words, columns = unpack(packed)
    known = [at for at, word in enumerate(words) if word in names] if names is not None else []
    if names is not None and not known:
        return []
    lines = np.cumsum(columns[2])
    wanted = np.arange(lines.size) if names is None else np.flatnonzero(_is_any_of(columns[0], known))
    if kind is not None:
        wanted = wanted[columns[1][wanted] == kind]
    picked = (columns[0][wanted], columns[1][wanted], lines[wanted], columns[3][wanted], columns[4][wanted])
    return [
        Use(words[name], _KINDS[number], line, column, words[receiver])
        for name, number, line, column, receiver in zip(*(each.tolist() for each in picked), strict=True)
    ]


def _is_any_of(numbers: Numbers, known: Sequence[int]) -> NDArray[np.bool_]:
    """Whether each number is one of those that are known, of which most questions have one."""
    return numbers == known[0] if len(known) == 1 else np.isin(numbers, known)


def _names_in(part: Part, found: dict[str, list[Node]], symbols: dict[int, int]) -> tuple[Numbers, Numbers]:
    """The starts and ends of the names in a part, symbols among them, in order, each once."""
    nodes = found.get("name", ())
    count = len(nodes) + len(symbols)
    starts = np.fromiter(chain(map(_START, nodes), symbols), dtype=np.int64, count=count)
    ends = np.fromiter(chain(map(_END, nodes), symbols.values()), dtype=np.int64, count=count)
    kept = (starts >= part.start) & (starts < part.end) & (ends > starts) & (ends - starts <= _MAX_NAME)
    if skipped := [node.start_byte for node in found.get("skip", ())]:
        kept &= ~np.isin(starts, skipped)
    starts, ends = starts[kept], ends[kept]
    if np.any(starts[1:] <= starts[:-1]):
        # Of names that begin at one place, the shortest counts: the nodes of a query come in no certain order.
        order = np.lexsort((ends, starts))
        starts, first = np.unique(starts[order], return_index=True)
        ends = ends[order][first]
    return starts[:_MAX_USES], ends[:_MAX_USES]


def _symbol_starts(nodes: Iterable[Node], data: bytes) -> dict[int, int]:
    """The starts of the names in symbols, with their ends: without the colon before `:name`."""
    spans = ((node.start_byte, node.end_byte) for node in nodes)
    return {start + (data[start] == ord(":")): end for start, end in spans}


def _bare_calls(starts: list[int], texts: list[bytes], bare: list[int], found: dict[str, list[Node]]) -> list[int]:
    """Those of the bare names that are no local variables, no constants and not declared, by index: such a name is a call."""
    closed, scopes = found.get("closed", []), [*found.get("closed", ()), *found.get("scope", ())]
    holders, around = _innermost(starts, closed), _innermost(starts, scopes)
    local, declared = (set(map(_START, found.get(each, ()))) for each in ("local", "declared"))
    variables: dict[tuple[bytes, Node | None], list[tuple[int, int]]] = defaultdict(list)
    for at in filter(lambda at: starts[at] in local, bare):
        scope = around[at]
        variables[texts[at], holders[at]].append((starts[at], sys.maxsize if scope is None else scope.end_byte))
    return [
        at
        for at in bare
        if starts[at] not in local | declared
        and not texts[at][:1].isupper()
        and not any(first <= starts[at] < end for first, end in variables.get((texts[at], holders[at]), ()))
    ]


def _innermost(starts: list[int], nodes: Iterable[Node]) -> list[Node | None]:
    """The innermost of some nodes around each name; None for a name outside of all."""
    found: list[Node | None] = [None] * len(starts)
    for node in sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte)):
        first, last = bisect_left(starts, node.start_byte), bisect_left(starts, node.end_byte)
        found[first:last] = [node] * (last - first)
    return found


def _inside(starts: Numbers, nodes: Iterable[Node]) -> NDArray[np.bool_]:
    """Whether each range lies in one of some nodes."""
    inside = np.zeros(starts.size, dtype=np.bool_)
    ordered = starts.tolist()
    for node in nodes:
        inside[bisect_right(ordered, node.start_byte - 1) : bisect_right(ordered, node.end_byte - 1)] = True
    return inside


def _end_at(ends: Numbers, nodes: Iterable[Node], size: int) -> NDArray[np.bool_]:
    """Whether each end is that of one of some nodes."""
    is_end = np.zeros(size + 1, dtype=np.bool_)
    is_end[list(map(_END, nodes))] = True
    return is_end[ends]


def _bytes_at(data: bytes, offsets: Numbers) -> NDArray[np.uint8]:
    """The bytes at some offsets; 0 outside of the text."""
    padded = np.frombuffer(b"\0" + data + b"\0", dtype=np.uint8)
    return padded[offsets + 1]


def _receiver(data: bytes, start: int, last_end: int, chain: bytes, called: Mapping[int, bytes]) -> bytes:
    """The receiver of the name at `start`; `chain` is the name before it, which ends at `last_end`, with its own receiver.

    `called` has the members before it with their receivers, by their ends.
    """
    if last_end == start - 1 and data[last_end] == 0x2E:
        return chain if len(chain) <= _MAX_RECEIVER else UNKNOWN.encode()
    mark = next((each for each in _MARKS if data.startswith(each, start - len(each))), None)
    if mark is None or data.endswith(b"..", 0, start):
        # `...name` and `0..name` have no receiver.
        return b""
    end = start - len(mark)
    while end > 0 and data[end - 1] in _SPACES and start - end < _MAX_RECEIVER:
        end -= 1
    if end == last_end:
        return chain if len(chain) <= _MAX_RECEIVER else UNKNOWN.encode()
    if mark == b":" or end <= 0:
        return b""
    if data[end - 1] == 0x29:
        return _read_call(data, end, called)
    word = _BEFORE.search(data[max(0, end - _MAX_RECEIVER) : end])
    if word is None and mark == b"::" and data[end - 1] in _BEFORE_GLOBAL:
        # `map(::size)`, `x = ::size()`
        return b""
    return word[1] if word else UNKNOWN.encode()


def _read_call(data: bytes, end: int, called: Mapping[int, bytes]) -> bytes:
    """The call whose closing bracket is the last byte: `super()`, `store.cart()`."""
    depth = 0
    for at in range(end - 1, max(-1, end - _MAX_ARGUMENTS), -1):
        depth += (data[at] == 0x29) - (data[at] == 0x28)
        if not depth:
            before = data[max(0, at - _MAX_RECEIVER) : at]
            word = _BEFORE.search(before)
            is_member = word is not None and before[: word.start()].endswith((b".", b":", b">"))
            call = called.get(at, b"") if is_member else word[1] if word is not None else b""
            return call + b"()" if 0 < len(call) < _MAX_RECEIVER else UNKNOWN.encode()
    return UNKNOWN.encode()


@cache
def _query(grammar: str, language: str) -> Query:
    from tree_sitter import Query
    from tree_sitter_language_pack import get_language

    known, described = get_language(grammar), find_language(language)
    rule, imported = described.references, described.imports
    assert rule is not None
    patterns = [f"({name}) @name" for name in known_types(known, rule.names)]
    patterns += [f"({name}) @import" for name in known_types(known, imported.types if imported is not None else ())]
    return Query(
        known,
        "\n".join(
            (
                *patterns,
                *rule.calls,
                *rule.bases,
                *rule.skipped,
                *rule.imports,
                *rule.symbols,
                *rule.words,
                *rule.locals,
            )
        ),
    )


_LEVEL = 3
_WIDTHS = (np.dtype("<u1"), np.dtype("<u2"), np.dtype("<u4"))


def pack(words: Sequence[str], columns: Sequence[NDArray[np.int64]]) -> bytes:
    """Words without line ends, and columns of one length of numbers in 0 to 2**32 - 1, as bytes that `unpack` reads."""
    parts = ["\n".join(words).encode("utf-8", "surrogatepass")]
    for column in columns:
        width = next(each for each in _WIDTHS if not column.size or column.max() <= np.iinfo(each).max)
        parts += [bytes([_WIDTHS.index(width)]), column.astype(width).tobytes()]
    length = len(columns[0]) if columns else 0
    head = len(parts[0]).to_bytes(4, "little") + length.to_bytes(4, "little")
    return zlib.compress(head + b"".join(parts), _LEVEL)


def unpack(packed: bytes) -> tuple[list[str], list[NDArray[np.int64]]]:
    """The words and columns that were packed. Raises `zlib.error` or `ValueError` for other bytes."""
    data = zlib.decompress(packed)
    at, length = 8 + int.from_bytes(data[:4], "little"), int.from_bytes(data[4:8], "little")
    words = data[8:at].decode("utf-8", "surrogatepass")
    columns = []
    while at < len(data):
        width = _WIDTHS[data[at]]
        end = at + 1 + length * width.itemsize
        columns.append(np.frombuffer(data[at + 1 : end], dtype=width).astype(np.int64))
        at = end
    return words.split("\n") if words else [], columns
