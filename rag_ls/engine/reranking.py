"""Reorders hits by a cross-encoder, if it answers in time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, TimeoutError
from dataclasses import replace

from rag_ls.embedding import Reranker
from rag_ls.errors import RagLsError
from rag_ls.model import Hit, Memory
from rag_ls.util.threads import run_in_daemon_thread

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
            future = self._start_scoring(query, [_text(hit) for hit in first])
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


def _text(hit: Hit) -> str:
    if isinstance(hit.item, Memory):
        return hit.item.content
    chunk = hit.item.chunk
    return f"{chunk.path} {chunk.symbol}\n{chunk.text}"
