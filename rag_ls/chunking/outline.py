"""Reads a document's outline: its declarations and imports."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from rag_ls.chunking.document import Document
from rag_ls.chunking.imports import imports_of, whole_names, with_uses
from rag_ls.chunking.parse import Captured, Part, capture
from rag_ls.chunking.symbols import (
    MAX_SIGNATURE,
    DeclarationNode,
    doc_of,
    find_declaration,
    first_word,
    more_names_of,
    name_of,
    qualify,
    signature_of,
)
from rag_ls.languages import Kind, Language, Statement, Syntax, find_language, own_names
from rag_ls.model import Outline, Symbol
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, field, replace

if TYPE_CHECKING:
    from tree_sitter import Node

_KINDS = {Kind.TYPE: "type", Kind.FUNCTION: "function", Kind.VALUE: "value", Kind.GROUP: "section"}
_VARIABLE = lazy_pattern(r"[\w$@!?-]+")
_OF_BRANCHES = frozenset({"function", "type"})
_MAX_TAG = 500
_MAX_DATA = 4000
"""At most this many keys of a data file are read; a longer outline would be useless."""


@dataclass(frozen=True, slots=True)
class _Open:
    """A declaration or anonymous function that the walk is inside."""

    end: int
    name: str = ""
    member: bool = False
    """Whether its contents are members of a type."""
    exported: bool = True
    values: bool = True
    """Whether variables in it are listed."""
    depth: int = 0
    offered: bool = False
    """Whether all that is in it is as visible as itself."""


def outline_of(
    document: Document,
    parts: list[Part],
    syntax: Syntax,
    language: str,
    signatures: dict[int, str],
    *,
    declarations: bool = True,
) -> Outline:
    """The declarations that are not local to a function, and the imports, in the order of the text.

    `parts` are the trees that cover the document, or a range of it. The signatures of declarations are added to
    `signatures`, by the ids of their outermost nodes. Without `declarations`, the imports are all that is read. Time is
    linear in the size of the trees.
    """
    known = find_language(language)
    rule = known.imports
    walk = _Walk.of(document, syntax, known, signatures) if declarations else None
    imports: list[Statement] = []
    spans: list[tuple[int, int]] = []
    for part in parts:
        captured = capture(part, syntax, language, document.data, declared=declarations)
        if walk is not None:
            walk.part(captured, part.end)
        if rule is not None:
            imports += (found for node in captured.imported for found in imports_of(node, rule, document))
            spans += ((node.start_byte, node.end_byte) for node in captured.imported)
    if walk is not None:
        for other in (other for part in parts for other in part.others):
            walk.add_other(capture(other, syntax, language, document.data), other.end)
    found = with_uses(imports, known.uses, document.data)
    if known.paths is not None and rule is not None:
        found += whole_names(known.paths, rule, document, imports, spans)
    own = own_names(known.own_names, found, document.data) if declarations else ()
    return Outline(tuple(walk.symbols) if walk is not None else (), tuple(found), own)


@dataclass(slots=True)
class _Walk:
    """Walks captured nodes in the order of the text, and tracks the declarations around them."""

    document: Document
    syntax: Syntax
    language: Language
    named_exports: frozenset[str]
    lines: list[int]
    signatures: dict[int, str]
    symbols: list[Symbol] = field(default_factory=list)
    values: set[str] = field(default_factory=set)
    stack: list[_Open] = field(default_factory=list)
    comments: list[Node] = field(default_factory=list)
    """The comments directly before the current node."""
    export_end: int = 0
    closed: int = 0
    """Nodes before this offset are not listed."""
    handled: set[int] = field(default_factory=set)
    """Nodes that were already listed with the wrapper around them."""

    @classmethod
    def of(cls, document: Document, syntax: Syntax, language: Language, signatures: dict[int, str]) -> _Walk:
        rule = language.exports
        names = rule.names_in(document.data) if rule is not None and rule.names_in is not None else frozenset()
        return cls(
            document=document,
            syntax=syntax,
            language=language,
            named_exports=names,
            lines=document.lines.tolist(),
            signatures=signatures,
        )

    def part(self, captured: Captured, end: int) -> None:
        """List the declarations of one tree."""
        self.stack = [_Open(end)]
        self.closed, self.export_end = 0, 0
        if self.syntax.outline_depth:
            del captured.declared[_MAX_DATA:]
        for node in captured.declared:
            if node.start_byte >= self.closed:
                self._visit(node)
            elif node.type in self.syntax.trailers:
                self._extend(node)

    def add_other(self, captured: Captured, end: int) -> None:
        """List the functions and types of a branch that the trees leave out, if they declare none of the name."""
        symbols, self.symbols = self.symbols, []
        self.part(captured, end)
        listed = {symbol.name.rpartition(".")[2] for symbol in symbols}
        others = [each for each in self.symbols if each.kind in _OF_BRANCHES and each.name not in listed]
        self.symbols = sorted((*symbols, *others), key=lambda symbol: symbol.start_line)

    def _visit(self, node: Node) -> None:
        syntax, type_ = self.syntax, node.type
        if self.language.is_markup and not self._has_id(node):
            return
        if type_ in syntax.comments or type_ in syntax.attributes:
            self._comment(node)
        elif type_ in syntax.trailers:
            self._extend(node)
        elif node.id not in self.handled:
            while len(self.stack) > 1 and self.stack[-1].end <= node.start_byte:
                self.stack.pop()
            if 0 < syntax.outline_depth <= self.stack[-1].depth:
                self.closed = self.stack[-1].end
                return
            found = find_declaration(node, syntax, self.document.data)
            if type_ == "export_statement":
                self.export_end = node.end_byte
            if found is not None and found.node.id not in self.handled:
                self._declare(found)
            elif type_ in syntax.lambdas:
                self._lambda(node)

    def _has_id(self, element: Node) -> bool:
        start = element.start_byte
        return b"id" in self.document.data[start : start + _MAX_TAG].partition(b">")[0].lower()

    def _comment(self, node: Node) -> None:
        if self.comments and not self._adjoins(self.comments[-1], node):
            self.comments.clear()
        self.comments.append(node)

    def _adjoins(self, former: Node, node: Node) -> bool:
        """Whether there is only white space without a blank line between two nodes, or a word such as Zig's `pub`."""
        gap = self.document.data[max(former.start_byte, former.end_byte - 1) : node.start_byte]
        is_short = len(gap) < 400 and max(gap.count(b"\n"), gap.count(b"\r")) <= 1
        return is_short and all(word.decode("utf-8", "ignore") in self.syntax.attributes for word in gap[1:].split())

    def _extend(self, trailer: Node) -> None:
        """Extend the last symbol by a body that the grammar puts beside its head."""
        if self.symbols and self.symbols[-1].end_line <= self._line(trailer.start_byte):
            self.symbols[-1] = replace(self.symbols[-1], end_line=self._last_line(trailer))
        self.closed = max(self.closed, trailer.end_byte)

    def _lambda(self, node: Node) -> None:
        outer = self.stack[-1]
        if outer.name:
            self.closed = node.end_byte
        else:  # a module that is written as an immediately called function
            self.stack.append(_Open(node.end_byte, values=False, depth=outer.depth))

    def _declare(self, found: DeclarationNode) -> None:
        outer, syntax, data, kind = self.stack[-1], self.syntax, self.document.data, found.rule.kind
        self.handled.update(node.id for node in found.path[1:])
        comments = self._comments_before(found.path[0]) if self.comments else ()
        own = name_of(found, syntax, data)
        if kind is Kind.VALUE and not (outer.values and (syntax.plain_names or _VARIABLE.fullmatch(own))):
            return
        if not own and kind is not Kind.SCOPE:
            return
        name = qualify(outer.name, own, self.syntax)
        exported = outer.exported
        listed = self._find_kind(found, own)
        if listed and self._is_new(name, listed):
            signature = signature_of(found, syntax, data)
            self.signatures[found.path[0].id] = signature
            exported = exported and self._is_exported(found, own, signature, outer)
            start, end = self._line(first_word(found.path[0], syntax)), self._last_line(found.path[0])
            doc = doc_of(found, comments, syntax, data)
            symbol = Symbol(
                name=name,
                kind=listed,
                start_line=start,
                end_line=max(start, end),
                signature=signature,
                doc=doc,
                exported=exported,
            )
            self._add(symbol)
            for other in more_names_of(found, data):
                self._add(replace(symbol, name=qualify(outer.name, other, self.syntax)))
        self._enter(found, name, exported, outer)

    def _is_new(self, name: str, listed: str) -> bool:
        """Whether to list a name: variables that are set again and repeated keys are listed only once."""
        if listed != "value" and not self.syntax.outline_depth:
            return True
        new = name not in self.values
        self.values.add(name)
        return new

    def _comments_before(self, node: Node) -> tuple[Node, ...]:
        comments = tuple(self.comments)
        self.comments.clear()
        if not comments or not self._adjoins(comments[-1], node):
            return ()
        start = comments[0].start_byte
        before = self.document.data[self.document.line_start(start) : start]
        return () if before.strip() else comments

    def _find_kind(self, found: DeclarationNode, name: str) -> str:
        """The kind of a declaration in the outline; empty if it is not listed."""
        kind, listed = found.rule.kind, found.rule.listed
        if listed is not None or not name:
            return listed or ""
        if self.language.is_markup and "#" not in name:
            return ""
        return _KINDS.get(kind, "module")

    def _is_exported(self, found: DeclarationNode, name: str, signature: str, outer: _Open) -> bool:
        rule, start = self.language.exports, found.path[0].start_byte
        if rule is None:
            return True
        if rule.prefix:
            return self.document.data[max(0, start - len(rule.prefix) - 8) : start].rstrip().endswith(rule.prefix)
        own = outer.offered or rule.is_exported(name, signature, outer.member)
        if rule.names_in is not None and not own and not outer.member:
            own = start < self.export_end or name in self.named_exports
        return own

    def _add_promoted(self, function: Node, outer: _Open) -> None:
        """List the fields that the parameters of a constructor declare."""
        parameters = function.child_by_field_name("parameters") if self.syntax.promoted else None
        for node in parameters.named_children if parameters is not None else ():
            name = node.child_by_field_name("name") if node.type in self.syntax.promoted else None
            if name is not None:
                text = self.document.data[node.start_byte : node.end_byte].decode("utf-8", "ignore")
                own = self.document.data[name.start_byte : name.end_byte].decode("utf-8", "ignore").lstrip("$")
                self._add(
                    Symbol(
                        name=qualify(outer.name, own, self.syntax),
                        kind="value",
                        start_line=self._line(node.start_byte),
                        end_line=self._last_line(node),
                        signature=" ".join(text.split())[:MAX_SIGNATURE],
                        doc="",
                        exported="private" not in text,
                    )
                )

    def _add(self, symbol: Symbol) -> None:
        last = self.symbols[-1] if self.symbols else None
        if self.syntax.clauses and last is not None and (last.name, last.kind) == (symbol.name, symbol.kind):
            self.symbols[-1] = replace(last, end_line=symbol.end_line, doc=last.doc or symbol.doc)
        else:
            self.symbols.append(symbol)

    def _line(self, offset: int) -> int:
        return bisect_right(self.lines, offset)

    def _last_line(self, node: Node) -> int:
        data, end = self.document.data, min(node.end_byte, len(self.document.data))
        start = node.start_byte
        while end > start + 1 and data[end - 1] in b" \t\r\n":
            end -= 1
        return self._line(max(start, end - 1))

    def _enter(self, found: DeclarationNode, name: str, exported: bool, outer: _Open) -> None:
        kind, end = found.rule.kind, found.path[0].end_byte
        if kind is Kind.FUNCTION:
            self._add_promoted(found.node, outer)
            self.closed = end
            return
        member = outer.member or kind in (Kind.TYPE, Kind.VALUE) or found.rule.listed == ""
        values = outer.values and kind is not Kind.VALUE
        self.stack.append(
            _Open(
                end=end,
                name=name,
                member=member,
                exported=exported,
                values=values,
                depth=outer.depth + 1,
                offered=_offers_all(found.node),
            )
        )


def _offers_all(node: Node) -> bool:
    """Whether a declaration's members are as visible as itself: in Rust's traits and their implementations."""
    return node.type == "trait_item" or node.child_by_field_name("trait") is not None
