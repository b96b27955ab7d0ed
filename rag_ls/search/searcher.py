"""Answers questions with hits: collects signals, ranks the candidates, and checks each hit's file."""

from __future__ import annotations

import difflib
import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag_ls.config import SearchSettings
from rag_ls.model import Chunk, Freshness, Hit, StoredChunk
from rag_ls.search.cache import AnswerCache
from rag_ls.search.evidence import Asked, Weights, weighed, weights_for
from rag_ls.search.query import Query, analyse
from rag_ls.search.ranking import rank
from rag_ls.search.view import NO_FILTERS, Filters, View, current_view
from rag_ls.storage import DISK, ChunkRow, DocumentRecord, ProjectIndex, RankRow, stem

# Candidates per signal: more of them cost time without changing the first ten hits.
_CANDIDATES = 100
_EXACT_CANDIDATES = 50
# Ask for this many times the candidates, because some are dropped: unsaved text hides its file's chunks, and embeddings
# outlive their chunks.
_SPARE = 3
_MAX_NEIGHBOURS = 20_000
# A word in at most this many chunks is rare, however many chunks there are.
_MAX_RARE_HOLDERS = 1000
# A word of at least this length that no chunk holds may be misspelt; `_ALIKE` is how similar its replacements are.
_LONG_ENOUGH = 5
_ALIKE = 0.8
# A misspelt name is compared with at most `_MAX_ALIKE` names that begin as it does.
_SAME_BEGINNING, _MAX_ALIKE, _NEAR_NAME = 2, 3000, 0.85
# A declaration in several chunks is given as a whole up to this length.
_WHOLE_CHARACTERS = 4000

QueryVector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, best first, with statistics."""

    hits: tuple[Hit, ...]
    dense: bool
    candidates: int
    took_ms: float
    is_filtered_out: bool = False
    """Whether no document passes the filters."""


@dataclass(frozen=True, slots=True)
class Signals:
    """The value of each signal for the candidate rows."""

    dense: Mapping[int, float]
    lexical: Mapping[int, float]
    exact: Mapping[int, tuple[str, ...]]
    """Rows that the query names, and how: by `symbol`, `path` or `line`."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates with their scores, best first, before their files were checked."""

    rows: list[tuple[RankRow, float]]
    signals: Signals


class Corpus(Protocol):
    """The documents behind an index."""

    def is_live(self, session: str) -> bool:
        """Whether an editor still holds an editing session."""
        ...

    def freshness(self, document: DocumentRecord) -> Freshness | None:
        """How a document's indexed text compares with its file now; None when the file is gone."""
        ...

    def note_unembedded(self, documents: Collection[int]) -> None:
        """Note that a search returned these documents, which have no vectors yet."""


