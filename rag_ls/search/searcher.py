"""Answers questions with hits: collects signals, ranks the candidates, and checks each hit's file."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from rag_ls.chunking import is_surveyed, rule_kind
from rag_ls.config import SearchSettings
from rag_ls.embedding import GUESSED_RELEVANT_COSINE
from rag_ls.errors import StoreUnavailable
from rag_ls.model import Chunk, Closeness, Freshness, Hit, StoredChunk
from rag_ls.search.cache import AnswerCache
from rag_ls.search.candidates import CandidateFinder, LaterVector, QueryVector
from rag_ls.search.chunk_lines import is_small_part, show_declaration
from rag_ls.search.closeness import MAX_LOOKED_AT, MAX_NEAREST, judge_closeness
from rag_ls.search.evidence import weights_for
from rag_ls.search.fusion import Signals, Weights
from rag_ls.search.query import Query
from rag_ls.search.ranking import find_answering_keys, fold_alike, group_by_file, rank, reason
from rag_ls.search.roles import Roles, is_data
from rag_ls.search.view import NO_FILTERS, DocumentOrder, Filters, View, current_view
from rag_ls.storage import DISK, ChunkRow, DocumentRecord, RankRow, SearchedIndex, StoredSymbol, stem
from rag_ls.util.records import dataclass, field, replace
from rag_ls.util.threads import Counts

_log = logging.getLogger(__name__)

# A declaration in several chunks is shown whole up to this length.
_WHOLE_CHARACTERS = 4000
# If no hit is close, all scores are reduced by this factor.
_FAR_FACTOR = 0.5


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, best first, with statistics."""

    hits: tuple[Hit, ...]
    dense: bool
    candidates: int
    took_ms: float
    is_filtered_out: bool = False
    """Whether no document passes the filters."""
    closeness: Closeness = Closeness.CLOSE
    """Hits are at most the two nearest where none is close."""
    absent: tuple[str, ...] = ()
    """See `Candidates`."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates with their scores, best first, before their files were checked."""

    rows: list[tuple[RankRow, float]]
    signals: Signals[int]
    query: Query | None
    """The question in words."""
    held: Mapping[int, StoredSymbol] = field(default_factory=dict)
    """See `Candidates`."""
    lacks_vector: bool = False
    """Whether the query's embedding failed or came too late."""
    closeness: Closeness = Closeness.CLOSE
    """See `Found`."""
    absent: tuple[str, ...] = ()
    """See `Candidates`."""


class Corpus(Protocol):
    """The documents behind an index."""

    @property
    def roles(self) -> Roles:
        """The roles of the documents."""

    def is_live(self, session: str) -> bool:
        """Whether an editor still holds an editing session."""

    def freshness(self, document: DocumentRecord) -> Freshness | None:
        """Compare a document's indexed text with its file now; None when the file is gone."""

    def note_unembedded(self, documents: Collection[int]) -> None:
        """Note that a search returned these documents, which have no vectors yet."""


