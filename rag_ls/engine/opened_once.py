"""Opens things at their first use, each once. A thing that opens slowly delays no other one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class OpenedOnce(Generic[K, V]):
    """Opened things, by key. Safe from several threads; a thread waits only for the thing that it wants."""

    def __init__(self, open_one: Callable[[K], V]) -> None:
        self._open_one = open_one
        self._lock = threading.Lock()
        self._gates: dict[K, threading.Lock] = {}
        self._opened: dict[K, V] = {}

    def get(self, key: K) -> V:
        """The thing with this key, opened if it is not open. Raises what opening it raises; the next call tries again."""
        with self._lock:
            if key in self._opened:
                return self._opened[key]
            gate = self._gates.setdefault(key, threading.Lock())
        with gate:
            with self._lock:
                if key in self._opened:
                    return self._opened[key]
            opened = self._open_one(key)
            with self._lock:
                self._opened[key] = opened
            return opened

    def items(self) -> list[tuple[K, V]]:
        """The things that are open now."""
        with self._lock:
            return list(self._opened.items())

    def take_all(self) -> list[V]:
        """Forget all that is open, after waiting for what is being opened; the caller closes it."""
        with self._lock:
            gates = list(self._gates.values())
        for gate in gates:
            with gate:
                pass
        with self._lock:
            taken, self._opened = list(self._opened.values()), {}
        return taken
