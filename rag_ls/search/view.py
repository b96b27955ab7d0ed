"""The versions of documents that count: of each, the asking session's unsaved text, another live session's, or the file's."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from dataclasses import dataclass

from rag_ls.project import is_guest
from rag_ls.search.roles import is_data, is_docs, is_test
from rag_ls.storage import DISK, SearchedDocuments
from rag_ls.util.linear_globs import Element, LinearGlob, is_cheap


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on hits; an empty field allows everything."""

    language: str = ""
    path_glob: str = ""
    kind: str = ""
    """One of `DOCUMENT_KINDS`."""


NO_FILTERS = Filters()
DOCUMENT_KINDS = ("code", "doc", "test")
# No real path is longer or has more parts.
_MAX_GLOB_CHARACTERS = 4096
_ELEMENTS = {
    # The first is left out alone or with the rest, and does not repeat: `a**/b` is no name of `axb`.
    "**/": (Element(".", skips=(1, 3)), Element(".", repeats=True, skips=(1,)), Element("/")),
    "**": (Element(".", repeats=True, skips=(1,)),),
    "*": (Element("[^/]", repeats=True, skips=(1,)),),
    "?": (Element("[^/]"),),
}
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@dataclass(frozen=True, slots=True)
class View:
    """The documents that may be hits."""

    hidden: frozenset[int]
    """Documents that another version of the same file replaces."""
    allowed: frozenset[int] | None
    """The documents that pass the filters; None where there are no filters."""

    def shows(self, document_id: int) -> bool:
        """Whether a chunk of this document may be a hit."""
        return document_id not in self.hidden and (self.allowed is None or document_id in self.allowed)


def current_view(store: SearchedDocuments, session: str, is_live: Callable[[str], bool], filters: Filters) -> View:
    """The view of one editing session (or of a process without one) at this moment."""
    winners: dict[str, int] = {}
    losers: set[int] = set()
    # Ordered by time, so that a later change by another session replaces an earlier one; one's own always wins.
    unsaved = [document for document in store.unsaved_documents() if document.session != session]
    for document in unsaved:
        if is_live(document.session) and not is_guest(document.path):
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
    return View(frozenset(losers), _allowed(store, filters))


def _allowed(store: SearchedDocuments, filters: Filters) -> frozenset[int] | None:
    if filters == NO_FILTERS:
        return None
    matches = glob_matcher(filters.path_glob) if filters.path_glob else None
    language = filters.language.lower()
    return frozenset(
        number
        for number, path, document_language, _ in store.document_paths()
        if (not language or document_language == language)
        and (matches is None or matches(path))
        and (not filters.kind or _is_of_kind(filters.kind, path, document_language))
    )


def _is_of_kind(kind: str, path: str, language: str) -> bool:
    if kind == "test":
        return is_test(path)
    if kind == "doc":
        return is_docs(language)
    return not (is_test(path) or is_docs(language) or is_data(language))


def glob_matcher(pattern: str) -> Callable[[str], bool]:
    """A function that tells whether a project path matches a glob. `**` spans folders.

    A pattern without `/` applies to the file name. `src/**/*.py` matches files directly in `src` too; a pattern that
    ends in `/` matches everything below that folder.
    """
    if len(pattern) > _MAX_GLOB_CHARACTERS:
        return lambda path: False
    # Collapse runs of wildcards: they mean the same as one, and would take exponential time to match.
    pattern = re.sub(r"\*{3,}", "**", re.sub(r"(?:\*\*/)+", "**/", pattern))
    if "/" not in pattern.rstrip("/") and not pattern.endswith("/"):
        return lambda path: fnmatch.fnmatchcase(path.rsplit("/", 1)[-1], pattern)
    pattern = pattern.removeprefix("./").removeprefix("/")
    if pattern.endswith("/"):
        pattern += "**"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    runs, folders, anywhere = (parts.count(part) for part in ("*", "**/", "**"))
    regex = re.compile("".join(_MEANINGS.get(part, re.escape(part)) for part in parts), re.DOTALL)
    linear = LinearGlob(
        [each for part in parts for each in _ELEMENTS.get(part) or [Element(re.escape(letter)) for letter in part]]
    )

    def matches(path: str) -> bool:
        if is_cheap(path, size=len(pattern), runs=runs, folders=folders, anywhere=anywhere):
            return regex.fullmatch(path) is not None
        return linear.match(path)[0]

    return matches
