"""Answers one client's questions about the code of its project."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding import Embedding, HostedModel
from rag_ls.engine.code.narrowing import WIDE, narrowed, wanted
from rag_ls.engine.code.places import Places
from rag_ls.engine.code.recent_chunks import RecentChunks
from rag_ls.engine.query_vectors import begun, embedded
from rag_ls.engine.requests import SearchRequest, checked_k
from rag_ls.engine.reranking import Reranking
from rag_ls.engine.view_context import ViewContext
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.indexing import MAX_AWAITED_FILES
from rag_ls.model import Coverage, Freshness, Hit, SearchAnswer, SearchStats, StoredChunk
from rag_ls.search import NO_FILTERS, Filters, Found
from rag_ls.storage import ChunkRow

_log = logging.getLogger(__name__)

_WORDS_ALONE = "the embedding model is not ready: these are matches by words alone"
_NOTHING_EMBEDDED = "no embeddings are there yet: these are matches by words alone"
_FILTERED_OUT = "no file of the index passes the filters: check language, path_glob and kind"
_NO_WORDS = "no file holds these words: these are the nearest in meaning, near or not"
_UNREAD = "{:,} files are not read yet, those that hold a question's words are read first"
_NOT_EMBEDDED = "that place has no embedding yet: these are matches by its words alone"
_CLOSE_NOT_EMBEDDED = "nothing close has an embedding yet: these are matches by words alone"
# Scripts without spaces between words, which are no terms of the index: Thai to Khmer, Chinese, Japanese.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]")
# A snippet without a path waits this long for a model that is still loading.
_SNIPPET_WAIT_S = 10.0
# The characters that a small model reads of a text, roughly, and how many such pieces of a long snippet count.
_SNIPPET_PIECE = 1000
_SNIPPET_PIECES = 8


@dataclass(frozen=True, slots=True)
class _Target:
    """The code for which similar code is searched."""

    shown: str
    """Its name in the answer."""
    path: str
    """Its document; empty for none."""
    text: str
    embedding: Embedding | None
    """None where there is none yet."""
    is_saved: bool = True
    """Whether a file holds it, so that its vector may leave the machine."""


class CodeQuestions:
    """Searches, finds related code, and gives chunks by their ids. Safe from several threads."""

    def __init__(
        self,
        context: ViewContext,
        places: Places,
    ) -> None:
        self._context = context
        self._shared = context.shared
        self._places = places
        self._recent = RecentChunks()
        self._reranking = Reranking(context.shared.reranker)

    def search(self, request: SearchRequest, *, wait_for_model_s: float = 0.0) -> SearchAnswer:
        """The chunks that answer a question best. Raises `InvalidRequest` for arguments out of range."""
        started = time.perf_counter()
        settings = self._context.settings.search
        k = checked_k(request.k, settings.code_k)
        unseen = self._shared.catch_up()
        model = self._shared.model(wait_for_model_s)
        vector = begun(model, request.query)
        found = self._shared.searcher.search(
            request.query, k=wanted(request, k), settings=settings,
            filters=request.filters, vector=vector, model_id=model.model_id if model else "", session=self._context.session,
        )  # fmt: skip
        hits, note = narrowed(request, found.hits, self._shared.index.checkout, self._reranking)
        if self._holds_no_word(request.query, hits, unseen):
            note = "; ".join(filter(None, (note, _NO_WORDS)))
        return self._answer(request.query, replace(found, hits=tuple(hits[:k])), started, unseen, note)

    def _holds_no_word(self, query: str, hits: Sequence[Hit], unseen: Collection[str]) -> bool:
        """Whether no file holds a word of the query: it can be said where all files are read, and words stand apart."""
        is_found_by_words = any(hit.matched_by != ("dense",) for hit in hits)
        if not hits or is_found_by_words or unseen or _UNSPACED.search(query):
            return False
        return not self._shared.index.checkout.queue_lengths()[0]

    def find_related(
        self, *, path: str = "", line: int = 0, symbol: str = "", snippet: str = "", k: int | None = None,
        minimum: float = 0.0, filters: Filters = NO_FILTERS,
    ) -> SearchAnswer:  # fmt: skip
        """The code closest to a place, a symbol or a snippet, in documents other than that of `path`.

        Falls back to words if the place has no embedding, or if nothing is close while embeddings are still made.
        Raises `InvalidRequest` for a missing or impossible place, `NotFound` for a place that the index does not have.
        """
        started = time.perf_counter()
        count = checked_k(k, self._context.settings.search.code_k)
        unseen = self._shared.catch_up()
        target = self._snippet(snippet, path) if snippet else self._place(path, line, symbol)
        found = Found((), False, 0, 0.0)
        if target.embedding is not None:
            found = self._shared.searcher.related(
                target.embedding.vector, k=count, model_id=target.embedding.model.id, filters=filters, minimum=minimum, without=target.path,
                is_saved=target.is_saved, session=self._context.session,
            )  # fmt: skip
        why_by_words = ""
        if target.embedding is None or (not found.hits and self._shared.index.checkout.queue_lengths() != (0, 0)):
            found = self._by_words(target, count, filters)
            why_by_words = _CLOSE_NOT_EMBEDDED if target.embedding is not None else "" if snippet else _NOT_EMBEDDED
        return self._answer(target.shown, found, started, unseen, why_by_words=why_by_words)

    def _snippet(self, snippet: str, path: str) -> _Target:
        snippet = snippet[: _SNIPPET_PIECE * _SNIPPET_PIECES]
        # A path means that an editor asks, which does not wait for a model.
        model = self._shared.model_for_unsaved(0.0) if path else self._shared.model(_SNIPPET_WAIT_S)
        vector = embedded(model, snippet, _mean_embedding)
        embedding = Embedding(model.card, vector) if model is not None and vector is not None else None
        return _Target(snippet, self._context.relative(path) if path else "", snippet, embedding, is_saved=not path)

    def _place(self, path: str, line: int, symbol: str) -> _Target:
        row = self.row_of(path, line, symbol)
        chunk = row.stored.chunk
        shown = chunk.symbol or f"{chunk.path}:{line}"
        text = f"{chunk.symbol} {chunk.signature} {chunk.doc} {chunk.text}"
        return _Target(shown, chunk.path, text, self._shared.embedding_of(row), is_saved=row.is_saved)

    def _by_words(self, target: _Target, k: int, filters: Filters) -> Found:
        """The code of other documents that shares words with the target."""
        found = self._shared.searcher.search(
            target.text, k=WIDE, settings=self._context.settings.search, filters=filters, vector=None, model_id="",
            session=self._context.session,
        )  # fmt: skip
        hits = [hit for hit in found.hits if _path_of(hit) != target.path]
        return replace(found, hits=tuple(hits[:k]))

    def chunk(self, chunk_id: str) -> Hit:
        """A chunk by its id, as it is now. Raises `NotFound`, which names the chunk that replaced it."""
        chunk_id = chunk_id.strip()
        unseen = self._shared.catch_up()
        hit = self._shared.searcher.chunk_hit(chunk_id, self._context.session)
        if hit is None:
            raise NotFound(f"no chunk has the id {chunk_id!r} now; {self.fate_of(chunk_id) or _GONE}")
        return self._marked(hit, unseen | self._shared.indexing.unseen())

    def fate_of(self, chunk_id: str) -> str:
        """A sentence on what became of a chunk; empty where its id was not given out lately."""
        place = self._recent.place(chunk_id)
        if place is None:
            return ""
        row = self._places.successor(place)
        if row is None:
            return f"{place.path} is gone: search_code finds what is there now"
        chunk = row.stored.chunk
        self._recent.note(row.stored)
        became = "was edited" if chunk.path == place.path else "moved"
        return f"it {became}: {row.stored.id} is {chunk.path}:{chunk.start_line}-{chunk.end_line} now"

    def row_of(self, path: str, line: int, symbol: str) -> ChunkRow:
        """The chunk of a place or symbol. Raises `InvalidRequest` and `NotFound`."""
        if path:
            return self._places.at(self._context.relative(path), line, symbol)
        if symbol:
            return self._places.of_symbol(symbol)
        raise InvalidRequest("give a path with a line, a symbol, or a snippet")

    def _answer(
        self,
        query: str,
        found: Found,
        started: float,
        unseen_before: frozenset[str],
        note: str = "",
        why_by_words: str = "",
    ) -> SearchAnswer:
        """`why_by_words` is why the hits were found by words alone; by default what the model's state says."""
        indexing = self._shared.indexing
        scanned, unseen = indexing.scanned, indexing.unseen() | unseen_before
        queued, pending = self._shared.index.checkout.queue_lengths()
        hits = tuple(self._marked(hit, unseen) for hit in found.hits)
        if found.is_filtered_out:
            note = _FILTERED_OUT
        elif not found.dense:
            note = "; ".join(filter(None, (why_by_words or self._why_by_words(), note)))
        if queued > MAX_AWAITED_FILES:
            note = "; ".join(filter(None, (note, _UNREAD.format(queued))))
        note = "; ".join(filter(None, (note, self._shared.exclusions.note)))
        stats = SearchStats(
            took_ms=_milliseconds(started), dense=found.dense, candidates=found.candidates,
            complete=scanned and not (queued or pending or unseen),
            pending_documents=queued + len(unseen), pending_embeddings=pending, note=note,
            coverage=Coverage() if not (queued or pending) else self._shared.index.checkout.counts().coverage,
            is_idle=bool((queued and not indexing.reads) or (pending and not indexing.embeds))
            and not indexing.is_done_elsewhere,
        )  # fmt: skip
        return SearchAnswer(query, hits, stats)

    def _why_by_words(self) -> str:
        _, is_ready, problem = self._shared.model_state()
        return problem or (_NOTHING_EMBEDDED if is_ready else _WORDS_ALONE)

    def _marked(self, hit: Hit, unseen: frozenset[str]) -> Hit:
        """Note the hit as given out, and mark it `changed` if newer text of its document is known but not cut yet."""
        if isinstance(hit.item, StoredChunk):
            self._recent.note(hit.item)
        return replace(hit, freshness=Freshness.CHANGED) if _path_of(hit) in unseen else hit


_GONE = "its code was edited or removed: search_code finds it again"


def _path_of(hit: Hit) -> str:
    return hit.item.chunk.path if isinstance(hit.item, StoredChunk) else ""


def _mean_embedding(model: HostedModel, snippet: str) -> NDArray[np.float32]:
    """The unit-length embedding of a snippet; of a long one, the mean of its pieces: a model reads only the start."""
    pieces = -(-len(snippet) // _SNIPPET_PIECE)
    size = -(-len(snippet) // pieces)
    mean = model.embed_documents([snippet[at : at + size] for at in range(0, len(snippet), size)]).mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)


def _milliseconds(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