class Searcher:
    """Answers from one project's index. Safe from several threads."""

    def __init__(
        self,
        index: ProjectIndex,
        corpus: Corpus,
    ) -> None:
        self._store = index.checkout
        self._lexical = index.lexical
        self._vectors = index.vectors
        self._corpus = corpus
        self._answers: AnswerCache[Ranked] = AnswerCache(index.changes)

    def search(
        self,
        text: str,
        *,
        k: int,
        settings: SearchSettings,
        filters: Filters,
        vector: QueryVector | None,
        model_id: str,
        session: str = DISK,
        weights: Weights | None = None,
    ) -> Found:
        """The `k` best chunks for a query; `vector` is its embedding by `model_id`, or None to search by words alone.

        `session` is the editing session that asks: its own unsaved text takes precedence. `weights` override those of
        the query's kind, for benchmarks.
        """
        started = time.perf_counter()
        view = self._view(session, filters)
        query = analyse(text)
        weights = weights or weighed(weights_for(query.kind), settings)
        key = (text, weights, filters, view.hidden, model_id if vector is not None else "")
        ranked = self._answers.get(key, lambda: self._ranked(query, view, weights, vector, model_id))
        hits = self._hits(ranked.rows, ranked.signals, k)
        if unembedded := {row.document_id for row, _ in ranked.rows[:k] if not row.is_embedded}:
            self._corpus.note_unembedded(unembedded)
        is_filtered_out = view.allowed is not None and not view.allowed
        return Found(tuple(hits), bool(ranked.signals.dense), len(ranked.rows), _milliseconds(started), is_filtered_out)

    def _ranked(self, query: Query, view: View, weights: Weights, vector: QueryVector | None, model_id: str) -> Ranked:
        query = self._corrected(query)
        asked, terms = self._asked(query)
        signals = self._signals(query, terms, view, vector, model_id)
        found = {*signals.dense, *signals.lexical, *signals.exact}
        rows = [row for row in self._store.chunks.for_ranking(found) if view.shows(row.document_id)]
        return Ranked(rank(rows, signals.dense, signals.lexical, signals.exact, query, asked, weights), signals)

    def _corrected(self, query: Query) -> Query:
        """The query; if it is just a name that nothing declares, with the declared name that is nearest."""
        name = query.bare_name[-1].lower() if query.bare_name else ""
        if len(name) < _LONG_ENOUGH or any(declares for _, _, declares in self._store.chunks.named([name], 1)):
            return query
        # A word that the project uses is a word, though nothing has it as its name.
        if len(query.parts) == 1 and self._lexical.frequency(query.parts[0], 1):
            return query
        if not (near := difflib.get_close_matches(name, self.names_like(name), 1, _NEAR_NAME)):
            return query
        return replace(query, bare_name=(near[0],), names=(*query.names, near[0]))

    def _asked(self, query: Query) -> tuple[Asked, tuple[str, ...]]:
        """The weight of each word of a query, by stem, and the terms to search for: the query's own, and similar ones
        for a word that no chunk holds."""
        count = self._store.chunks.estimated_count()
        most = max(_MAX_RARE_HOLDERS, count // 10)
        weights: dict[str, float] = {}
        near: list[str] = []
        for part in query.parts:
            holders = self._lexical.frequency(part, most)
            if not holders and len(part) >= _LONG_ENOUGH:
                similar = difflib.get_close_matches(stem(part), self._lexical.terms_like(stem(part)), 2, _ALIKE)
                near += similar
                weights |= dict.fromkeys(similar, _idf(count, 0))
            weights[stem(part)] = _idf(count, holders)
        return Asked(weights), (*query.terms, *near)

    def names_like(self, name: str) -> list[str]:
        """The lower-case last names of declarations that begin as a misspelt one does."""
        return self._store.outlines.last_names(name[:_SAME_BEGINNING], _MAX_ALIKE)

    def related(
        self, vector: QueryVector, *, k: int, model_id: str, filters: Filters, minimum: float, without: str,
        session: str = DISK,
    ) -> Found:  # fmt: skip
        """The chunks nearest to a vector, outside the document `without`; their score is the cosine similarity."""
        started = time.perf_counter()
        view = self._view(session, filters)
        nearest = self._nearest(vector, view, model_id)
        rows = self._store.chunks.for_ranking(list(nearest))
        kept = [
            (row, nearest[row.row])
            for row in rows
            if view.shows(row.document_id) and nearest[row.row] >= minimum and row.path != without
        ]
        kept.sort(key=lambda item: (-item[1], item[0].path, item[0].ordinal))
        signals = Signals(nearest, {}, {})
        return Found(tuple(self._hits(kept, signals, k)), True, len(rows), _milliseconds(started))

    def chunk_hit(self, chunk_id: str, session: str = DISK) -> Hit | None:
        """The present version of a chunk, or None."""
        view = self._view(session, NO_FILTERS)
        shown = [row for row in self._store.chunks.by_id(chunk_id) if view.shows(row.document_id)]
        for row in shown:
            freshness = self._corpus.freshness(row.document)
            if freshness is not None:
                return Hit(row.stored, 1.0, ("id",), freshness)
        return None

    def hidden_documents(self, session: str = DISK) -> frozenset[int]:
        """The documents that another version of the same file replaces now."""
        return self._view(session, NO_FILTERS).hidden

    def document(self, path: str, session: str = DISK) -> DocumentRecord | None:
        """The version of a document that this session sees, or None."""
        view = self._view(session, NO_FILTERS)
        versions = [doc for doc in self._store.unsaved_documents() if doc.path == path]
        on_disk = self._store.document(path)
        shown = [doc for doc in (*versions, on_disk) if doc and view.shows(doc.id)]
        return shown[0] if shown else None

    def _view(self, session: str, filters: Filters) -> View:
        return current_view(self._store, session, self._corpus.is_live, filters)

    def _signals(
        self, query: Query, terms: Sequence[str], view: View, vector: QueryVector | None, model_id: str
    ) -> Signals:
        lexical = {found.row: found.value for found in self._lexical.search(terms, _CANDIDATES * _SPARE, view.allowed)}
        lexical = self._first_shown(lexical, view)
        exact: dict[int, tuple[str, ...]] = {}
        for row, _, _ in self._store.chunks.named(query.names, _EXACT_CANDIDATES) if query.names else ():
            exact[row] = ("symbol",)
        for row in self._rows_of_paths(query, view):
            exact[row] = (*exact.get(row, ()), "path")
        for row in self._rows_of_places(query, view):
            exact[row] = (*exact.get(row, ()), "line")
        dense: dict[int, float] = {}
        if vector is not None and self._store.embeddings.active_model() == model_id:
            dense = self._nearest(vector, view, model_id)
            dense |= self._similarities({*lexical, *exact} - dense.keys(), vector, model_id)
        return Signals(dense, lexical, exact)

    def _first_shown(self, values: Mapping[int, float], view: View) -> dict[int, float]:
        if not view.hidden:
            return dict(list(values.items())[:_CANDIDATES])
        documents = self._store.chunks.documents_of(list(values))
        shown = [(row, value) for row, value in values.items() if row in documents and view.shows(documents[row])]
        return dict(shown[:_CANDIDATES])

    def _rows_of_paths(self, query: Query, view: View) -> list[int]:
        if not query.paths:
            return []
        named = [
            number
            for number, path, _, _ in self._store.document_paths()
            if view.shows(number) and any(path == name or path.endswith("/" + name) for name in query.paths)
        ]
        return self._store.chunks.first_of(named, _EXACT_CANDIDATES)

    def _rows_of_places(self, query: Query, view: View) -> list[int]:
        """The chunks on the lines that a query names, in its order."""
        found = []
        documents = self._store.document_paths() if query.places else []
        for place, line in query.places:
            for number, path, _, _ in documents:
                if view.shows(number) and (path == place or path.endswith("/" + place) or place.endswith("/" + path)):
                    row = self._store.chunks.at(number, line)
                    found += [row.row] if row else []
        return found

    def _nearest(self, vector: QueryVector, view: View, model_id: str) -> dict[int, float]:
        """Similarity by chunk row, for the chunks nearest to a vector."""
        among = None if view.allowed is None else self._store.chunks.text_hashes_of_documents(view.allowed)
        wanted = _CANDIDATES * _SPARE
        while True:
            neighbours = self._vectors.nearest(model_id, vector, wanted, among)
            similarity = {neighbour.text_hash: neighbour.similarity for neighbour in neighbours}
            rows = [
                (row, similarity[text_hash])
                for row, text_hash, document in self._store.chunks.with_texts(similarity)
                if view.shows(document)
            ]
            # Hundreds of the nearest texts may be former edits: widen the search until enough chunks exist.
            if len(rows) >= _CANDIDATES or len(neighbours) < wanted or wanted >= _MAX_NEIGHBOURS:
                rows.sort(key=lambda item: -item[1])
                return dict(rows[:_CANDIDATES])
            wanted *= 4

    def _similarities(self, rows: Collection[int], vector: QueryVector, model_id: str) -> dict[int, float]:
        """Similarity of chunks that another signal found."""
        hashes = self._store.chunks.text_hashes(rows)
        vectors = self._vectors.get(model_id, set(hashes.values()))
        return {row: float(vectors[found] @ vector) for row, found in hashes.items() if found in vectors}

    def _hits(self, ranked: list[tuple[RankRow, float]], signals: Signals, k: int) -> list[Hit]:
        """The first `k` hits whose files still exist, without copies, each with its freshness."""
        hits: list[Hit] = []
        # Of several copies of a text, only the best ranked one is shown.
        seen: set[str] = set()
        known: dict[int, Freshness | None] = {}
        for at in range(0, len(ranked), k):
            part = ranked[at : at + k]
            chunks = self._store.chunks.by_row([row.row for row, _ in part])
            for ranking, score in part:
                row = chunks.get(ranking.row)
                if row is None or len(hits) == k:
                    continue
                # Pieces of one declaration become copies, because each is shown as the whole declaration.
                shown = self._whole(row)
                if (copy := " ".join(shown.chunk.text.split())) in seen:
                    continue
                if row.document_id not in known:
                    known[row.document_id] = self._corpus.freshness(row.document)
                if (freshness := known[row.document_id]) is not None:
                    seen.add(copy)
                    hits.append(Hit(shown, score, _matched_by(row.row, signals), freshness))
            if len(hits) == k:
                break
        return hits

    def _whole(self, row: ChunkRow) -> StoredChunk:
        """The chunk, or the whole declaration that it is a piece of, under the chunk's id.

        If the declaration is too long, its declaring chunk becomes the declaration's beginning, as much as fits; any
        other piece stays as it is.
        """
        chunk = row.stored.chunk
        if not chunk.symbol:
            return row.stored
        pieces = [
            piece.stored.chunk for piece in self._store.chunks.pieces(row.document_id, chunk.symbol, chunk.ordinal)
        ]
        text = "".join(piece.text for piece in pieces)
        if len(pieces) < 2 or not any(piece.is_declaration for piece in pieces):
            return row.stored
        if len(text) > _WHOLE_CHARACTERS:
            if not chunk.is_declaration or chunk.overlap:
                return row.stored
            pieces = _beginning(pieces)
            text = "".join(piece.text for piece in pieces)
        declared = next(piece for piece in pieces if piece.is_declaration)
        whole = replace(
            declared, ordinal=pieces[0].ordinal, text=text, overlap="", start_byte=pieces[0].start_byte,
            end_byte=pieces[-1].end_byte, start_line=pieces[0].start_line, end_line=pieces[-1].end_line,
        )  # fmt: skip
        return replace(row.stored, chunk=whole)


def _beginning(pieces: Sequence[Chunk]) -> list[Chunk]:
    """The first pieces that fit into one answer, but at least one."""
    end = 1
    while end < len(pieces) and sum(len(piece.text) for piece in pieces[: end + 1]) <= _WHOLE_CHARACTERS:
        end += 1
    return list(pieces[:end])


def _idf(chunks: int, holders: int) -> float:
    return math.log(1 + chunks / (holders + 0.5))


def _matched_by(row: int, signals: Signals) -> tuple[str, ...]:
    names = [name for name, values in (("dense", signals.dense), ("lexical", signals.lexical)) if row in values]
    return (*names, *signals.exact.get(row, ()))


def _milliseconds(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
