"""Caches answers until the data that they were made from changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from rag_ls.util.threads import Counts

T = TypeVar("T")

# Each holds a few hundred chunks.
_MAX_KEPT = 32

CACHED_ANSWERS, MADE_ANSWERS = "cached answers", "made answers"


class AnswerCache(Generic[T]):
    """Caches results by key, and drops all of them when their source changes. Safe from several threads."""

    def __init__(self, version: Callable[[], int], counts: Counts) -> None:
        """`version` returns a different number after every change of the results' source; `counts` is told of each
        result, under the names above."""
        self.version = version
        self._counts = counts
        self._lock = threading.Lock()
        self._made_from: int | None = None
        self._results: OrderedDict[Hashable, T] = OrderedDict()

    def forget(self) -> None:
        """Drop all results."""
        with self._lock:
            self._results.clear()

    def get(self, key: Hashable, version: int) -> T | None:
        """The result for `key` that was made from this version of the source; None if there is none."""
        with self._lock:
            if version != self._made_from:
                self._results.clear()
                self._made_from = version
            found = self._results.get(key)
            if found is not None:
                self._results.move_to_end(key)
        self._counts.add(MADE_ANSWERS if found is None else CACHED_ANSWERS)
        return found

    def keep(self, key: Hashable, version: int, result: T) -> None:
        """Cache a result that was made from this version, unless the source changed meanwhile: it may mix both states."""
        with self._lock:
            if self._made_from == version == self.version():
                self._results[key] = result
                while len(self._results) > _MAX_KEPT:
                    self._results.popitem(last=False)
