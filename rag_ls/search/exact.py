"""Finds all places that hold a literal text or match a regular expression, in the documents that a client sees."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from rag_ls.model import Occurrence
from rag_ls.search.roles import is_data, is_docs, is_test
from rag_ls.search.text_patterns import TextPattern
from rag_ls.search.view import View
from rag_ls.storage import SearchedDocuments

MAX_OCCURRENCES = 100_000
"""More places are not counted."""
# Texts of so many documents are in memory at once.
_DOCUMENTS_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The places found in the documents that were looked into."""

    places: tuple[Occurrence, ...]
    """In the order of documents, then lines."""
    unread: int = 0
    """The number of documents that there was no time or room for."""


def find_occurrences(
    store: SearchedDocuments,
    pattern: TextPattern,
    view: View,
    deadline: float,
    without: frozenset[str] = frozenset(),
) -> Occurrences:
    """All places in an index, save in the files `without`, which are looked into as they are on disk.

    No more documents are read after `deadline`, a time by `time.monotonic`.
    Raises `InvalidRequest` for a pattern that takes too long.
    """
    documents = {
        number: (path, language, session)
        for number, path, language, session in store.document_paths()
        if view.shows(number) and not (session == "" and path in without)
    }
    candidates = [number for number in store.signatures.find_documents(pattern.needs) if number in documents]
    found: list[Occurrence] = []
    left = len(candidates)
    for part in _parts(candidates):
        if time.monotonic() > deadline or len(found) >= MAX_OCCURRENCES:
            break
        for number, text in store.signatures.read_texts(part):
            path, language, session = documents[number]
            found += occurrences_in(pattern, text, path, language, session=session, document_id=number)
        left -= len(part)
    return Occurrences(tuple(found), left)


def occurrences_in(
    pattern: TextPattern, text: str, path: str, language: str, *, session: str = "", document_id: int = 0
) -> list[Occurrence]:
    """The places in one text."""
    role = _role(path, language)
    return [
        Occurrence(
            path=path, line=match.line, column=match.column, text=match.text, is_whole=match.is_whole, role=role,
            session=session, document_id=document_id,
        )
        for match in pattern.find_lines(text)
    ]  # fmt: skip


def order(places: Iterable[Occurrence], declared: Mapping[str, frozenset[int]]) -> list[Occurrence]:
    """Places in the order in which they are shown: whole words first, declarations before uses, tests and texts last.

    `declared` has the lines that declare the name that is looked for, by path.
    """
    return sorted(
        places,
        key=lambda place: (
            not place.is_whole,
            place.line not in declared.get(place.path, ()),
            place.role,
            place.path,
            place.line,
        ),
    )


def _role(path: str, language: str) -> int:
    """0 for code, 1 for tests, 2 for documentation and data."""
    if is_docs(language) or is_data(language):
        return 2
    return int(is_test(path))


def _parts(candidates: list[int]) -> Iterator[list[int]]:
    left = iter(candidates)
    while part := list(islice(left, _DOCUMENTS_AT_ONCE)):
        yield part
