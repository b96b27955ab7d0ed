"""Counts what happens in this process, by name."""

from __future__ import annotations

import threading
from collections import Counter


class Counts:
    """Numbers by name, which only grow. Safe from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: Counter[str] = Counter()

    def add(self, name: str, number: int = 1) -> None:
        """Count `number` more."""
        with self._lock:
            self._numbers[name] += number

    def __getitem__(self, name: str) -> int:
        """The number counted; 0 for a name that was never added to."""
        with self._lock:
            return self._numbers[name]
