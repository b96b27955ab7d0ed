"""A search: the vector of its text, its hits narrowed by criteria that filters on documents cannot express, and reordered."""

from __future__ import annotations

import itertools
import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, TimeoutError
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rag_ls.config import SearchSettings
from rag_ls.embedding import GUESSED_RELEVANT_COSINE, HostedModel, Reranker
from rag_ls.engine.requests import SearchRequest
from rag_ls.errors import RagLsError
from rag_ls.model import Chunk, Hit, Memory, StoredChunk
from rag_ls.search import Found, Searcher, group_by_file
from rag_ls.storage import DISK, SearchedDocuments, StoredSymbol
from rag_ls.util.threads import run_in_daemon_thread

_log = logging.getLogger(__name__)

# About as many characters as a small model reads of a text.
_PIECE_CHARACTERS = 1000
_MAX_SYMBOLS = 200_000
MAX_CANDIDATES = 200
"""The number of hits to search for, where some are filtered out afterwards."""


def find_hits(
    request: SearchRequest,
    k: int,
    searcher: Searcher,
    settings: SearchSettings,
    model: HostedModel | None,
    store: SearchedDocuments,
    reranking: Reranking,
    session: str = DISK,
) -> tuple[Found, str]:
    """Search for hits that the request wants, at least `k` where so many are; returns also why they could not be reordered."""
    is_cut_later = request.declares or (request.files_only and not request.by_file)
    found = searcher.search(
        request.asked, k=MAX_CANDIDATES if is_cut_later else max(k, MAX_RERANKED * request.rerank), settings=settings,
        filters=request.filters, vector=begin_embedding(model, request.query), model_id=model.model_id if model else "",
        session=session, related_cosine=model.card.relevant_cosine if model else GUESSED_RELEVANT_COSINE,
        by_file=request.by_file and not request.declares,
    )  # fmt: skip
    hits, note = _narrow_hits(request, found.hits, store, reranking)
    return replace(found, hits=tuple(hits)), note


def embed_text(
    model: HostedModel | None,
    text: str,
    embed: Callable[[HostedModel, str], NDArray[np.float32]] = HostedModel.embed_query,
) -> NDArray[np.float32] | None:
    """The text's vector; None without a model, without text, or if embedding fails."""
    if model is None or not text.strip():
        return None
    try:
        return embed(model, text)
    except RagLsError as error:
        _log.warning("%s", error)
        return None


def begin_embedding(model: HostedModel | None, text: str) -> Callable[[], NDArray[np.float32] | None] | None:
    """As `embed_text`, but in the background: the function that it gives waits for the vector."""
    if model is None or not text.strip():
        return None
    wait = model.begin_query(text)
    return lambda: embed_text(model, text, lambda *_: wait())


def mean_of_pieces(embed: Callable[[list[str]], NDArray[np.float32]], text: str) -> NDArray[np.float32]:
    """The unit-length embedding of a text; of a long one, the mean of its pieces: a model reads only the start."""
    size = -(-len(text) // -(-len(text) // _PIECE_CHARACTERS))
    mean = embed([text[at : at + size] for at in range(0, len(text), size)]).mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)


def _narrow_hits(
    request: SearchRequest, hits: Sequence[Hit], store: SearchedDocuments, reranking: Reranking
) -> tuple[list[Hit], str]:
    """The hits that a request wants, in the order that it wants; and a note if they could not be reordered."""
    kept = [hit for hit in hits if hit.score >= request.min_score]
    if request.declares:
        kept = keep_declaring(request.declares, kept, store)
    kept, note = reranking.reorder(request.query, kept) if request.rerank else (kept, "")
    return keep_best_of_files(kept) if request.files_only else kept, note


def take_hits(request: SearchRequest, hits: Sequence[Hit], k: int) -> tuple[Hit, ...]:
    """The first `k` hits; if the request counts files, the best hits of the first `k` files, one file after the other."""
    if not request.by_file:
        return tuple(hits[:k])
    return tuple(itertools.chain(*group_by_file(hits, _path_of)[:k]))


