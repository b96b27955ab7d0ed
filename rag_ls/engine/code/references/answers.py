"""The question for the references to a symbol, its answer, and what makes the references in it, with their lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from rag_ls.engine.code.references.code_files import NOTHING_UNREAD, CodeFile, CodeFiles, UnreadFiles, split_owner
from rag_ls.model import Use, UseKind
from rag_ls.storage import StoredSymbol
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, field


class ReferenceKind(StrEnum):
    """The way in which a place uses a symbol."""

    DEFINITION = "definition"
    CALL = "call"
    IMPORT = "import"
    IMPLEMENT = "implement"
    """A type that derives from it."""
    OVERRIDE = "override"
    MENTION = "mention"
    DOCS = "docs"


ALL_KINDS = frozenset(ReferenceKind)
_ORDER = {kind: place for place, kind in enumerate(ReferenceKind)}


@dataclass(frozen=True, slots=True)
class AskedSymbol:
    """The symbol whose references are wanted: by name, or by the place of its declaration."""

    name: str = ""
    path: str = ""
    line: int = 0
    column: int = 0
    """1-based, in characters, where the name at it is meant; else the declaration around the line is."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A place that uses a symbol."""

    kind: ReferenceKind
    path: str
    line: int
    column: int
    """1-based, in characters."""
    text: str
    """The line, without the white space around it."""
    symbol: str
    """The declaration around it; empty at the top of a document."""
    resolved: bool
    """Whether scopes, imports or types lead from it to the declaration; else its name alone does."""
    is_test: bool
    target: StoredSymbol | None = None
    """The declaration that it means, where it is resolved."""
    depth: int = 1
    """1 for a use of the symbol itself, 2 for a use of a symbol that uses it, and so on."""


def sort_references(references: Iterable[Reference]) -> list[Reference]:
    """The references by kind, those that are resolved first, then by place; tests after other code."""
    return sorted(
        references, key=lambda each: (_ORDER[each.kind], not each.resolved, each.is_test, each.path, each.line)
    )


@dataclass(frozen=True, slots=True)
class References:
    """The references to what a name means."""

    name: str
    declarations: tuple[StoredSymbol, ...]
    references: tuple[Reference, ...]
    """Those of a kind together, in the order of the kinds; callees in that of the code, callers as a tree."""
    nearest: tuple[str, ...] = ()
    """The names that may be meant, where nothing has this one."""
    looked_at: int = 0
    """The number of documents in which a name would have been found."""
    unread: UnreadFiles = NOTHING_UNREAD
    uncreated: int = 0
    """The number of constructors, if there are so many that the calls of their types were not looked for."""
    is_cut: bool = False
    """Whether a tree of callers was too large to be followed to its end."""
    left: Mapping[ReferenceKind, int] = field(default_factory=dict)
    """The number of further declarations, and of uses of the name: some of these may mean another declaration."""


KINDS = {
    UseKind.CALL: ReferenceKind.CALL,
    UseKind.IMPORT: ReferenceKind.IMPORT,
    UseKind.IMPLEMENT: ReferenceKind.IMPLEMENT,
    UseKind.MENTION: ReferenceKind.MENTION,
}
_MAX_LINE_CHARACTERS = 200
_MAX_LINES_TO_NAME = 6
_ANNOTATION = lazy_pattern(r"^\s*(?:(?:@[\w.:]+(?:\([^()]*\))?|#?\[[^\]]*\])\s*)+")


class ReferenceMaker:
    """Makes the references to what one client sees. For one question."""

    def __init__(self, files: CodeFiles, is_test: Callable[[str], bool]) -> None:
        self._files = files
        self._is_test = is_test

    def at_declaration(self, item: StoredSymbol, kind: ReferenceKind, target: StoredSymbol) -> Reference:
        source = self._files.file_at(item.path)
        assert source is not None
        name = split_owner(item.symbol)[1]
        number, line = find_own_line(self._files.read_lines(source), item, name)
        column = max(0, line.find(name)) + 1
        return Reference(
            kind=kind, path=item.path, line=number, column=column, text=_shorten_line(line), symbol=item.symbol, resolved=True,
            is_test=self._is_test(item.path), target=target,
        )  # fmt: skip

    def at_use(self, source: CodeFile, use: Use, target: StoredSymbol | None) -> Reference:
        lines = self._files.read_lines(source)
        line = lines[use.line - 1] if use.line <= len(lines) else ""
        around = source.declaration_around(use.line)
        column = len(self._files.text_before(source, use)) + 1
        return Reference(
            kind=KINDS[use.kind], path=source.path, line=use.line, column=column, text=_shorten_line(line),
            symbol=around.symbol if around else "", resolved=target is not None, is_test=self._is_test(source.path), target=target,
        )  # fmt: skip


def place_of(reference: Reference) -> tuple[str, int, int]:
    """The place of a reference; an import of one name under another is one place, though both names stand there."""
    is_import = reference.kind is ReferenceKind.IMPORT
    return reference.path, reference.line, 0 if is_import else reference.column


def find_own_line(lines: Sequence[str], item: StoredSymbol, name: str) -> tuple[int, str]:
    """The line of a declaration that holds its name: the first one, but for annotations, or a type on a line of its own, above it."""
    own = lines[item.start_line - 1 : item.end_line] or [""]
    named = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    limit = len(own) if _ANNOTATION.match(own[0]) else _MAX_LINES_TO_NAME
    for number, line in enumerate(own[:limit], item.start_line):
        if named.search(_ANNOTATION.sub("", line)):
            return number, line
    return item.start_line, own[0]


def _shorten_line(line: str) -> str:
    text = line.strip()
    return text if len(text) <= _MAX_LINE_CHARACTERS else text[: _MAX_LINE_CHARACTERS - 1] + "…"
