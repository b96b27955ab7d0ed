"""Answers the questions for references, callers and callees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from rag_ls.engine.code import places
from rag_ls.engine.code.references.answers import (
    ALL_KINDS,
    AskedSymbol,
    Reference,
    ReferenceKind,
    References,
    sort_references,
)
from rag_ls.engine.code.references.code_files import split_owner, symbol_key
from rag_ls.engine.code.references.finder import Finder
from rag_ls.engine.code.references.pages import find_page
from rag_ls.engine.code.references.symbol_lookup import find_declarations
from rag_ls.engine.code.references.unread import find_unread
from rag_ls.engine.session import ProjectSession
from rag_ls.search.roles import part_keys
from rag_ls.storage import StoredSymbol

MAX_DEPTH = 5
_MAX_TREE = 400
_USED = ALL_KINDS - {ReferenceKind.DEFINITION, ReferenceKind.DOCS}


def find_references(
    session: ProjectSession, question: AskedSymbol, *, kinds: Collection[ReferenceKind] = ALL_KINDS, enough: int = 0
) -> References:
    """The references of some kinds to a symbol, in order. Raises `InvalidRequest` and `NotFound`.

    `enough`: the number of references after which further uses of a frequent name are only counted; 0 for no such number.
    """
    session.catch_up()
    finder = Finder(session)
    name, declared, keys = _find_declared(session, finder, question)
    if enough:
        references, left = find_page(finder, name, declared, kinds, enough)
    else:
        references, left = sort_references(finder.references(name, declared, kinds)), {}
    if ReferenceKind.MENTION in kinds:
        shown = keys[: max(0, enough - len(references)) if enough else None]
        references += map(_make_mention, finder.definitions(shown))
        left = Counter(left) + Counter({ReferenceKind.MENTION: len(keys) - len(shown)})
    nearest: tuple[str, ...] = ()
    if not declared and not references:
        nearest = tuple(places.nearest_symbols(session, question.name or name))
    unread = find_unread(session, finder.files, name, {key.document_id for key in keys})
    return References(
        name, tuple(declared), tuple(references), nearest=nearest, looked_at=finder.files.count, unread=unread,
        uncreated=finder.creations.uncreated, left=left,
    )  # fmt: skip


def _find_declared(
    session: ProjectSession, finder: Finder, question: AskedSymbol
) -> tuple[str, list[StoredSymbol], Sequence[StoredSymbol]]:
    """The name that is asked for, the declarations that it means, and the keys in data that many places have."""
    name, declared = find_declarations(session, finder.files, finder.uses.meanings, question)
    return name, *part_keys(declared, lambda item: item.language)


def _make_mention(key: Reference) -> Reference:
    around = split_owner(key.symbol)[0]
    return replace(key, kind=ReferenceKind.MENTION, symbol=around, resolved=False, target=None)


def find_uses(session: ProjectSession, declared: Sequence[StoredSymbol]) -> list[Reference]:
    """The uses of some declarations: those that scopes, imports or types lead to, and those by name that may mean them."""
    finder = Finder(session)
    return [
        use if use.target is not None else replace(use, target=item)
        for item in declared
        for use in finder.references(split_owner(item.symbol)[1], [item], _USED)
    ]


def find_resolved_uses(
    session: ProjectSession, declared: Sequence[StoredSymbol], paths: Collection[str]
) -> list[Reference]:
    """The uses of some declarations in some documents that scopes, imports or types lead to."""
    return [use for use in Finder(session).uses.of_declarations(paths, declared) if use.resolved]


def find_callers(session: ProjectSession, question: AskedSymbol, depth: int) -> References:
    """The calls of a symbol, each followed by the calls of what calls it, to a depth. Raises as `find_references`."""
    session.catch_up()
    finder = Finder(session)
    name, declared, _ = _find_declared(session, finder, question)
    tree = _CallerTree(finder, min(depth, MAX_DEPTH))
    tree.add(name, declared, 1)
    nearest = () if declared or tree.found else tuple(places.nearest_symbols(session, question.name or name))
    unread = find_unread(session, finder.files, name)
    return References(
        name, tuple(declared), tuple(tree.found), nearest=nearest, looked_at=finder.files.count, unread=unread,
        uncreated=finder.creations.uncreated, is_cut=len(tree.found) >= _MAX_TREE,
    )  # fmt: skip


def find_callees(session: ProjectSession, question: AskedSymbol) -> References:
    """The calls in the body of a symbol. Raises as `find_references`."""
    session.catch_up()
    finder = Finder(session)
    name, declared = find_declarations(session, finder.files, finder.uses.meanings, question)
    if not declared:
        return References(
            name, (), (), tuple(places.nearest_symbols(session, question.name or name)), finder.files.count
        )
    found = [call for item in declared for call in finder.uses.calls_in(item)]
    return References(name, tuple(declared), tuple(found), looked_at=finder.files.count)


class _CallerTree:
    """Callers of callers, in the order in which they are shown: each before its own callers."""

    def __init__(self, finder: Finder, depth: int) -> None:
        self._finder = finder
        self._depth = depth
        self._seen: set[tuple[str, int, str]] = set()
        self.found: list[Reference] = []

    def add(self, name: str, declared: Sequence[StoredSymbol], depth: int) -> None:
        """Add the calls of some declarations, and below each the calls of what it stands in."""
        self._seen.update(map(symbol_key, declared))
        for call in sort_references(self._finder.references(name, declared, {ReferenceKind.CALL})):
            # A deeper call that shares only the name is too uncertain to follow.
            is_far = depth > 1 and not call.resolved
            if is_far or len(self.found) >= _MAX_TREE:
                continue
            self.found.append(replace(call, depth=depth))
            source = self._finder.files.at(call.path)
            around = source.around(call.line, "function") if source is not None and call.resolved else None
            if around is not None and depth < self._depth and symbol_key(around) not in self._seen:
                self.add(split_owner(around.symbol)[1], [around], depth + 1)
