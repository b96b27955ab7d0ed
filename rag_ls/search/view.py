"""The versions of documents that count: of each, the asking session's unsaved text, another live session's, or the file's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np

from rag_ls.languages import holds_language
from rag_ls.project import is_guest
from rag_ls.search.roles import BY_PATH, Roles, is_data, is_docs
from rag_ls.storage import DISK, Numbers, SearchedDocuments
from rag_ls.util.path_globs import glob_matcher, nearest_to_glob
from rag_ls.util.paths import compose
from rag_ls.util.records import dataclass, field
from rag_ls.util.text import nearest_text


class OrderedDocument(NamedTuple):
    """A document of an index."""

    role: int
    """0 for code, 1 for tests, 2 for documentation and data."""
    path: str
    session: str
    document_id: int
    """0 for a file that is looked into as it is."""


@dataclass(frozen=True, slots=True)
class OrderedDocuments:
    """Documents in their order."""

    documents: list[OrderedDocument]
    _ids: Numbers
    """Ascending, of shape (documents,)."""
    _ranks: Numbers
    """The place in `documents` of each."""

    @classmethod
    def arrange(cls, rows: Sequence[tuple[int, str, str, str]], roles: Roles) -> OrderedDocuments:
        """Put documents, given by id, path, language and session, in order."""
        documents = sorted(
            OrderedDocument._make((roles.place_in_order(path, language), path, session, number))
            for number, path, language, session in rows
        )
        ids = np.array([document.document_id for document in documents], np.int64)
        ranks = np.argsort(ids)
        return cls(documents, ids[ranks], ranks)

    def find_ranks(self, ids: Numbers) -> Numbers:
        """The place of each in `documents`, -1 for one that is none of them."""
        if not len(self._ids):
            return np.full_like(ids, -1)
        at = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[at] == ids, self._ranks[at], -1)


class DocumentOrder:
    """Keeps the order while the documents and their roles stay the same."""

    def __init__(self) -> None:
        self._kept: tuple[Sequence[tuple[int, str, str, str]], Roles, OrderedDocuments] | None = None

    def arrange(self, rows: Sequence[tuple[int, str, str, str]], roles: Roles) -> OrderedDocuments:
        """See `OrderedDocuments.arrange`; `rows` is the same object while they stay the same."""
        kept = self._kept
        if kept is None or kept[0] is not rows or kept[1] is not roles:
            kept = rows, roles, OrderedDocuments.arrange(rows, roles)
            self._kept = kept
        return kept[2]

    def forget(self) -> None:
        """Drop what is kept."""
        self._kept = None


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on hits; an empty field allows everything."""

    language: str = ""
    path_glob: str = ""
    kind: str = ""
    """One of `DOCUMENT_KINDS`."""


NO_FILTERS = Filters()
DOCUMENT_KINDS = ("code", "doc", "test")


@dataclass(frozen=True, slots=True)
class View:
    """The documents that may be hits."""

    hidden: frozenset[int]
    """Documents that another version of the same file replaces."""
    allowed: frozenset[int] | None
    """The documents that pass the filters; None where there are no filters."""
    roles: Roles = BY_PATH
    order: DocumentOrder = field(default_factory=DocumentOrder, compare=False)

    def shows(self, document_id: int) -> bool:
        """Whether a chunk of this document may be a hit."""
        return document_id not in self.hidden and (self.allowed is None or document_id in self.allowed)


def current_view(
    store: SearchedDocuments,
    session: str,
    is_live: Callable[[str], bool],
    roles: Roles,
    filters: Filters,
    order: DocumentOrder,
) -> View:
    """The view of one editing session (or of a process without one) at this moment."""
    winners: dict[str, int] = {}
    losers: set[int] = set()
    # Ordered by time, so that a later change of another session replaces an earlier one; the session's own always wins.
    unsaved = [document for document in store.unsaved_documents() if document.session != session]
    for document in unsaved:
        if is_live(document.session) and (not is_guest(document.path) or store.document(document.path)):
            losers.update({winners[document.path]} if document.path in winners else ())
            winners[document.path] = document.id
        else:
            losers.add(document.id)
    for document in store.documents(session).values() if session != DISK else ():
        losers.update({winners[document.path]} if document.path in winners else ())
        winners[document.path] = document.id
    for path in winners:
        if on_disk := store.document(path):
            losers.add(on_disk.id)
    return View(frozenset(losers), _find_allowed(store, filters, roles), roles, order)


def _find_allowed(store: SearchedDocuments, filters: Filters, roles: Roles) -> frozenset[int] | None:
    if filters == NO_FILTERS:
        return None
    rows = store.document_paths()
    passes = accepts(filters, roles, {compose(row[1]) for row in rows} if filters.path_glob else ())
    return frozenset(number for number, path, language, _ in rows if passes(path, language))


def accepts(filters: Filters, roles: Roles, known: Collection[str] = ()) -> Callable[[str, str], bool]:
    """A function that tells whether a document, by its path and language, passes the filters; `known` are the paths
    among which a name counts before a pattern."""
    matches = glob_matcher(compose(filters.path_glob), known) if filters.path_glob else None
    wanted = filters.language.lower()
    return lambda path, language: (
        (not wanted or holds_language(wanted, language, path))
        and (matches is None or matches(compose(path)))
        and (not filters.kind or _is_of_kind(filters.kind, path, language, roles))
    )


def _is_of_kind(kind: str, path: str, language: str, roles: Roles) -> bool:
    if kind == "test":
        return roles.is_test(path)
    if kind == "doc":
        return is_docs(language)
    return not (roles.is_test(path) or is_docs(language) or is_data(language))


def explain_filters(filters: Filters, paths: Collection[str], file: str = "file of the index") -> tuple[str, ...]:
    """The reasons why none of these paths, of which each is a `file`, passes the filters, in words that name what would."""
    if filters.path_glob:
        matches = glob_matcher(filters.path_glob, paths)
        count = sum(map(matches, paths))
        if not count:
            near = nearest_text(nearest_to_glob(filters.path_glob, paths)).removesuffix("; ")
            return (f"path_glob = {filters.path_glob!r} matches no {file}", *([near] if near else ()))
        if filters.language or filters.kind:
            others = " and ".join(filter(None, (filters.language, filters.kind and f"of kind {filters.kind}")))
            return (f"path_glob = {filters.path_glob!r} matches {_count_files(count, file)}, but none is {others}",)
    return (f"no {file} passes the filters: check language, path_glob and kind",)


def _count_files(count: int, file: str) -> str:
    return f"1 {file}" if count == 1 else f"{count:,} {file.replace('file', 'files')}"
