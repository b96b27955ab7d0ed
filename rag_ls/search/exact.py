"""Finds all places that hold a literal text or match a regular expression, in the documents that a client sees."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag_ls.model import Occurrence
from rag_ls.search.text_patterns import LineCount, LineMatch, TextPattern, cut_line
from rag_ls.search.view import View
from rag_ls.storage import DISK, Passage, SearchedDocuments, StoredSymbol, take_lines
from rag_ls.util.text import MARK, column_in_bytes, lines_of

MAX_OCCURRENCES = 100_000
"""More places are not counted."""
NO_PASSAGE = Passage(0)
# The texts of this many documents are in memory at once.
_DOCUMENTS_AT_ONCE = 400


class DocumentPlaces(NamedTuple):
    """The number of lines of one document that match, and where to read them. There may be ten thousand: see `LineMatch`."""

    path: str
    role: int
    """0 for code, 1 for tests, 2 for documentation and data."""
    matching: LineCount
    session: str = DISK
    passage: Passage = NO_PASSAGE
    """The lines of the index that hold them."""
    text: str = ""
    """The text of a file that was read as it is."""

    @property
    def is_indexed(self) -> bool:
        """Whether the text is the index's."""
        return self.passage is not NO_PASSAGE


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The places found in the documents that were looked into."""

    documents: tuple[DocumentPlaces, ...]
    unread: int = 0
    """The number of documents that there was no time or room for, or that the pattern takes too long in."""


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
    Raises `InvalidRequest` for a pattern that takes too long in several documents.
    """
    replaced: set[int] = set()
    if without:
        replaced = {row for row, path, _, session in store.document_paths() if session == DISK and path in without}
    passages = [
        each
        for each in store.signatures.find_passages(pattern.needs)
        if view.shows(each.document_id) and each.document_id not in replaced
    ]
    counts: dict[int, tuple[Passage, LineCount]] = {}
    left, count = len(passages), 0
    for at in range(0, len(passages), _DOCUMENTS_AT_ONCE):
        if time.monotonic() > deadline or count >= at_most:
            break
        part = passages[at : at + _DOCUMENTS_AT_ONCE]
        read = store.signatures.read_passages(part)
        for (passage, _), found in zip(read, pattern.count_lines([text for _, text in read]), strict=True):
            if found is None:
                left += 1
            elif found.lines:
                count += found.lines
                counts[passage.document_id] = passage, found
        left -= len(part)
    return Occurrences(
        tuple(
            DocumentPlaces(
                path, view.roles.place_in_order(path, language), counts[number][1], session, counts[number][0]
            )
            for number, path, language, session in store.document_paths(counts)
        ),
        left,
    )


def choose_first(
    store: SearchedDocuments,
    pattern: TextPattern,
    documents: Iterable[DocumentPlaces],
    declared: Mapping[str, frozenset[int]],
    count: int,
    *,
    files_only: bool,
) -> list[tuple[DocumentPlaces, LineMatch]]:
    """The first `count` places: whole words first, declarations before uses, tests and texts last.

    `declared` has the lines that declare the name that is looked for, by path. With `files_only`, each document once.
    """  # fmt: skip
    ordered = sorted(documents, key=lambda document: (document.role, document.path, document.session))
    needed = _choose_documents(ordered, declared, count, files_only=files_only)
    matches = _find_matches(store, pattern, needed)
    chosen: list[tuple[DocumentPlaces, LineMatch]] = []
    seen: set[int] = set()
    for is_whole, is_declared in ((True, True), (True, False), (False, True), (False, False)):
        for at, document in enumerate(needed):
            lines = declared.get(document.path, frozenset())
            for match in matches[at] if lines or not is_declared else ():
                if match.is_whole is not is_whole or (match.line in lines) is not is_declared:
                    continue
                if files_only and at in seen:
                    break
                seen.add(at)
                chosen.append((document, match))
                if len(chosen) == count:
                    return chosen
    return chosen


def _choose_documents(
    ordered: Sequence[DocumentPlaces], declared: Mapping[str, frozenset[int]], count: int, *, files_only: bool
) -> list[DocumentPlaces]:
    """The documents, in the same order, that hold the first places, and maybe some more."""
    chosen, left = {at for at, document in enumerate(ordered) if document.path in declared}, count
    for is_whole in (True, False):
        for at, document in enumerate(ordered):
            if left <= 0:
                break
            if found := document.matching.whole if is_whole else document.matching.lines - document.matching.whole:
                left -= (at not in chosen) if files_only else found
                chosen.add(at)
    return [ordered[at] for at in sorted(chosen)]


def _find_matches(
    store: SearchedDocuments, pattern: TextPattern, documents: Sequence[DocumentPlaces]
) -> list[list[LineMatch]]:
    """The lines of each document that match."""
    texts = _read_texts(store, [document.passage for document in documents if document.is_indexed])
    found = []
    for document in documents:
        passage, text = texts.get(
            document.passage.document_id, (NO_PASSAGE, document.text.encode("utf-8", "surrogatepass"))
        )
        moved = passage.first - 1
        matches = pattern.find_lines(text.decode("utf-8", "surrogatepass"))
        found.append([match._replace(line=match.line + moved) for match in matches] if moved else matches)
    return found


def _read_texts(store: SearchedDocuments, passages: Sequence[Passage]) -> dict[int, tuple[Passage, bytes]]:
    return {each.document_id: (each, text) for each, text in store.signatures.read_passages(passages)}


def show_places(
    store: SearchedDocuments, places: Sequence[tuple[DocumentPlaces, LineMatch]], symbols_at_most: int
) -> list[Occurrence]:
    """Places with their lines' texts and the innermost declarations around them."""
    stored: dict[int, list[int]] = {}
    for document, match in places:
        if document.is_indexed:
            stored.setdefault(document.passage.document_id, []).append(match.line)
    passages = [Passage(number, min(lines), max(lines)) for number, lines in stored.items()]
    texts = _read_texts(store, passages)
    around: dict[int, list[StoredSymbol]] = {}
    for symbol in store.outlines.of_documents(stored, symbols_at_most) if stored else ():
        around.setdefault(symbol.document_id, []).append(symbol)
    shown = []
    for document, match in places:
        line = _read_line(document, match, texts)
        holder = _innermost(around.get(document.passage.document_id, ()), match.line)
        column, in_bytes = match.column, column_in_bytes(line, match.column)
        occurrence = Occurrence(
            path=document.path, line=match.line, column=column, byte_column=in_bytes, text=cut_line(line, column),
            is_whole=match.is_whole, role=document.role, symbol=holder,
        )  # fmt: skip
        shown.append(occurrence)
    return shown


def _read_line(document: DocumentPlaces, match: LineMatch, texts: Mapping[int, tuple[Passage, bytes]]) -> str:
    if not document.is_indexed:
        return lines_of(document.text)[match.line - 1].removeprefix(MARK)
    # The document may have been stored again meanwhile.
    passage, text = texts.get(document.passage.document_id, (NO_PASSAGE, b""))
    line = take_lines(text, passage.first, match.line, match.line).decode("utf-8", "surrogatepass")
    return line.removesuffix("\n").removeprefix(MARK)


def _innermost(symbols: Iterable[StoredSymbol], line: int) -> str:
    holders = [
        (symbol.start_line, -symbol.end_line, symbol.symbol)
        for symbol in symbols
        if symbol.start_line <= line <= symbol.end_line
    ]
    return max(holders)[2] if holders else ""
