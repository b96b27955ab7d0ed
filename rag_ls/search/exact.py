"""Finds all places that hold a literal text or match a regular expression, in the documents that a client sees."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_ls.model import Occurrence
from rag_ls.search.text_patterns import LineMatch, TextPattern, cut_line
from rag_ls.search.view import View
from rag_ls.storage import DISK, Passage, SearchedDocuments, StoredSymbol, take_lines
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
    replaced: set[int] = set()
    if without:
        replaced = {row for row, path, _, session in store.document_paths() if session == DISK and path in without}
    passages = [
        each
        for each in store.signatures.find_passages(pattern.needs)
        if view.shows(each.document_id) and each.document_id not in replaced
    ]
    matches: dict[int, list[LineMatch]] = {}
    left, count = len(passages), 0
    for at in range(0, len(passages), _DOCUMENTS_AT_ONCE):
        if time.monotonic() > deadline or count >= at_most:
            break
        part = passages[at : at + _DOCUMENTS_AT_ONCE]
        for passage, text in store.signatures.read_passages(part):
            if found := pattern.find_lines(text):
                count += len(found)
                matches[passage.document_id] = _move(found, passage.first - 1)
        left -= len(part)
    return Occurrences(
        tuple(
            DocumentPlaces(path, view.roles.place_in_order(path, language), matches[number], session, number)
            for number, path, language, session in store.document_paths(matches)
        ),
        left,
    )


def _move(matches: list[LineMatch], lines: int) -> list[LineMatch]:
    return [LineMatch(line + lines, column, is_whole) for line, column, is_whole in matches] if lines else matches


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
    stored: dict[int, list[int]] = {}
    for document, match in places:
        if document.document_id:
            stored.setdefault(document.document_id, []).append(match.line)
    passages = [Passage(number, min(lines), max(lines)) for number, lines in stored.items()]
    texts = {each.document_id: (each, text) for each, text in store.signatures.read_passages(passages)}
    around: dict[int, list[StoredSymbol]] = {}
    for symbol in store.outlines.of_documents(stored, symbols_at_most) if stored else ():
        around.setdefault(symbol.document_id, []).append(symbol)
    return [
        Occurrence(
            path=document.path, line=match.line, column=match.column, is_whole=match.is_whole, role=document.role,
            text=cut_line(_read_line(document, match, texts), match.column),
            symbol=_innermost(around.get(document.document_id, ()), match.line),
        )
        for document, match in places
    ]  # fmt: skip


def _read_line(document: DocumentPlaces, match: LineMatch, texts: Mapping[int, tuple[Passage, str]]) -> str:
    if not document.document_id:
        return lines_of(document.text)[match.line - 1].removeprefix(MARK)
    # The document may have been stored anew meanwhile.
    passage, text = texts.get(document.document_id, (Passage(0), ""))
    return take_lines(text, passage.first, match.line, match.line).removesuffix("\n").removeprefix(MARK)


def _innermost(symbols: Iterable[StoredSymbol], line: int) -> str:
    holders = [
        (symbol.start_line, -symbol.end_line, symbol.symbol)
        for symbol in symbols
        if symbol.start_line <= line <= symbol.end_line
    ]
    return max(holders)[2] if holders else ""
