"""Finds all places that hold a literal text or match a regular expression, in the documents that a client sees."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from rag_ls.model import Occurrence
from rag_ls.search.roles import is_data, is_docs, is_test
from rag_ls.search.text_patterns import LineMatch, TextPattern, cut_line
from rag_ls.search.view import View
from rag_ls.storage import DISK, SearchedDocuments, StoredSymbol
from rag_ls.util.text import lines_of

MAX_OCCURRENCES = 100_000
"""More places are not counted."""
# Texts of so many documents are in memory at once.
_DOCUMENTS_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class DocumentPlaces:
    """The lines of one document that match."""

    path: str
    role: int
    """0 for code, 1 for tests, 2 for documentation and data."""
    matches: Sequence[LineMatch]
    session: str = DISK
    document_id: int = 0
    """Its row in the index; 0 for a file that was read as it is."""
    text: str = ""
    """The text of such a file."""


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The places found in the documents that were looked into."""

    documents: tuple[DocumentPlaces, ...]
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
        if view.shows(number) and not (session == DISK and path in without)
    }
    candidates = [number for number in store.signatures.find_documents(pattern.needs) if number in documents]
    found: list[DocumentPlaces] = []
    left, count = len(candidates), 0
    for part in _parts(candidates):
        if time.monotonic() > deadline or count >= MAX_OCCURRENCES:
            break
        for number, text in store.signatures.read_texts(part):
            if matches := pattern.find_lines(text):
                path, language, session = documents[number]
                found.append(DocumentPlaces(path, role_of(path, language), matches, session, number))
                count += len(matches)
        left -= len(part)
    return Occurrences(tuple(found), left)


def choose_first(
    documents: Iterable[DocumentPlaces], declared: Mapping[str, frozenset[int]], count: int, *, files_only: bool
) -> list[tuple[DocumentPlaces, LineMatch]]:
    """The first `count` places: whole words first, declarations before uses, tests and texts last.

    `declared` has the lines that declare the name that is looked for, by path. With `files_only`, each document once.
    """
    ordered = sorted(documents, key=lambda document: (document.role, document.path, document.session))
    chosen: list[tuple[DocumentPlaces, LineMatch]] = []
    seen: set[tuple[str, str]] = set()
    for is_whole, is_declared in ((True, True), (True, False), (False, True), (False, False)):
        for document in ordered:
            lines = declared.get(document.path, frozenset())
            for match in document.matches if lines or not is_declared else ():
                if match.is_whole is not is_whole or (match.line in lines) is not is_declared:
                    continue
                if files_only and (document.path, document.session) in seen:
                    break
                seen.add((document.path, document.session))
                chosen.append((document, match))
                if len(chosen) == count:
                    return chosen
    return chosen


def show_places(
    store: SearchedDocuments, places: Sequence[tuple[DocumentPlaces, LineMatch]], symbols_at_most: int
) -> list[Occurrence]:
    """Places with their lines' texts and the innermost declarations around them."""
    numbers = {document.document_id for document, _ in places if document.document_id}
    texts = dict(store.signatures.read_texts(numbers)) if numbers else {}
    lines = {number: lines_of(text) for number, text in texts.items()}
    lines |= {-at: lines_of(document.text) for at, (document, _) in enumerate(places, 1) if not document.document_id}
    around: dict[int, list[StoredSymbol]] = {}
    for symbol in store.outlines.of_documents(numbers, symbols_at_most) if numbers else ():
        around.setdefault(symbol.document_id, []).append(symbol)
    return [
        Occurrence(
            path=document.path, line=match.line, column=match.column, is_whole=match.is_whole, role=document.role,
            text=_line_at(lines.get(document.document_id or -at, ()), match),
            symbol=_innermost(around.get(document.document_id, ()), match.line),
        )
        for at, (document, match) in enumerate(places, 1)
    ]  # fmt: skip


def _line_at(lines: Sequence[str], match: LineMatch) -> str:
    # The document may have been stored anew meanwhile.
    return cut_line(lines[match.line - 1], match.column) if match.line <= len(lines) else ""


def _innermost(symbols: Iterable[StoredSymbol], line: int) -> str:
    holders = [
        (symbol.start_line, -symbol.end_line, symbol.symbol)
        for symbol in symbols
        if symbol.start_line <= line <= symbol.end_line
    ]
    return max(holders)[2] if holders else ""


def role_of(path: str, language: str) -> int:
    """0 for code, 1 for tests, 2 for documentation and data."""
    if is_docs(language) or is_data(language):
        return 2
    return int(is_test(path))


def _parts(candidates: list[int]) -> Iterator[list[int]]:
    left = iter(candidates)
    while part := list(islice(left, _DOCUMENTS_AT_ONCE)):
        yield part
