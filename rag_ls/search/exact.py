"""Finds all places that hold a literal text or match a regular expression, in the documents that a client sees."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag_ls.model import Occurrence
from rag_ls.search.text_patterns import UNCOUNTED_LINES, LineMatch, TextPattern, cut_line
from rag_ls.search.view import View
from rag_ls.storage import DISK, FoundPassages, Numbers, SearchedDocuments, StoredSymbol
from rag_ls.util.text import MARK, column_in_bytes, lines_of

MAX_OCCURRENCES = 100_000
"""More places are not counted."""
# About so much text is looked into at once.
_KILOBYTES_AT_ONCE = 2000
# If documents change while they are searched, they are searched again up to this many times.
_ROUNDS = 3


class DocumentPlaces(NamedTuple):
    """The number of lines of one document that match, and where to read them. There may be ten thousand: see `LineMatch`."""

    role: int
    """0 for code, 1 for tests, 2 for documentation and data."""
    path: str
    session: str
    lines: int
    """Those that match."""
    whole: int
    """Those of them with a whole match, see `LineMatch.is_whole`."""
    document_id: int = 0
    """In the index; 0 for a file that was read as it is, whose lines are those of `text`."""
    begin: int = 0
    end: int = 0
    """Its part of `passages`."""
    passages: MatchingPassages | None = None
    text: str = ""

    @property
    def is_indexed(self) -> bool:
        """Whether the text is the index's."""
        return self.passages is not None


class MatchingPassages(NamedTuple):
    """Passages with lines that match, those of one document side by side."""

    found: FoundPassages
    numbers: Numbers
    """Those of them that have any."""
    lines: Numbers
    """The number of lines in each, of shape (passages,)."""
    whole: Numbers
    """Those of them with a whole match."""