class Searcher:
    """Answers from one project's index. Safe from several threads."""

    def __init__(
        self,
        index: SearchedIndex,
        corpus: Corpus,
        counts: Counts | None = None,
    ) -> None:
        """`counts`: see `AnswerCache`."""
        self._store = index.checkout
        self._candidates = CandidateFinder(index)
        self._corpus = corpus
        self._order = DocumentOrder()
        self._answers: AnswerCache[Ranked] = AnswerCache(index.changes, counts or Counts())
        self._surveyed: dict[int, tuple[tuple[str, int], bool]] = {}
        """Whether set-up wrote a document of rules, by its path; with the size of the version that was read."""

    def search(
        self,
        query: Query,
        *,
        k: int,
        settings: SearchSettings,
        filters: Filters,
        vector: LaterVector | None,
        model_id: str,
        session: str = DISK,
        weights: Weights | None = None,
        related_cosine: float = GUESSED_RELEVANT_COSINE,
        by_file: bool = False,
    ) -> Found:
        """The `k` best chunks for a query; `by_file`: the best places of the `k` best files, one file after the other.

        `vector` waits for its embedding by `model_id`, while words are looked up; None searches by words alone.

        `related_cosine` is the cosine from which on the model means that texts are related.

        `session` is the editing session that asks: its own unsaved text takes precedence. `weights` override those of
        the query's kind, for benchmarks.
        """
        started = time.perf_counter()
        view = self.view(session, filters)
        weights = weights or weights_for(query.kind, settings)
        key = (
            query.text,
            tuple(weights.items()),
            filters,
            view.hidden,
            view.roles,
            model_id if vector is not None else "",
            related_cosine,
        )
        version = self._answers.version()
        if (ranked := self._answers.get(key, version)) is None:
            ranked = self._rank(query, view, weights, vector, model_id, related_cosine)
            if not ranked.lacks_vector:
                self._answers.keep(key, version, ranked)
        k = k if ranked.closeness else min(k, MAX_NEAREST)
        hits = self._hits_of_files(ranked, k) if by_file else self._hits(ranked, k)
        if unembedded := {row.document_id for row, _ in ranked.rows[:k] if not row.is_embedded}:
            self._corpus.note_unembedded(unembedded)
        is_filtered_out = view.allowed is not None and not view.allowed
        return Found(
            tuple(hits), bool(ranked.signals.dense), len(ranked.rows), _milliseconds(started), is_filtered_out,
            closeness=Closeness.CLOSE if is_filtered_out else ranked.closeness, absent=ranked.absent,
        )  # fmt: skip

    def _rank(
        self,
        query: Query,
        view: View,
        weights: Weights,
        vector: LaterVector | None,
        model_id: str,
        related_cosine: float,
    ) -> Ranked:
        found = self._candidates.find(query, view, vector, model_id)
        if view.allowed is None:
            found = replace(found, rows=self._without_surveyed(found.rows))
        ranked = rank(found.rows, found.signals, found.query, found.asked, weights, view.roles)
        best = [row for row, _ in ranked[:MAX_LOOKED_AT]]
        texts = {**found.texts, **self._store.chunks.texts({row.row for row in best} - found.texts.keys())}
        closeness = judge_closeness(best, texts, found, related_cosine, ranked[0][1] if ranked else 0.0)
        if closeness is not Closeness.CLOSE:
            ranked = [(row, score * _FAR_FACTOR) for row, score in ranked]
        return Ranked(
            ranked, found.signals, found.query, held=found.held, lacks_vector=found.lacks_vector, closeness=closeness,
            absent=found.absent,
        )  # fmt: skip

    def _without_surveyed(self, rows: list[RankRow]) -> list[RankRow]:
        """The rows without those of rules that set-up wrote: they repeat what the code says, and are told as rules."""
        documents = {row.document_id: row for row in rows}
        surveyed = {
            number for number, row in documents.items() if rule_kind(row.path) is not None and self._is_surveyed(row)
        }
        return [row for row in rows if row.document_id not in surveyed] if surveyed else rows

    def _is_surveyed(self, row: RankRow) -> bool:
        """Whether set-up wrote a document of rules; the document is read once, and again when its size has changed."""
        version = (row.path, row.size)
        known, is_surveyed_one = self._surveyed.get(row.document_id, (("", 0), False))
        if known != version:
            first = self._store.chunks.at(row.document_id, 1)
            is_surveyed_one = first is not None and is_surveyed(row.path, first.stored.chunk.text)
            self._surveyed[row.document_id] = (version, is_surveyed_one)
        return is_surveyed_one

    def names_like(self, name: str) -> list[str]:
        """The last names of declarations, in lower case, that begin like a misspelt name."""
        return self._candidates.names_like(name)

    def related(
        self, vector: QueryVector, *, k: int, model_id: str, filters: Filters, minimum: float, without: str,
        is_saved: bool, session: str = DISK,
    ) -> Found:  # fmt: skip
        """The chunks nearest to a vector, outside the document `without`; their score is the cosine similarity.

        The vector of text that is not saved (`is_saved`) is not sent to a server, which may search the vectors.
        """
        started = time.perf_counter()
        view = self.view(session, filters)
        try:
            nearest = self._candidates.nearest(vector, view, model_id, may_leave=is_saved)
        except StoreUnavailable as error:
            # The server with the vectors is away.
            _log.info("%s", error)
            return Found((), False, 0, _milliseconds(started))
        kept = [(row, similar) for row, similar in nearest if similar >= minimum and row.path != without]
        kept.sort(key=lambda item: (-item[1], item[0].path, item[0].ordinal))
        ranked = Ranked(kept, Signals(dense={row.row: similar for row, similar in nearest}), None)
        return Found(tuple(self._hits(ranked, k)), True, len(nearest), _milliseconds(started))

    def chunk_hit(self, chunk_id: str, session: str = DISK, *, whole: bool = False) -> Hit | None:
        """The present version of a chunk, or None; `whole`: with the declaration that it is a piece of, as answers show it."""
        view = self.view(session, NO_FILTERS)
        shown = [row for row in self._store.chunks.by_id(chunk_id) if view.shows(row.document_id)]
        for row in shown:
            freshness = self._corpus.freshness(row.document)
            if freshness is not None:
                pieces = self._store.chunks.pieces([row.row]).get(row.row, ()) if whole else ()
                return Hit(_join_pieces(row, pieces), 1.0, ("id",), freshness)
        return None

    def hidden_documents(self, session: str = DISK) -> frozenset[int]:
        """The documents that another version of the same file replaces now."""
        return self.view(session, NO_FILTERS).hidden

    def document(self, path: str, session: str = DISK) -> DocumentRecord | None:
        """The version of a document that this session sees, or None."""
        view = self.view(session, NO_FILTERS)
        versions = [doc for doc in self._store.unsaved_documents() if doc.path == path]
        on_disk = self._store.document(path)
        shown = [doc for doc in (*versions, on_disk) if doc and view.shows(doc.id)]
        return shown[0] if shown else None

    def forget(self) -> None:
        """Drop what is kept for the next question."""
        self._answers.forget()
        self._order.forget()

    def view(self, session: str, filters: Filters) -> View:
        """The documents that a session sees now and that pass the filters."""
        return current_view(self._store, session, self._corpus.is_live, self._corpus.roles, filters, self._order)

    def _hits_of_files(self, ranked: Ranked, k: int) -> list[Hit]:
        """The hits of the first `k` files that still exist, as `_hits`; the best one of a file names the data files like it."""
        files, alike = self._fold_data(group_by_file(ranked.rows, lambda item: item[0].document_id), ranked.query)
        hits: list[Hit] = []
        shown: set[str] = set()
        for at in range(0, len(files), k):
            part = replace(ranked, rows=list(itertools.chain(*files[at : at + k])))
            for hit in self._hits(part, len(part.rows)):
                assert isinstance(hit.item, StoredChunk)
                path = hit.item.chunk.path
                if path in shown or len(shown) < k:
                    hits.append(hit if path in shown else replace(hit, alike=tuple(alike.get(path, ()))))
                    shown.add(path)
            if len(shown) == k:
                break
        return hits

    def _fold_data(
        self, files: list[list[tuple[RankRow, float]]], query: Query | None
    ) -> tuple[list[list[tuple[RankRow, float]]], Mapping[str, Sequence[str]]]:
        """The files without data files that answer by the key of a better one, and those by the path of the better one."""
        best = {of_file[0][0].path: of_file[0][0] for of_file in files if is_data(of_file[0][0].language)}
        if len(best) < 2 or query is None:
            return files, {}
        texts, asked = self._store.chunks.texts({row.row for row in best.values()}), frozenset(map(stem, query.parts))
        left = fold_alike(
            {path: find_answering_keys(row.language, texts.get(row.row, ""), asked) for path, row in best.items()}
        )
        return [of_file for of_file in files if (path := of_file[0][0].path) not in best or path in left], left

    def _hits(self, ranked: Ranked, k: int) -> list[Hit]:
        """The first `k` hits whose files still exist, without copies, each with its freshness."""
        hits: list[Hit] = []
        # Of several copies of a text, only the best ranked one is shown.
        seen: set[str] = set()
        known: dict[int, Freshness | None] = {}
        for at in range(0, len(ranked.rows), k):
            part = ranked.rows[at : at + k]
            chunks = self._store.chunks.by_row([row.row for row, _ in part])
            pieces = self._store.chunks.pieces(chunks)
            for ranking, score in part:
                row = chunks.get(ranking.row)
                if row is None or len(hits) == k:
                    continue
                # Pieces of one declaration become copies, because each is shown as the whole declaration.
                held = ranked.held.get(ranking.row)
                if held is not None and is_small_part(row.stored.chunk, held):
                    shown = show_declaration(row.stored, held)
                else:
                    shown = _join_pieces(row, pieces.get(row.row, ()))
                if (copy := " ".join(shown.chunk.text.split())) in seen:
                    continue
                if row.document_id not in known:
                    known[row.document_id] = self._corpus.freshness(row.document)
                if (freshness := known[row.document_id]) is not None:
                    seen.add(copy)
                    why = reason(ranking, ranked.signals, ranked.query) if ranked.query else ""
                    hits.append(Hit(shown, score, ranked.signals.matched_by(row.row), freshness, why=why))
            if len(hits) == k:
                break
        return hits


