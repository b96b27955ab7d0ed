"""Declarations of a text without a grammar, by the lines that begin them: its outline, its pieces, its uses of names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from rag_ls.chunking.document import Budget, Document, windows
from rag_ls.chunking.imports import read_imports, with_uses
from rag_ls.chunking.split import Enclosing, Piece
from rag_ls.chunking.symbols import MAX_NAME, MAX_SIGNATURE, MAX_SYMBOL, first_paragraph, plain_name
from rag_ls.chunking.uses import UseTable
from rag_ls.languages import Kind, Language, LineRule, compile_lines, declared_group
from rag_ls.model import Outline, Symbol, UseKind
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, field

_KINDS = {
    "type": Kind.TYPE, "function": Kind.FUNCTION, "value": Kind.VALUE, "module": Kind.SCOPE, "scope": Kind.SCOPE,
}  # fmt: skip
_MAX_DEPTH = 50
_MAX_HEAD = 3000
_MAX_ABOVE = 60
"""At most this many lines of comments and attributes belong to a declaration."""
_NO_BLANK = lazy_pattern(rb"\S")
_GENERICS = lazy_pattern(rb"<[^<>]*>")
_BODY = lazy_pattern(r"\s*=?\s*\{.*$|\s*[=:]$")
_WORDS = frozenset(
    b"if else elsif elseif elif unless while until for foreach do done begin end then case switch when return my our local "
    b"let var val def sub fn function procedure proc fun class type struct module package use require import from in is as not "
    b"and or new try catch finally with match rec mutable public private protected static final const true false null None self".split()
)
"""No names, whatever the language."""


@dataclass(slots=True, eq=False)
class LineDeclaration:
    """A declaration, by offsets and indices of lines."""

    kind: str
    name: str
    start: int
    """The start of the comments and attributes above it, at a line's start."""
    line: int
    head_end: int
    """The end of its head's text."""
    indent: int
    scope: Enclosing
    outer: LineDeclaration | None = None
    last_line: int = 0
    closing: re.Pattern[bytes] | None = None
    signature: str = ""
    doc: str = ""
    members: list[LineDeclaration] = field(default_factory=list)


@dataclass(frozen=True)
class LineText:
    """A document, read by the rule of its language."""

    document: Document
    language: Language
    rule: LineRule

    @cached_property
    def blanked(self) -> bytes:
        """The text without comments and texts in quotes."""
        return self.rule.blank(self.document.data)

    @cached_property
    def top(self) -> LineDeclaration:
        """The document itself, with the declarations in it."""
        return _Reader(self).read()

    @cached_property
    def _by_scope(self) -> dict[Enclosing, LineDeclaration]:
        """The declarations by their scopes."""
        return {each.scope: each for each in _walk(self.top)}

    def outline(self, *, declarations: bool = True) -> Outline:
        """The declarations outside of functions, and the imports, in the order of the text."""
        imports = self.language.imports
        found = []
        if imports is not None and self.rule.imported:
            for match in self._imported():
                start = match.end() - len(match[0].lstrip())
                found += read_imports(start, match.end(), imports, self.document)
        symbols = [self._symbol(each) for each in _walk(self.top) if each.kind != "scope"] if declarations else []
        return Outline(tuple(symbols), tuple(with_uses(found, self.language.uses, self.document.data)), ())

    def pieces(self, budget: Budget) -> list[Piece]:
        """Pieces that partition the document, in order, each within the budget, as `split_tree` makes them."""
        return list(_split(self.document, self.top, (0, len(self.document.data)), budget))

    def uses(self) -> bytes:
        """The uses of names, packed as `read_uses` reads them."""
        rule, data = self.rule, self.blanked
        found = [match.span() for match in compile_lines(rule.names).finditer(data) if match[0] not in _WORDS]
        if self.language.references is None or not found:
            return b""
        starts, ends = (np.array(each, dtype=np.int64) for each in zip(*found, strict=True))
        kinds = np.zeros(starts.size, dtype=np.int64)
        called = compile_lines(rule.called)
        kinds[[at for at, (_, end) in enumerate(found) if called.match(data, end)]] = UseKind.CALL
        if rule.calls:
            kinds[np.isin(starts, list(_group_starts(rule.calls, data)))] = UseKind.CALL
        if rule.bases:
            for match in compile_lines(rule.bases).finditer(data):
                kinds[(starts >= match.start(1)) & (starts < match.end(1))] = UseKind.IMPLEMENT
        heads = [match.start(declared_group(match)[1]) for match in compile_lines(rule.declared).finditer(data)]
        kinds[np.isin(starts, heads)] = UseKind.MENTION
        if rule.imported:
            for match in self._imported():
                kinds[(starts >= match.start()) & (starts < match.end())] = UseKind.IMPORT
        table = UseTable()
        table.add_names(self.document, starts, ends, kinds)
        return table.pack()

    def node_of(self, scope: Enclosing) -> tuple[str, tuple[str, ...]] | None:
        """The kind of a declaration, and the kinds of those around it; None for the document itself."""
        declared = self._by_scope.get(scope)
        return (declared.kind, tuple(_kinds_around(declared))) if declared is not None else None

    def signature_of(self, scope: Enclosing) -> str:
        """The head of a declaration, in one line."""
        declared = self._by_scope.get(scope)
        return declared.signature if declared is not None else ""

    def doc_of(self, scope: Enclosing) -> str:
        """The first paragraph of the comments above a declaration."""
        declared = self._by_scope.get(scope)
        return declared.doc if declared is not None else ""

    def _imported(self) -> Iterator[re.Match[bytes]]:
        """The import statements that are no part of a comment."""
        data, blanked = self.document.data, self.blanked
        for match in compile_lines(self.rule.imported).finditer(data):
            first = match.end() - len(match[0].lstrip())
            if blanked[first : first + 1] == data[first : first + 1]:
                yield match

    def _symbol(self, each: LineDeclaration) -> Symbol:
        return Symbol(
            name=each.scope.symbol,
            kind=each.kind,
            start_line=each.line + 1,
            end_line=each.last_line + 1,
            signature=each.signature,
            doc=each.doc,
            exported=self.language.exports is None
            or self.language.exports.is_exported(
                each.name, each.signature, each.outer is not None and each.outer.kind == "type"
            ),
        )


