"""Finds all places that hold a literal text or match a regular expression, in the documents that a client sees."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag_ls.model import Occurrence
from rag_ls.search.document_order import OrderedDocument, OrderedDocuments
from rag_ls.search.line_matches import LineMatch, cut_line
from rag_ls.search.text_patterns import TextPattern
from rag_ls.search.view import View
from rag_ls.storage import DISK, FoundPassages, Numbers, SearchedDocuments, StoredSymbol
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import column_in_bytes

NO_PASSAGES = np.zeros(0, np.int64)
MAX_OCCURRENCES = 100_000
"""More places are not counted."""
# About so much text is looked into at once.
_KILOBYTES_AT_ONCE = 2000
# If documents change while they are searched, they are searched again up to this many times.
_ROUNDS = 3


class DocumentPlaces(NamedTuple):
    """The lines of one document that match, and where to read them."""

    document: OrderedDocument
    lines: int
    """The number of those that match."""
    whole: int
    """Those of them with a whole match, see `LineMatch.is_whole`."""
    found: FoundPassages | None = None
    """The passages of the index that hold them; None for a file that was read as it is."""
    passages: Numbers = NO_PASSAGES
    """Those of `found` that hold any."""
    text: bytes = b""
    """That of such a file, its lines ended by LF."""


@dataclass(frozen=True, slots=True)
class MatchingDocuments:
    """The documents of an index that hold lines that match, in their order."""

    lines: Numbers
    """The number of lines in each, of shape (documents,)."""
    whole: Numbers
    """Those of them with a whole match."""
    _documents: OrderedDocuments
    _ranks: Numbers
    """The place of each in `_documents`."""
    _found: FoundPassages
    _passages: Numbers
    """Those that hold the lines."""
    _begins: Numbers
    _ends: Numbers
    """The part of `_passages` that each has."""

    @classmethod
    def gather(
        cls, documents: OrderedDocuments, found: FoundPassages, passages: Numbers, counts: Numbers
    ) -> MatchingDocuments:
        """The documents of passages with lines that match; `counts` has the lines, and the whole ones, of shape (2, passages)."""
        ids = found.documents[passages]
        begins = _find_begins(ids)
        ranks = documents.find_ranks(ids[begins])
        # Others were deleted meanwhile.
        order = np.argsort(ranks)[np.count_nonzero(ranks < 0) :]
        lines, whole = np.add.reduceat(counts, begins, axis=1) if len(begins) else counts
        ends = np.append(begins[1:], len(passages))
        return cls(
            lines=lines[order],
            whole=whole[order],
            _documents=documents,
            _ranks=ranks[order],
            _found=found,
            _passages=passages,
            _begins=begins[order],
            _ends=ends[order],
        )

    def describe(self, numbers: Numbers) -> list[DocumentPlaces]:
        """Some of the documents."""
        columns = (self._ranks, self.lines, self.whole, self._begins, self._ends)
        return [
            DocumentPlaces(self._documents.documents[rank], lines, whole, self._found, self._passages[begin:end])
            for rank, lines, whole, begin, end in zip(*(column[numbers].tolist() for column in columns), strict=True)
        ]

    def without(self, paths: Collection[str]) -> MatchingDocuments:
        """Without the files at some paths."""
        documents = (self._documents.documents[rank] for rank in self._ranks.tolist())
        kept = np.flatnonzero([document.session != DISK or document.path not in paths for document in documents])
        return replace(
            self,
            lines=self.lines[kept],
            whole=self.whole[kept],
            _ranks=self._ranks[kept],
            _begins=self._begins[kept],
            _ends=self._ends[kept],
        )

    def find_paths(self, paths: Collection[str]) -> list[int]:
        """The documents with some paths."""
        documents = self._documents.documents
        return [at for at, rank in enumerate(self._ranks.tolist()) if documents[rank].path in paths] if paths else []


class PlaceInDocument(NamedTuple):
    """A line that matches."""

    places: DocumentPlaces
    match: LineMatch


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The places found in the documents that were looked into."""

    documents: tuple[MatchingDocuments, ...] = ()
    files: tuple[DocumentPlaces, ...] = ()
    """Files that were read as they are."""
    unread: int = 0
    """The number of documents that there was no time or room for."""

    @property
    def lines(self) -> int:
        """The number of lines that match."""
        return sum(int(each.lines.sum()) for each in self.documents) + sum(each.lines for each in self.files)

    @property
    def whole(self) -> int:
        """Those of them with a whole match."""
        return sum(int(each.whole.sum()) for each in self.documents) + sum(each.whole for each in self.files)

    @property
    def file_count(self) -> int:
        """The number of documents that hold them."""
        return sum(len(each.lines) for each in self.documents) + len(self.files)

    def without(self, paths: Collection[str]) -> Occurrences:
        """Without what the index has of the files at some paths."""
        return replace(self, documents=tuple(each.without(paths) for each in self.documents))


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
    """
    hidden = set(view.hidden)
    if without:
        hidden |= {row for row, path, _, session in store.document_paths() if session == DISK and path in without}
    parts: list[MatchingDocuments] = []
    unread = 0
    again: frozenset[int] | None = view.allowed
    for _ in range(_ROUNDS):
        found = store.signatures.find_passages(pattern.needs)
        shown = ~_are_among(found.documents, hidden)
        if again is not None:
            shown &= _are_among(found.documents, again)
        passages, counts, left, changed = _look_into(found, np.flatnonzero(shown), pattern, deadline, at_most)
        rows = store.document_paths(np.unique(found.documents[passages]).tolist())
        parts.append(MatchingDocuments.gather(view.order.arrange(rows, view.roles), found, passages, counts))
        unread += left
        if not changed:
            break
        again = changed
    return Occurrences(tuple(parts), unread=unread + len(changed))


def _look_into(
    found: FoundPassages, passages: Numbers, pattern: TextPattern, deadline: float, at_most: int
) -> tuple[Numbers, Numbers, int, frozenset[int]]:
    """The passages with lines that match, their counts, the number of documents that were left out, and those that changed meanwhile."""
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
        texts = found.read(passages[at:end])
        if None in texts:
            changed.update(documents[at:end][[text is None for text in texts]].tolist())
        counts[:, at:end] = pattern.find([text or b"" for text in texts]).count()
        count, at = int(counts[0].sum()), end
    kept = np.flatnonzero(counts[0])
    kept = kept[~_are_among(documents[kept], changed)]
    return passages[kept], counts[:, kept], int(np.count_nonzero(begins >= at)), frozenset(changed)


def _find_begins(values: Numbers) -> Numbers:
    """The places where another value begins; none is 0."""
    return np.flatnonzero(np.diff(values, prepend=0))


def _are_among(documents: Numbers, wanted: Collection[int]) -> NDArray[np.bool_]:
    return np.isin(documents, np.fromiter(wanted, np.int64, len(wanted)))


def choose_first(
    pattern: TextPattern,
    found: Occurrences,
    declared: Mapping[str, frozenset[int]],
    count: int,
    *,
    files_only: bool,
) -> list[PlaceInDocument]:
    """The first `count` places: whole words first, declarations before uses, tests and texts last.

    `declared` has the lines that declare the name that is looked for, by path. With `files_only`, each document once.
    """  # fmt: skip
    needed = [
        document
        for part in found.documents
        for document in part.describe(
            _choose_documents(part.lines, part.whole, part.find_paths(declared), count, files_only=files_only)
        )
    ]
    files = sorted(found.files, key=itemgetter(0))
    in_lines, in_whole = np.array([(each.lines, each.whole) for each in files], np.int64).reshape(-1, 2).T
    first = [at for at, each in enumerate(files) if each.document.path in declared]
    needed += [files[at] for at in _choose_documents(in_lines, in_whole, first, count, files_only=files_only).tolist()]
    needed.sort(key=itemgetter(0))
    owners, before, texts = _read_passages(needed)
    lines = pattern.find(texts)
    holders = owners[lines.holders]
    numbers = before[lines.holders] + lines.number()
    is_declared = np.zeros(len(numbers), np.bool_)
    for at, places in enumerate(needed):
        if here := declared.get(places.document.path):
            is_declared |= (holders == at) & np.isin(numbers, list(here))
    order = np.lexsort((numbers, holders, ~is_declared, ~lines.is_whole))
    if files_only:
        order = order[np.sort(np.unique(holders[order], return_index=True)[1])]
    chosen = (order[:count], holders[order], numbers[order])
    return [
        PlaceInDocument(needed[holder], lines.describe(at, number))
        for at, holder, number in zip(*(each.tolist() for each in chosen), strict=False)
    ]


def _choose_documents(
    lines: Numbers, whole: Numbers, declared: Sequence[int], count: int, *, files_only: bool
) -> Numbers:
    """The documents, of those in order, that hold the first places, and maybe some more."""
    chosen = [np.array(declared, np.int64)]
    for found in (whole > 0, (lines > 0) & (whole == 0)) if files_only else (whole, lines - whole):
        before = np.cumsum(found, dtype=np.int64) - found
        chosen.append(np.flatnonzero((found > 0) & (before < count)))
        count -= int(found.sum())
    return np.unique(np.concatenate(chosen))


def _read_passages(documents: Sequence[DocumentPlaces]) -> tuple[Numbers, Numbers, list[bytes]]:
    """The passages of some documents: the document of each by index, the number of lines before it, and its text."""
    of_files = [at for at, document in enumerate(documents) if document.found is None]
    owners, before = [np.array(of_files, np.int64)], [np.zeros(len(of_files), np.int64)]
    texts = [documents[at].text for at in of_files]
    for found in {id(document.found): document.found for document in documents if document.found is not None}.values():
        among = [(at, document.passages) for at, document in enumerate(documents) if document.found is found]
        passages = np.concatenate([numbers for _, numbers in among])
        owners.append(np.repeat([at for at, _ in among], [len(numbers) for _, numbers in among]))
        before.append(found.first_lines[passages] - 1)
        # The document may have been stored again meanwhile.
        texts += [text or b"" for text in found.read(passages)]
    return np.concatenate(owners), np.concatenate(before), texts


def show_places(store: SearchedDocuments, chosen: Sequence[PlaceInDocument], symbols_at_most: int) -> list[Occurrence]:
    """Places with the innermost declarations around them."""
    stored = {places.document.document_id for places, _ in chosen if places.found is not None}
    around: dict[int, list[StoredSymbol]] = {}
    for symbol in store.outlines.of_documents(stored, symbols_at_most) if stored else ():
        around.setdefault(symbol.document_id, []).append(symbol)
    shown = []
    for (document, *_), (line, column, is_whole, text) in chosen:
        occurrence = Occurrence(
            path=document.path, line=line, column=column, byte_column=column_in_bytes(text, column),
            text=cut_line(text, column), is_whole=is_whole, role=document.role,
            symbol=_innermost(around.get(document.document_id, ()), line),
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
