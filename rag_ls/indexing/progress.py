"""The progress of indexing, and waiting for it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from enum import IntEnum, StrEnum

from rag_ls.util.records import dataclass


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
    """The last step of background indexing."""

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

    def __str__(self) -> str:
        if self.phase in _IN_WORDS:
            return _IN_WORDS[self.phase]
        units = {Phase.READING: "files", Phase.EMBEDDING: "chunks"}
        unit = units.get(self.phase)
        return f"{self.phase} {self.done:,}/{self.total:,} {unit}" if unit else str(self.phase)


Listener = Callable[[Progress], None]


class ProgressBoard:
    """Holds the present progress, tells it to all listeners, and wakes threads that follow it. Safe from several threads."""

    def __init__(self) -> None:
        self.now = Progress(Phase.IDLE)
        self._change = threading.Condition()
        self._listeners: tuple[Listener, ...] = ()
        self._steps = 0

    def report(self, progress: Progress) -> None:
        """Set the present progress, and call the listeners in this thread."""
        self.now = progress
        self.note_step()
        for listener in self._listeners:
            listener(progress)

    def tell_again(self) -> None:
        """Call the listeners though the progress is the same: work has another reason to wait, or cannot go on."""
        self.note_step()
        for listener in self._listeners:
            listener(self.now)

    def note_step(self) -> None:
        """Note that a background thread has done something, or that its orders have changed."""
        with self._change:
            self._steps += 1
            self._change.notify_all()

    def follow_steps(self, timeout_s: float = math.inf, look_s: float = math.inf) -> Iterator[None]:
        """Yield at once, then after each step, and every `look_s` seconds; ends after `timeout_s` seconds."""
        deadline = time.monotonic() + timeout_s
        while True:
            # Read before the yield: a step while the caller looks leads to another look.
            steps = self._steps
            yield
            left_s = min(look_s, deadline - time.monotonic())
            if left_s <= 0:
                return
            with self._change:
                if self._steps == steps:
                    self._change.wait(None if left_s == math.inf else left_s)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with each step from a background thread. Call the returned function to stop."""
        with self._change:
            self._listeners = (*self._listeners, listener)

        def stop() -> None:
            with self._change:
                self._listeners = tuple(kept for kept in self._listeners if kept is not listener)

        return stop