def _walk(top: LineDeclaration) -> Iterator[LineDeclaration]:
    """The declarations in one, outer before inner ones, in the order of the text."""
    stack = top.members[::-1]
    while stack:
        each = stack.pop()
        yield each
        stack += reversed(each.members)


def _kinds_around(declared: LineDeclaration) -> Iterator[str]:
    outer = declared.outer
    while outer is not None and outer.kind:
        yield outer.kind
        outer = outer.outer


def _group_starts(pattern: bytes, data: bytes) -> Iterator[int]:
    for match in compile_lines(pattern).finditer(data):
        yield from (match.start(number) for number, text in enumerate(match.groups(), 1) if text)


class _Reader:
    """Reads the declarations of one text, line by line."""

    def __init__(self, text: LineText) -> None:
        self._document = text.document
        self._data = text.document.data
        self._blanked = text.blanked
        self._rule = text.rule
        self._closing = compile_lines(text.rule.closing) if text.rule.closing else None
        self._going_on = compile_lines(text.rule.going_on) if text.rule.going_on else None
        self._attributes = compile_lines(text.rule.attributes)
        self._starts = [*text.document.lines.tolist(), len(self._data)]
        self._top = LineDeclaration(
            kind="", name="", start=0, line=0, head_end=0, indent=-1, scope=Enclosing("", Kind.SCOPE)
        )
        self._open = [self._top]
        self._last = 0
        """The last line that is not blank."""

    def read(self) -> LineDeclaration:
        heads = self._heads()
        head = next(heads, None)
        head_ends = 0
        for number, (start, end) in enumerate(zip(self._starts, self._starts[1:], strict=False)):
            line = self._blanked[start:end]
            text = line.strip()
            if text and start >= head_ends:
                self._close(number, len(line) - len(line.lstrip()), line.lstrip())
            if head is not None and head.start() < end:
                if self._begin(head, number):
                    head_ends = head.end()
                head = next(heads, None)
                while head is not None and head.start() < end:
                    head = next(heads, None)
            self._last = number if text else self._last
        while len(self._open) > 1:
            self._end(self._last)
        return self._top

    def _heads(self) -> Iterator[re.Match[bytes]]:
        """The matches of the rule that are no part of a comment or a text in quotes."""
        for match in compile_lines(self._rule.declared).finditer(self._data):
            first = match.end() - len(match[0].lstrip())
            if self._blanked[first] == self._data[first]:
                yield match

    def _close(self, number: int, indent: int, text: bytes) -> None:
        """End the declarations that a line ends, or that do not hold it."""
        while len(self._open) > 1:
            inner = self._open[-1]
            if inner.closing is not None:
                if inner.closing.match(text):
                    self._end(number)
                return
            if indent > inner.indent:
                return
            if indent == inner.indent and self._going_on is not None and self._going_on.match(text):
                return
            if indent == inner.indent and self._closing is not None and self._closing.match(text):
                self._end(number)
                return
            self._end(self._last)

    def _end(self, number: int) -> None:
        self._open.pop().last_line = number

    def _begin(self, head: re.Match[bytes], number: int) -> bool:
        """Open the declaration of a head; False where it is local to a function or value."""
        kind, group = declared_group(head)
        word = self._word_of(head)
        if word and kind == "function" and self._open[-1].kind == "function" and self._open[-1].closing is not None:
            self._end(self._open[-1].line)  # one whose end is missing
        outer = self._open[-1]
        if outer.kind in ("function", "value") or len(self._open) > _MAX_DEPTH:
            return False
        name = self._name_of(head, group)
        if not name:
            return False
        first = self._document.line_start(head.end() - len(head[0].lstrip()))
        line = self._document.line(first) - 1
        indent = head.end() - len(head[0].lstrip()) - first
        above = self._above(line)
        former = outer.members[-1].last_line + 1 if outer.members else 0
        start = max(self._starts[above], outer.head_end, self._starts[min(former, line)])
        symbol = f"{outer.scope.symbol}.{name}" if outer.scope.symbol else name
        declared = LineDeclaration(
            kind=kind,
            name=name,
            start=self._document.line_start(start),
            line=line,
            head_end=head.end(),
            indent=indent,
            scope=Enclosing(symbol if len(symbol) <= MAX_SYMBOL else name, _KINDS[kind], outer.scope),
            outer=outer,
            last_line=number,
            closing=compile_lines(self._rule.paired % re.escape(word)) if word else None,
            signature=self._signature(head),
            doc=self._doc(above, line, head.end() if kind in ("function", "type") else -1),
        )
        outer.members.append(declared)
        self._open.append(declared)
        if declared.closing is not None and declared.closing.search(
            self._blanked, head.end(), self._starts[number + 1]
        ):
            self._end(number)
        return True

    def _word_of(self, head: re.Match[bytes]) -> bytes:
        """The word whose counterpart ends the declaration; empty where indentation tells its end."""
        names = (name for name in head.re.groupindex if name.startswith("word"))
        return next((head[name] for name in names if head[name]), b"") if self._rule.paired else b""

    def _name_of(self, head: re.Match[bytes], group: str) -> str:
        owner = head["owner"] if "owner" in head.re.groupindex else None
        names = (
            plain_name(_GENERICS.sub(b"", each).decode("utf-8", "ignore")) for each in (owner, head[group]) if each
        )
        return ".".join(filter(None, names)).replace("::", ".").replace("#", ".").strip(".")[:MAX_NAME]

    def _above(self, line: int) -> int:
        """The first of the comments and attributes right above a line."""
        first = line
        while first > 0 and line - first < _MAX_ABOVE:
            start, end = self._starts[first - 1], self._starts[first]
            blanked, text = self._blanked[start:end].strip(), self._data[start:end].strip()
            if not text or (blanked and not self._attributes.match(blanked)):
                break
            first -= 1
        return first

    def _doc(self, above: int, line: int, head_end: int) -> str:
        """The first paragraph of the comments above a declaration, or of the text in quotes below its head."""
        comments = self._data[self._starts[above] : self._starts[line]]
        if (
            self._rule.docstring
            and head_end >= 0
            and (below := compile_lines(self._rule.docstring).match(self._data, head_end, head_end + _MAX_HEAD))
        ):
            comments = below[1]
        lines = [
            text
            for text in comments.splitlines()
            if not self._attributes.match(text.strip()) and not text.startswith(b"#!")
        ]
        return first_paragraph([self._rule.uncomment(b"\n".join(lines)).decode("utf-8", "ignore")])

    def _signature(self, head: re.Match[bytes]) -> str:
        """The line of a head, from its first word to the bracket that opens its body."""
        start = head.end() - len(head[0].lstrip())
        end = self._data.find(b"\n", head.end())
        text = self._data[start : min(start + 4 * MAX_SIGNATURE, end if end >= 0 else len(self._data))].decode(
            "utf-8", "ignore"
        )
        return _BODY.sub("", " ".join(text.split()))[:MAX_SIGNATURE].rstrip()