def _join_pieces(row: ChunkRow, pieces: Sequence[ChunkRow]) -> StoredChunk:
    """The chunk, or the whole declaration that it is one of the pieces of, under the chunk's id.

    If the declaration is too long, its declaring chunk becomes the declaration's beginning, as much as fits; any
    other piece stays as it is.
    """
    chunk, chunks = row.stored.chunk, [piece.stored.chunk for piece in pieces]
    if len(chunks) < 2 or not any(piece.is_declaration for piece in chunks):
        return row.stored
    text = "".join(piece.text for piece in chunks)
    if len(text) > _WHOLE_CHARACTERS:
        if not chunk.is_declaration or chunk.overlap:
            return row.stored
        chunks = _take_beginning(chunks)
        text = "".join(piece.text for piece in chunks)
    declared = next(piece for piece in chunks if piece.is_declaration)
    whole = replace(
        declared, ordinal=chunks[0].ordinal, text=text, overlap="", start_byte=chunks[0].start_byte,
        end_byte=chunks[-1].end_byte, start_line=chunks[0].start_line, end_line=chunks[-1].end_line,
    )  # fmt: skip
    return replace(row.stored, chunk=whole)


def _take_beginning(pieces: Sequence[Chunk]) -> list[Chunk]:
    """The first pieces that fit into one answer, but at least one."""
    end = 1
    while end < len(pieces) and sum(len(piece.text) for piece in pieces[: end + 1]) <= _WHOLE_CHARACTERS:
        end += 1
    return list(pieces[:end])


def _milliseconds(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
