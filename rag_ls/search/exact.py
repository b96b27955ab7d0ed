"""Finds all places that hold a literal text or match a regular expression, in the documents that a client sees."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from rag_ls.model import Occurrence
from rag_ls.search.roles import is_data, is_docs, is_test
from rag_ls.search.text_patterns import LineMatch, TextPattern, cut_line
from rag_ls.search.view import View
from rag_ls.storage import DISK, Passage, SearchedDocuments, StoredSymbol
from rag_ls.util.text import MARK, lines_of

MAX_OCCURRENCES = 100_000
"""More places are not counted."""
# Texts of so many documents are in memory at once.
_DOCUMENTS_AT_ONCE = 50


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
    at_most: int = MAX_OCCURRENCES,
) -> Occurrences:
    """All places in an index, save in the files `without`, which are looked into as they are on disk.

    No more documents are read after `deadline`, a time by `time.monotonic`, and once there are `at_most` places.
    Raises `InvalidRequest` for a pattern that takes too long.
    """
    documents = {
        number: (path, language, session)
        for number, path, language, session in store.document_paths()
        if view.shows(number) and not (session == DISK and path in without)
    }
    passages = [each for each in store.signatures.find_passages(pattern.needs) if each.document_id in documents]
    matches: dict[int, list[LineMatch]] = {}
    left, count = len({each.document_id for each in passages}), 0
    for part in _parts(passages):
        if time.monotonic() > deadline or count >= at_most:
            break
        for passage, text in store.signatures.read_passages(part):
            if found := pattern.find_lines(text):
                count += len(found)
                matches.setdefault(passage.document_id, []).extend(_move(found, passage.first - 1))
        left -= len({each.document_id for each in part})
    return Occurrences(
        tuple(_make_document(*documents[number], number, found) for number, found in matches.items()), left
    )


def _move(matches: list[LineMatch], lines: int) -> list[LineMatch]:
    return [LineMatch(line + lines, column, is_whole) for line, column, is_whole in matches] if lines else matches


def _make_document(path: str, language: str, session: str, number: int, matches: list[LineMatch]) -> DocumentPlaces:
    return DocumentPlaces(path, role_of(path, language), matches, session, number)


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
    stored = [(document.document_id, match.line) for document, match in places if document.document_id]
    lines = store.signatures.read_passages([Passage(number, line, line) for number, line in stored]) if stored else []
    texts = {(passage.document_id, passage.first): text.removesuffix("\n") for passage, text in lines}
    around: dict[int, list[StoredSymbol]] = {}
    for symbol in store.outlines.of_documents({number for number, _ in stored}, symbols_at_most) if stored else ():
        around.setdefault(symbol.document_id, []).append(symbol)
    return [
        Occurrence(
            path=document.path, line=match.line, column=match.column, is_whole=match.is_whole, role=document.role,
            text=cut_line(_read_line(document, match, texts), match.column),
            symbol=_innermost(around.get(document.document_id, ()), match.line),
        )
        for document, match in places
    ]  # fmt: skip


def _read_line(document: DocumentPlaces, match: LineMatch, texts: Mapping[tuple[int, int], str]) -> str:
    if not document.document_id:
        return lines_of(document.text)[match.line - 1].removeprefix(MARK)
    # The document may have been stored anew meanwhile.
    return texts.get((document.document_id, match.line), "").removeprefix(MARK)


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


def _parts(passages: Iterable[Passage]) -> Iterator[list[Passage]]:
    """The passages of some documents at a time."""
    of_documents = (list(each) for _, each in groupby(passages, key=lambda passage: passage.document_id))
    while part := [passage for each in islice(of_documents, _DOCUMENTS_AT_ONCE) for passage in each]:
        yield part