def _split(document: Document, owner: LineDeclaration, span: tuple[int, int], budget: Budget) -> Iterator[Piece]:
    """The pieces of the document itself or of a declaration. Modules are always opened, like what is larger than the budget."""
    start, end = span
    declares = bool(owner.kind)
    if not owner.members or (
        declares and _KINDS[owner.kind] is not Kind.SCOPE and document.size(*span) <= budget.max_tokens
    ):
        yield from _cut(document, owner, span, budget, declares=declares)
        return
    for member in owner.members:
        first, below = max(start, member.start), min(end, _end_of(document, member))
        if first >= below:
            continue
        if start < first:
            yield from _cut(document, owner, (start, first), budget, declares=declares, whole=False)
            declares = False
        yield from _split(document, member, (first, below), budget)
        start = below
    if start < end:
        yield from _cut(document, owner, (start, end), budget, declares=False)


def _end_of(document: Document, declared: LineDeclaration) -> int:
    """The end of a declaration's text, with the blank lines below it."""
    following, data = declared.last_line + 1, document.data
    start = int(document.lines[following]) if following < len(document.lines) else len(data)
    below = _NO_BLANK.search(data, start)
    return document.line_start(below.start()) if below is not None else len(data)


def _cut(
    document: Document,
    owner: LineDeclaration,
    span: tuple[int, int],
    budget: Budget,
    *,
    declares: bool,
    whole: bool = True,
) -> Iterator[Piece]:
    """The pieces of a range of a declaration in which nothing else is declared."""
    start, end = span
    is_one = document.size(start, end) <= budget.max_tokens
    for low, high in windows(document, start, end, budget, prose=False):
        is_first = low == start
        yield Piece(
            start=low,
            end=high,
            size=document.size(low, high),
            node_type=owner.kind or "text",
            parents=(),
            owner=(owner.scope.parent or owner.scope) if declares and is_one and whole else owner.scope,
            declares=owner.scope if declares and is_first else None,
            whole=is_one and whole,
            origin=start if declares and not is_first else -1,
        )
