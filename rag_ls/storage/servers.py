"""Questions to a server, each with a time limit. A server that failed is not asked for a while, so that no question waits again."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from typing import TypeVar

import numpy as np

from rag_ls.errors import RagLsError, StoreReadOnly, StoreUnavailable
from rag_ls.storage.api import Vector
from rag_ls.storage.records import Neighbour, Vectors
from rag_ls.util.threads import within

_log = logging.getLogger(__name__)

T = TypeVar("T")

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
