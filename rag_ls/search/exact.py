"""Finds all places that hold a literal text or match a regular expression, in the documents that a client sees."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag_ls.chunking import source_lines
from rag_ls.model import Occurrence
from rag_ls.search.text_patterns import LineMatch, TextPattern, cut_line, describe_line
from rag_ls.search.view import OrderedDocument, View
from rag_ls.storage import DISK, FoundPassages, Numbers, SearchedDocuments, StoredSymbol
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import column_in_bytes

MAX_OCCURRENCES = 100_000
"""More places are not counted."""
# About so much text is looked into at once.
_KILOBYTES_AT_ONCE = 2000
# If documents change while they are searched, they are searched again up to this many times.
_ROUNDS = 3


class PlaceInDocument(NamedTuple):
    """A line that matches."""

    document: OrderedDocument
    is_whole: bool
    """Whether no letter, digit or `_` continues the match."""
    match: LineMatch


@dataclass(frozen=True, slots=True)
class MatchingLines:
    """The lines that match in one state of an index, or in a file: each array is of shape (lines,)."""

    documents: Sequence[OrderedDocument]
    """In their order; not each holds a line."""
    ranks: Numbers
    """The index of each line's document."""
    passages: Numbers
    """The passage of each, in order; 0 for a file's."""
    starts: Numbers
    """The beginning of the match in the passage, in bytes."""
    is_whole: NDArray[np.bool_]
    texts: FoundPassages | bytes
    """The passages, or a file's text, whose lines end in LF."""

    @classmethod
    def of_file(cls, pattern: TextPattern, document: OrderedDocument, text: bytes) -> MatchingLines:
        """Look into a file."""
        zeros, starts, is_whole = pattern.find([text])
        return cls([document], ranks=zeros, passages=zeros, starts=starts, is_whole=is_whole, texts=text)

    @property
    def held(self) -> list[int]:
        """The documents that hold lines."""
        found: list[int] = np.unique(self.ranks).tolist()
        return found

    def without(self, paths: Collection[str]) -> MatchingLines:
        """Without the files at some paths."""
        documents = ((rank, self.documents[rank]) for rank in self.held)
        left_out = [rank for rank, document in documents if document.session == DISK and document.path in paths]
        return self.keep(~np.isin(self.ranks, left_out))

    def keep(self, lines: NDArray[np.bool_]) -> MatchingLines:
        return replace(
            self, ranks=self.ranks[lines], passages=self.passages[lines], starts=self.starts[lines],
            is_whole=self.is_whole[lines],
        )  # fmt: skip

    def choose_first(
        self, declared: Mapping[str, frozenset[int]], count: int, *, files_only: bool
    ) -> list[tuple[bool, bool, PlaceInDocument]]:
        """See `Occurrences.choose_first`; before each place, whether it is in a longer word, and declares nothing."""
        is_declared = np.zeros(len(self.ranks), np.bool_)
        for rank in self.held if declared else ():
            if lines := declared.get(self.documents[rank].path):
                among = np.flatnonzero(self.ranks == rank)
                is_declared[among] = [place.match.line in lines for place in self._describe(among)]
        order = np.lexsort((self.ranks, ~is_declared, ~self.is_whole))
        if files_only:
            order = order[np.sort(np.unique(self.ranks[order], return_index=True)[1])]
        first = order[:count]
        flags = (~self.is_whole[first]).tolist(), (~is_declared[first]).tolist()
        return list(zip(*flags, self._describe(first), strict=True))

    def _describe(self, lines: Numbers) -> list[PlaceInDocument]:
        passages = self.passages[lines]
        if isinstance(self.texts, bytes):
            texts: list[bytes | None] = [self.texts] * len(lines)
            first_lines = np.ones_like(lines)
        else:
            texts, first_lines = self.texts.read(passages), self.texts.first_lines[passages]
        columns = (self.ranks[lines], self.is_whole[lines], self.starts[lines], first_lines)
        rows = zip(texts, *(column.tolist() for column in columns), strict=True)
        # A document may have been stored again meanwhile.
        return [
            PlaceInDocument(self.documents[rank], is_whole, describe_line(text, start, first_line))
            for text, rank, is_whole, start, first_line in rows
            if text is not None
        ]


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The places found in the documents that were looked into."""

    parts: tuple[MatchingLines, ...] = ()
    unread: int = 0
    """The number of documents that there was no time or room for."""

    @property
    def lines(self) -> int:
        """The number of lines that match."""
        return sum(len(part.ranks) for part in self.parts)

    @property
    def whole(self) -> int:
        """Those of them with a whole match."""
        return sum(int(np.count_nonzero(part.is_whole)) for part in self.parts)

    @property
    def file_count(self) -> int:
        """The number of documents that hold them."""
        return sum(len(part.held) for part in self.parts)

    def without(self, paths: Collection[str]) -> Occurrences:
        """Without the files at some paths."""
        return replace(self, parts=tuple(part.without(paths) for part in self.parts))

    def choose_first(
        self, declared: Mapping[str, frozenset[int]], count: int, *, files_only: bool
    ) -> list[PlaceInDocument]:
        """The first `count` places: whole words first, declarations before uses, tests and texts last.

        `declared` has the lines that declare the name that is looked for, by path. With `files_only`, each document once.
        """
        chosen = [each for part in self.parts for each in part.choose_first(declared, count, files_only=files_only)]
        return [place for *_, place in sorted(chosen)[:count]]


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
    parts: list[MatchingLines] = []
    unread = 0
    again: Collection[int] | None = view.allowed
    for _ in range(_ROUNDS):
        found = store.signatures.find_passages(pattern.needs)
        shown = ~_are_among(found.documents, hidden)
        if again is not None:
            shown &= _are_among(found.documents, again)
        look = _Look(found, np.flatnonzero(shown))
        look.look_into(pattern, deadline, at_most)
        parts.append(look.gather(store, view))
        unread, again = unread + look.unread, look.changed
        if not again:
            break
    return Occurrences(tuple(parts), unread=unread + len(again or ()))


class _Look:
    """One look into passages of an index."""

    def __init__(self, found: FoundPassages, passages: Numbers) -> None:
        self._found = found
        self._passages = passages
        self._documents = found.documents[passages]
        # The passage, the beginning and the wholeness of the lines that match, of several batches.
        self._lines: list[tuple[Numbers, Numbers, NDArray[np.bool_]]] = []
        self.unread = 0
        """The number of documents that were left out."""
        self.changed: set[int] = set()
        """Those that changed meanwhile."""

    def look_into(self, pattern: TextPattern, deadline: float, at_most: int) -> None:
        """Look into as many as there is time and room for."""
        sizes = self._found.kilobytes[self._passages]
        begins = _find_begins(self._documents)
        # No document is in two batches.
        batches = _find_begins((np.cumsum(sizes) - sizes)[begins] // _KILOBYTES_AT_ONCE + 1)
        at = count = 0
        for end in (*begins[batches[1:]].tolist(), len(self._passages)):
            if time.monotonic() > deadline or count >= at_most:
                break
            passages = self._passages[at:end]
            texts = self._found.read(passages)
            if None in texts:
                self.changed.update(self._documents[at:end][[text is None for text in texts]].tolist())
            holders, starts, is_whole = pattern.find([text or b"" for text in texts])
            self._lines.append((passages[holders], starts, is_whole))
            count, at = count + len(starts), end
        self.unread = int(np.count_nonzero(begins >= at))

    def gather(self, store: SearchedDocuments, view: View) -> MatchingLines:
        """The lines of the documents that are still there."""
        empty = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.bool_))
        passages, starts, is_whole = map(np.concatenate, zip(empty, *self._lines, strict=True))
        documents = self._found.documents[passages]
        ordered = view.order.arrange(store.document_paths(np.unique(documents).tolist()), view.roles)
        ranks = ordered.find_ranks(documents)
        kept = (ranks >= 0) & ~_are_among(documents, self.changed)
        lines = MatchingLines(
            ordered.documents, ranks=ranks, passages=passages, starts=starts, is_whole=is_whole, texts=self._found
        )
        return lines if kept.all() else lines.keep(kept)


def _find_begins(values: Numbers) -> Numbers:
    """The places where another value begins; none is 0."""
    return np.flatnonzero(np.diff(values, prepend=0))


def _are_among(documents: Numbers, wanted: Collection[int]) -> NDArray[np.bool_]:
    return np.isin(documents, np.fromiter(wanted, np.int64, len(wanted)))


def show_places(store: SearchedDocuments, chosen: Sequence[PlaceInDocument], symbols_at_most: int) -> list[Occurrence]:
    """Places with the innermost declarations around them."""
    stored = {place.document.document_id for place in chosen} - {0}
    around: dict[int, list[StoredSymbol]] = {}
    for symbol in store.outlines.of_documents(stored, symbols_at_most) if stored else ():
        around.setdefault(symbol.document_id, []).append(symbol)
    return [
        Occurrence(
            path=document.path, line=line, column=column, byte_column=column_in_bytes(text, column),
            text=cut_line(_show_line(document.path, text), column), is_whole=is_whole, role=document.role,
            symbol=_innermost(around.get(document.document_id, ()), line),
        )
        for document, is_whole, (line, column, text) in chosen
    ]  # fmt: skip


def _show_line(path: str, line: str) -> str:
    """A line as people know it: of a notebook, that of its cell."""
    return source_lines(line) if path.lower().endswith(".ipynb") else line


def _innermost(symbols: Iterable[StoredSymbol], line: int) -> str:
    holders = [
        (symbol.start_line, -symbol.end_line, symbol.symbol)
        for symbol in symbols
        if symbol.start_line <= line <= symbol.end_line
    ]
    return max(holders)[2] if holders else ""
