"""The question for the references to a symbol, and its answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from rag_ls.engine.code.references.code_files import NOTHING_UNREAD, UnreadFiles
from rag_ls.storage import StoredSymbol
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