class PlaceInDocument(NamedTuple):
    """A line that matches, with its text."""

    document: DocumentPlaces
    match: LineMatch
    text: str


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The places found in the documents that were looked into."""

    documents: list[DocumentPlaces]
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
    hidden = set(view.hidden)
    if without:
        hidden |= {row for row, path, _, session in store.document_paths() if session == DISK and path in without}
    documents: list[DocumentPlaces] = []
    unread, again = 0, view.allowed
    for _ in range(_ROUNDS):
        found = store.signatures.find_passages(pattern.needs)
        shown = ~_are_among(found.documents, hidden)
        if again is not None:
            shown &= _are_among(found.documents, again)
        matching, left, again = _look_into(found, np.flatnonzero(shown), pattern, deadline, at_most)
        documents += _list_documents(store, view, matching)
        unread += left
        if not again:
            break
    return Occurrences(documents, unread + len(again or ()))


def _look_into(
    found: FoundPassages, passages: Numbers, pattern: TextPattern, deadline: float, at_most: int
) -> tuple[MatchingPassages, int, frozenset[int]]:
    """The passages that match, the number of documents that were left out, and those that changed meanwhile."""
    counts = np.zeros((2, len(passages)), np.int64)
    changed: set[int] = set()
    documents, sizes = found.documents[passages], found.kilobytes[passages]
    begins = _find_begins(documents)
    # No document is in two parts.
    parts = _find_begins((np.cumsum(sizes) - sizes)[begins] // _KILOBYTES_AT_ONCE + 1)
    at = count = 0
    for end in (*begins[parts[1:]].tolist(), len(passages)):
        if time.monotonic() > deadline or count >= at_most:
            break
        owners = documents[at:end]
        texts = found.read(passages[at:end])
        if None in texts:
            changed.update(owner for owner, text in zip(owners.tolist(), texts, strict=True) if text is None)
        counts[:, at:end] = pattern.count_lines([text or b"" for text in texts], owners)
        count, at = int(counts[0].sum()), end
    too_slow = set(documents[counts[0] == UNCOUNTED_LINES].tolist())
    kept = np.flatnonzero(counts[0] > 0)
    if too_slow or changed:
        kept = kept[~_are_among(documents[kept], too_slow | changed)]
    matching = MatchingPassages(found, passages[kept], counts[0, kept], counts[1, kept])
    return matching, len(too_slow) + int(np.count_nonzero(begins >= at)), frozenset(changed)


def _find_begins(values: Numbers) -> Numbers:
    """The places where another value begins; none is 0."""
    return np.flatnonzero(np.diff(values, prepend=0))


def _are_among(documents: Numbers, wanted: Collection[int]) -> NDArray[np.bool_]:
    return np.isin(documents, np.fromiter(wanted, np.int64, len(wanted)))


def _list_documents(store: SearchedDocuments, view: View, matching: MatchingPassages) -> list[DocumentPlaces]:
    documents = matching.found.documents[matching.numbers]
    begins = _find_begins(documents)
    if not len(begins):
        return []
    numbers = documents[begins].tolist()
    ends = (*begins[1:].tolist(), len(documents))
    lines, whole = (np.add.reduceat(counts, begins).tolist() for counts in (matching.lines, matching.whole))
    rows = {row[0]: row for row in store.document_paths(numbers)}
    place = view.roles.place_in_order
    return [
        DocumentPlaces._make((place(row[1], row[2]), row[1], row[3], *counted, number, *bounds, matching, ""))
        for number, counted, bounds in zip(
            numbers, zip(lines, whole, strict=True), zip(begins.tolist(), ends, strict=True), strict=True
        )
        # Others were deleted meanwhile.
        if (row := rows.get(number))
    ]


def choose_first(
    pattern: TextPattern,
    documents: Iterable[DocumentPlaces],
    declared: Mapping[str, frozenset[int]],
    count: int,
    *,
    files_only: bool,
) -> list[PlaceInDocument]:
    """The first `count` places: whole words first, declarations before uses, tests and texts last.

    `declared` has the lines that declare the name that is looked for, by path. With `files_only`, each document once.
    """  # fmt: skip
    ordered = sorted(documents, key=itemgetter(0, 1, 2))
    needed = _choose_documents(ordered, declared, count, files_only=files_only)
    places = _find_places(pattern, needed)
    chosen: list[PlaceInDocument] = []
    seen: set[int] = set()
    for is_whole, is_declared in ((True, True), (True, False), (False, True), (False, False)):
        for at, document in enumerate(needed):
            lines = declared.get(document.path, frozenset())
            for place in places[at] if lines or not is_declared else ():
                if place.match.is_whole is not is_whole or (place.match.line in lines) is not is_declared:
                    continue
                if files_only and at in seen:
                    break
                seen.add(at)
                chosen.append(place)
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
            if found := document.whole if is_whole else document.lines - document.whole:
                left -= (at not in chosen) if files_only else found
                chosen.add(at)
    return [ordered[at] for at in sorted(chosen)]


def _find_places(pattern: TextPattern, documents: Sequence[DocumentPlaces]) -> list[list[PlaceInDocument]]:
    """The lines of each document that match."""
    found = []
    for document, passages in zip(documents, _read_passages(documents), strict=True):
        places: list[PlaceInDocument] = []
        for before, text in passages:
            if matches := pattern.find_lines(text):
                lines = lines_of(text)
                places += [
                    PlaceInDocument(
                        document, match._replace(line=before + match.line), lines[match.line - 1].removeprefix(MARK)
                    )
                    for match in matches
                ]
        found.append(places)
    return found


def _read_passages(documents: Sequence[DocumentPlaces]) -> list[list[tuple[int, str]]]:
    """The passages of each document, with the number of lines before each."""
    read: list[list[tuple[int, str]]] = [[(0, document.text)] if document.text else [] for document in documents]
    for matching in {id(document.passages): document.passages for document in documents if document.passages}.values():
        among = [
            (at, number)
            for at, document in enumerate(documents)
            if document.passages is matching
            for number in matching.numbers[document.begin : document.end].tolist()
        ]
        numbers = np.array([number for _, number in among], np.int64)
        before = (matching.found.first_lines[numbers] - 1).tolist()
        for (at, _), text, lines in zip(among, matching.found.read(numbers), before, strict=True):
            # The document may have been stored again meanwhile.
            read[at].append((lines, (text or b"").decode("utf-8", "surrogatepass")))
    return read


def show_places(store: SearchedDocuments, places: Sequence[PlaceInDocument], symbols_at_most: int) -> list[Occurrence]:
    """Places with the innermost declarations around them."""
    stored = {document.document_id for document, _, _ in places if document.is_indexed}
    around: dict[int, list[StoredSymbol]] = {}
    for symbol in store.outlines.of_documents(stored, symbols_at_most) if stored else ():
        around.setdefault(symbol.document_id, []).append(symbol)
    shown = []
    for document, match, line in places:
        holder = _innermost(around.get(document.document_id, ()), match.line)
        column, in_bytes = match.column, column_in_bytes(line, match.column)
        occurrence = Occurrence(
            path=document.path, line=match.line, column=column, byte_column=in_bytes, text=cut_line(line, column),
            is_whole=match.is_whole, role=document.role, symbol=holder,
        )  # fmt: skip
        shown.append(occurrence)
    return shown


def _innermost(symbols: Iterable[StoredSymbol], line: int) -> str:
    holders = [
        (symbol.start_line, -symbol.end_line, symbol.symbol)
        for symbol in symbols
        if symbol.start_line <= line <= symbol.end_line
    ]
    return max(holders)[2] if holders else ""
