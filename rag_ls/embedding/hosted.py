"""Wraps a loaded model for the engine: splits batches to its budget, and limits the time of queries and caches them.

A model may be shortened too: its vectors are then cut to their first numbers, smaller and a little less exact.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import TimeoutError
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding.api import BatchBudget, BatchRefused, Embedder, LoadedModel, ModelCard, QueryLate, normalise
from rag_ls.errors import RagLsError
from rag_ls.util.text import content_hash
from rag_ls.util.threads import Counts, run_in_daemon_thread

# Cached queries never go stale, because a model always makes the same vector of a text.
_MAX_KEPT_QUERIES = 512
# After a failure the background tries again after this time, and twice as long after each further one.
_REST_S, _MAX_REST_S = 3.0, 60.0

EMBEDDED_TEXTS = "embedded texts"
CACHED_QUERIES, EMBEDDED_QUERIES = "cached queries", "embedded queries"


class HostedModel:
    """A model of any provider. Satisfies `Embedder`; safe to call from any thread."""

    def __init__(self, model: LoadedModel, counts: Counts | None = None) -> None:
        """`counts` adds up the embedded texts and queries, and the cached queries."""
        self._model = model
        self.card: ModelCard = model.card
        self.model_id = model.card.id
        self.sends_away = model.sends_away
        """Whether texts leave this machine: unsaved ones must not."""
        self._counts = counts or Counts()
        self._lock = threading.Lock()
        self._queries: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        # Hashes of texts that have no vector.
        self._refused: set[str] = set()
        self._failures = 0
        self._rests_until = 0.0
        self.failure = ""
        """The reason why the last texts or question were not embedded; empty if they were."""

    @property
    def worker_process_id(self) -> int | None:
        """The process that does bulk work, where one runs."""
        return self._model.worker_process_id

    @property
    def has_failed(self) -> bool:
        """Whether it failed so shortly ago that the background does not try again yet."""
        return time.monotonic() < self._rests_until

    def embed_documents(self, texts: Sequence[str], *, backlog: int = 0) -> NDArray[np.float32]:
        """As `Embedder`; `backlog` is how many texts are still to come after these.

        The vector of a text that the model refuses is not a number, and the model is not asked for it again.
        """
        self._counts.add(EMBEDDED_TEXTS, len(texts))
        asked = [at for at, text in enumerate(texts) if not self._refused or content_hash(text) not in self._refused]
        found = self._embed_batches([texts[at] for at in asked], backlog)
        self._refused.update(content_hash(texts[asked[at]]) for at in np.flatnonzero(~np.isfinite(found).all(axis=1)))
        if len(asked) == len(texts):
            return found
        vectors = np.full((len(texts), self.card.dimensions), np.nan, np.float32)
        vectors[asked] = found
        return vectors

    def _embed_batches(self, texts: Sequence[str], backlog: int) -> NDArray[np.float32]:
        batches = list(split_to_budget(self._model.budget, texts))
        vectors, left = [], len(texts) + backlog
        for batch in batches:
            left -= len(batch)
            try:
                vectors.append(self._embed_in_halves(batch, left))
            except RagLsError as error:
                self.failure = str(error)
                self._rests_until = time.monotonic() + min(_REST_S * 2**self._failures, _MAX_REST_S)
                self._failures += 1
                raise
        self._note_success()
        return vectors[0] if len(vectors) == 1 else np.concatenate(vectors)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """As `Embedder`. Raises `QueryLate` if the vector is late; it is then cached for the next question."""
        return self.begin_query(text)()

    def begin_query(self, text: str) -> Callable[[], NDArray[np.float32]]:
        """Begin `embed_query` in a thread of its own, unless the vector is cached. The returned function waits for it."""
        if (known := self._find_cached(text)) is not None:
            return lambda: known
        future = run_in_daemon_thread(lambda: self._query(text), "embed query")
        deadline_s, started = self._model.query_deadline_s, time.monotonic()

        def wait() -> NDArray[np.float32]:
            if deadline_s is None:
                return future.result()
            try:
                return future.result(max(0.0, started + deadline_s - time.monotonic()))
            except TimeoutError:
                raise QueryLate(f"{self.model_id} took more than {deadline_s:g} s for a query") from None

        return wait

    def release(self) -> None:
        """The calling thread has nothing more to embed for now."""
        self._model.release()

    def close(self) -> None:
        self._model.close()

    def _embed_in_halves(self, texts: Sequence[str], backlog: int) -> NDArray[np.float32]:
        """Embed one batch; if it is refused, embed its halves. Raises `BatchRefused` for a single text."""
        try:
            return self._model.embed_documents(texts, backlog=backlog)
        except BatchRefused:
            if len(texts) < 2:
                raise
        half = len(texts) // 2
        first = self._embed_in_halves(texts[:half], backlog + len(texts) - half)
        return np.concatenate([first, self._embed_in_halves(texts[half:], backlog)])

    def _find_cached(self, text: str) -> NDArray[np.float32] | None:
        with self._lock:
            if (known := self._queries.get(text)) is not None:
                self._queries.move_to_end(text)
        self._counts.add(EMBEDDED_QUERIES if known is None else CACHED_QUERIES)
        return known

    def _note_success(self) -> None:
        self.failure, self._failures, self._rests_until = "", 0, 0.0

    def _query(self, text: str) -> NDArray[np.float32]:
        try:
            vector = self._model.embed_query(text)
        except RagLsError as error:
            self.failure = str(error)
            raise
        self._note_success()
        vector.setflags(write=False)
        with self._lock:
            self._queries[text] = vector
            while len(self._queries) > _MAX_KEPT_QUERIES:
                self._queries.popitem(last=False)
        return vector


def split_to_budget(budget: BatchBudget, texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Split texts in order into batches within a budget; a text beyond it goes alone. No texts give one empty batch."""
    start, size = 0, 0
    for at, text in enumerate(texts):
        length = len(text.encode("utf-8", "surrogatepass"))
        if at > start and (at - start >= budget.max_texts or size + length > budget.max_bytes):
            yield texts[start:at]
            start, size = at, 0
        size += length
    yield texts[start:]


class ShortenedModel:
    """Satisfies `Embedder`. Its vectors are another model's by their id: the two are never compared."""

    def __init__(self, model: Embedder, dimensions: int) -> None:
        """`dimensions` is less than the model's."""
        self._model = model
        self._dimensions = dimensions
        self.card = replace(model.card, id=f"{model.card.id}/{dimensions}", dimensions=dimensions)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return normalise(self._model.embed_documents(texts)[:, : self._dimensions])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = normalise(self._model.embed_query(text)[None, : self._dimensions])[0]
        return vector

    def close(self) -> None:
        self._model.close()