def _path_of(hit: Hit) -> str:
    assert isinstance(hit.item, StoredChunk)
    return hit.item.chunk.path


def keep_declaring(kind: str, hits: Sequence[Hit], store: SearchedDocuments) -> list[Hit]:
    """The hits that hold a declaration of this kind, or are a part of one."""
    symbols = _find_symbols(hits, store)
    return [
        hit
        for hit in hits
        if isinstance(hit.item, StoredChunk)
        and any(
            symbol.kind == kind and _is_about(symbol, hit.item.chunk)
            for symbol in symbols[hit.item.chunk.path, hit.item.session]
        )
    ]


def keep_best_of_files(hits: Sequence[Hit]) -> list[Hit]:
    """The best hit of each file."""
    best: dict[str, Hit] = {}
    for hit in hits:
        if isinstance(hit.item, StoredChunk):
            best.setdefault(hit.item.chunk.path, hit)
    return list(best.values())


def _find_symbols(hits: Sequence[Hit], store: SearchedDocuments) -> dict[tuple[str, str], list[StoredSymbol]]:
    """The declarations of the hits' documents, by path and session."""
    keys = {(hit.item.chunk.path, hit.item.session) for hit in hits if isinstance(hit.item, StoredChunk)}
    documents = {found.id: key for key in keys if (found := store.document(*key))}
    symbols: dict[tuple[str, str], list[StoredSymbol]] = defaultdict(list)
    for symbol in store.outlines.of_documents(documents, _MAX_SYMBOLS):
        symbols[documents[symbol.document_id]].append(symbol)
    return symbols


def _is_about(symbol: StoredSymbol, chunk: Chunk) -> bool:
    if chunk.start_line <= symbol.start_line <= chunk.end_line:
        return True
    return symbol.symbol == chunk.symbol and symbol.start_line <= chunk.start_line <= symbol.end_line


MAX_RERANKED = 20
_BUDGET_S = 2.0


class Reranking:
    """Puts the first hits into the order of a cross-encoder. Safe from several threads."""

    def __init__(self, reranker: Callable[[], Reranker], budget_s: float = _BUDGET_S) -> None:
        """`reranker` returns the cross-encoder, or raises an error that says how to get one."""
        self._reranker = reranker
        self._budget_s = budget_s
        self._lock = threading.Lock()
        self._running: Future[list[float]] | None = None

    def reorder(self, query: str, hits: Sequence[Hit]) -> tuple[list[Hit], str]:
        """The hits, the first ones in the cross-encoder's order; or the hits unchanged, and why it did not answer.

        The reordered hits take over the scores of their new ranks, so that scores stay comparable with the other hits.
        """
        first = list(hits[:MAX_RERANKED])
        try:
            future = self._start_scoring(query, [_text_of(hit) for hit in first])
            if future is None:
                return list(hits), "not reranked: the cross-encoder is still busy with an earlier question"
            values = future.result(self._budget_s)
        except TimeoutError:
            return list(hits), f"not reranked: the cross-encoder took more than {self._budget_s:g} s; it may be loading"
        except RagLsError as error:
            return list(hits), f"not reranked: {error}"
        order = sorted(range(len(first)), key=lambda at: -values[at])
        ordered = [
            replace(first[at], score=hit.score, matched_by=(*first[at].matched_by, "reranker"))
            for at, hit in zip(order, first, strict=True)
        ]
        return [*ordered, *hits[MAX_RERANKED:]], ""

    def _start_scoring(self, query: str, texts: list[str]) -> Future[list[float]] | None:
        """A future of the scores; None while the cross-encoder is still busy with an earlier question."""
        reranker = self._reranker()
        with self._lock:
            if self._running is not None and not self._running.done():
                return None
            self._running = run_in_daemon_thread(
                lambda: [float(value) for value in reranker.scores(query, texts)], "rerank"
            )
            return self._running


def _text_of(hit: Hit) -> str:
    if isinstance(hit.item, Memory):
        return hit.item.content
    chunk = hit.item.chunk
    return f"{chunk.path} {chunk.symbol}\n{chunk.text}"
