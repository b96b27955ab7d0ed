"""A project's vectors on a server: searched there, together with the few that only this machine has."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

import numpy as np

from rag_ls.errors import RagLsError, StoreReadOnly, StoreUnavailable
from rag_ls.storage.api import ServerVectors, Vector, VectorStore
from rag_ls.storage.records import Neighbour, Vectors
from rag_ls.storage.sqlite.pending import ServedTexts
from rag_ls.util.threads import within

_log = logging.getLogger(__name__)

T = TypeVar("T")

# A question waits this long for the server.
_QUESTION_S = 1.5


class ServedVectors:
    """See `VectorStore`. The server is asked only for texts that it is known to have, so never for unsaved text.

    New vectors are stored here, and `indexing.sharing` sends them to the server; this machine keeps the vectors that it made.
    """

    def __init__(self, local: VectorStore, known: ServedTexts, server: ServerVectors) -> None:
        self._local = local
        self.known = known
        """The texts whose vectors the server has; what it has lost is made again."""
        self.server = server
        self.questions = ServerQuestions(server.place, "vectors", _QUESTION_S)

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        self._local.put(model, text_hashes, vectors)

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        """See `VectorStore`. While the server is away, only the vectors that are here."""
        found = self._local.get(model, text_hashes)
        wanted = self.known.among(model, [each for each in text_hashes if each not in found])
        try:
            return found | (self.questions.ask(lambda: self.server.get(model, wanted)) if wanted else {})
        except StoreUnavailable as error:
            _log.info("%s", error)
            return found

    def similarities(self, model: str, query: Vector, text_hashes: Collection[bytes]) -> dict[bytes, float]:
        """See `VectorStore`. While the server is away, only those to the vectors that are here.

        They are measured here, so that the server does not learn what they are compared with.
        """
        return measure(self.get(model, text_hashes), query)

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        """See `VectorStore`. Does not ask the server."""
        missing = self._local.missing(model, text_hashes)
        return missing - self.known.among(model, missing)

    def nearest(self, model: str, query: Vector, count: int, among: Collection[bytes] | None = None) -> list[Neighbour]:
        """See `VectorStore`. Raises `StoreUnavailable` while the server is away."""
        allowed = None if among is None else self.known.among(model, among)
        found = self._local.nearest(model, query, count, among)
        if allowed is None or allowed:
            found += self.questions.ask(lambda: self.server.nearest(model, query, count, allowed))
        best = {each.text_hash: each for each in sorted(found, key=lambda each: each.similarity)}
        return sorted(best.values(), key=lambda each: (-each.similarity, each.text_hash))[:count]

    def maintain(self) -> None:
        self._local.maintain()
        self.server.maintain()

    def close(self) -> None:
        self._local.close()
        self.server.close()


# A server that failed is not asked again for this long.
_REST_S = 10.0
MAX_SENT = 20_000
"""A search restricted to at most so many texts sends them along; the server compares each of them."""
_MAX_FOUND = 20_000
# float16 rounds a vector's length by less.
_NORM_TOLERANCE = 0.01
# An administrator may have granted the right meanwhile.
_TRY_AGAIN_S = 600.0


class ServerQuestions:
    """Asks one server. Safe from several threads."""

    def __init__(self, place: str, store: str, wait_s: float) -> None:
        """`place` is its address for messages, `store` its name in errors; a question waits `wait_s` for it."""
        self._place = place
        self._store = store
        self._wait_s = wait_s
        self._lock = threading.Lock()
        self._failed_at = 0.0
        self.problem = ""
        """The reason why the server did not answer the last question; empty if it did."""

    def ask(self, question: Callable[[], T]) -> T:
        """The answer of `question`. Raises `StoreUnavailable`, at once if the server failed a moment ago."""
        with self._lock:
            if self.problem and time.monotonic() - self._failed_at < _REST_S:
                raise StoreUnavailable(self.problem, self._store)
        try:
            found = ask_server(question, self._place, self._store, self._wait_s)
        except StoreUnavailable as error:
            with self._lock:
                self.problem, self._failed_at = str(error), time.monotonic()
            raise
        with self._lock:
            self.problem = ""
        return found


def ask_server(question: Callable[[], T], place: str, store: str, wait_s: float) -> T:
    """The answer of `question`, or the error of ours that it raises.

    Raises `StoreUnavailable` if it takes longer than `wait_s`, or fails otherwise.
    """
    try:
        return within(wait_s, question)
    except TimeoutError as error:
        raise StoreUnavailable(f"{place} did not answer within {wait_s:g} s", store) from error
    except RagLsError:
        raise
    except Exception as error:
        # Other users may write there, so check every value.
        _log.exception("%s answers what cannot be read", place)
        raise StoreUnavailable(f"{place} answers what cannot be read; the log has it", store) from error


def is_usable(vector: Vector, dimensions: int) -> bool:
    """Whether a vector has so many numbers, all finite, and the length one."""
    return len(vector) == dimensions and abs(float(np.linalg.norm(vector)) - 1.0) < _NORM_TOLERANCE


def check_usable(vectors: Vectors) -> None:
    """Raise `ValueError` if one of these vectors, shape (n, dimensions), is not finite and of length one."""
    if not np.all(np.abs(np.linalg.norm(vectors, axis=1) - 1.0) < _NORM_TOLERANCE):
        raise ValueError("vectors that are not finite and of length one are not stored; none of them was")


def measure(vectors: dict[bytes, Vector], query: Vector) -> dict[bytes, float]:
    """The cosine similarity of `query`, of length one, to each of these."""
    return {each: float(vector @ query) for each, vector in vectors.items() if len(vector) == len(query)}


def find_nearest_among(walk: Callable[[int], list[Neighbour]], count: int, among: Collection[bytes]) -> list[Neighbour]:
    """The `count` nearest of very many texts: `walk` finds the so many nearest of all, until enough are among them."""
    allowed, wanted = set(among), 4 * count
    while True:
        near = walk(wanted)
        kept = [neighbour for neighbour in near if neighbour.text_hash in allowed]
        if len(kept) >= count or len(near) < wanted or wanted >= _MAX_FOUND:
            return kept[:count]
        wanted *= 4


class WriteRights:
    """Remembers that the server refused to be written to, so that it is not asked each time."""

    def __init__(self) -> None:
        self._reads_only_until = 0.0

    @property
    def are_missing(self) -> bool:
        """Whether the server refused a moment ago."""
        return time.monotonic() < self._reads_only_until

    def use(self, write: Callable[[], None]) -> bool:
        """Write, unless the server refused a moment ago; whether the server took it."""
        if self.are_missing:
            return False
        try:
            write()
        except StoreReadOnly as error:
            _log.info("%s", error)
            self._reads_only_until = time.monotonic() + _TRY_AGAIN_S
            return False
        return True
