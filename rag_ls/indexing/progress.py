"""How far indexing is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Phase(StrEnum):
    """The work that the indexer of a project is doing."""

    IDLE = "idle"
    SCANNING = "scanning"
    READING = "reading"
    LOADING = "loading"
    """The model that is to embed what is left is loading."""
    EMBEDDING = "embedding"
    CANCELLED = "cancelled"
    WAITING = "waiting"
    """Another process indexes this project."""


_IN_WORDS = {Phase.LOADING: "loading the model", Phase.WAITING: "another rag-ls process indexes this project"}


class Depth(IntEnum):
    """How far background indexing goes."""

    COMPARE = 1
    """Find out what changed, and queue it."""
    WORDS = 2
    """Cut and store it too, so that it is found by words."""
    EMBEDDINGS = 3
    """Embed it too."""


@dataclass(frozen=True, slots=True)
class Progress:
    """One look at an indexing run: `done` of `total` documents (reading) or chunks (embedding)."""

    phase: Phase
    done: int = 0
    total: int = 0

    @property
    def percentage(self) -> int:
        """0 to 100."""
        return min(100, 100 * self.done // self.total) if self.total else 0

    def __str__(self) -> str:
        if self.phase in _IN_WORDS:
            return _IN_WORDS[self.phase]
        units = {Phase.READING: "files", Phase.EMBEDDING: "chunks"}
        unit = units.get(self.phase)
        return f"{self.phase} {self.done:,}/{self.total:,} {unit}" if unit else str(self.phase)


Listener = Callable[[Progress], None]


class ProgressBoard:
    """Holds the present progress and tells it to all listeners. Safe from several threads."""

    def __init__(self) -> None:
        self.now = Progress(Phase.IDLE)
        self._lock = threading.Lock()
        self._listeners: tuple[Listener, ...] = ()

    def report(self, progress: Progress) -> None:
        """Set the present progress, and call the listeners in this thread."""
        self.now = progress
        for listener in self._listeners:
            listener(progress)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with each step from a background thread. Call the returned function to stop."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def stop() -> None:
            with self._lock:
                self._listeners = tuple(kept for kept in self._listeners if kept is not listener)

        return stop
