"""Answers kept for as long as they are exactly right."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")

# Each holds a few hundred chunks.
_KEPT = 32


class AnswerCache(Generic[T]):
    """Results by key, all forgotten as soon as anything they were made from has changed. Safe from several threads."""

    def __init__(self, version: Callable[[], int]) -> None:
        """`version` gives another number after every change of what results are made from."""
        self._version = version
        self._lock = threading.Lock()
        self._made_from: int | None = None
        self._results: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result for `key`, made anew unless nothing changed since it was made."""
        version = self._version()
        with self._lock:
            if version != self._made_from:
                self._results.clear()
                self._made_from = version
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key]
        result = make()
        with self._lock:
            # What was read while something changed may be of either state.
            if self._made_from == version == self._version():
                self._results[key] = result
                while len(self._results) > _KEPT:
                    self._results.popitem(last=False)
        return result
