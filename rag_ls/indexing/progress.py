"""The progress of indexing, and waiting for it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum, StrEnum

from rag_ls.config import EmbeddingSettings
from rag_ls.util.records import dataclass
from rag_ls.util.threads import Listeners


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


class ProgressBoard:
    """Holds the present progress, tells it to all listeners, and wakes threads that follow it. Safe from several threads."""

    def __init__(self) -> None:
        self.now = Progress(Phase.IDLE)
        self._change = threading.Condition()
        self.listeners = Listeners[Progress]()
        self._steps = 0

    def report(self, progress: Progress) -> None:
        """Set the present progress, and call the listeners in this thread."""
        self.now = progress
        self.note_step()
        self.listeners.tell(progress)

    def tell_again(self) -> None:
        """Call the listeners though the progress is the same: work has another reason to wait, or cannot go on."""
        self.report(self.now)

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


class Wake:
    """A lock with a thread that waits for news: one that may end does so, and the next news starts it again."""

    def __init__(self) -> None:
        self.condition = threading.Condition()
        """The lock, on which the thread waits for news."""
        self._run: Callable[[], None] | None = None
        self._name = ""
        self._thread: threading.Thread | None = None
        self._may_end = False

    def serve(self, run: Callable[[], None], name: str) -> None:
        """Run `run` in a thread of this name, now and at news after it has ended."""
        with self.condition:
            self._run, self._name = run, name
            self._start()

    def close(self) -> None:
        """Start no thread any more, and let the present one look up."""
        with self.condition:
            self._run = None
            self.condition.notify_all()

    def join(self, timeout_s: float | None = None) -> None:
        """Wait for the thread's end, if one runs."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout_s)

    @contextmanager
    def news(self) -> Iterator[None]:
        """Hold the lock during the block, and tell the thread of news at its end."""
        with self.condition:
            yield
            self.notify_all()

    def look_up(self) -> None:
        """Let a thread that waits look up: what it waits for is there. That is no news, and starts no thread."""
        with self.condition:
            self.condition.notify_all()

    # --- with the lock

    def notify_all(self) -> None:
        """Tell the thread of news."""
        self._may_end = False
        self._start()
        self.condition.notify_all()

    def let_end(self) -> bool:
        """Let the thread end if it finds nothing to do; whether none runs."""
        if self._thread is not None and not self._may_end:
            self._may_end = True
            self.condition.notify_all()
        return self._thread is None

    def ends(self) -> bool:
        """Called by the thread that found nothing to do: whether it has to end now."""
        if self._may_end:
            self._thread = None
        return self._may_end

    def _start(self) -> None:
        if self._thread is None and self._run is not None:
            self._may_end = False
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()


def reason_to_wait(settings: EmbeddingSettings) -> str:
    """The reason why bulk embedding waits now, in the words that `status` shows; empty where it goes on."""
    if not settings.on_battery and _on_battery():
        return "on battery; embedding.on_battery = true embeds all the same"
    if settings.max_load and (load := _load_of_others()) > settings.max_load:
        return f"others keep {load:.0%} of the processor busy; embedding.max_load is {settings.max_load:.0%}"
    return ""


def _on_battery() -> bool:
    import psutil

    # psutil has this function only on some systems.
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    return battery is not None and battery.power_plugged is False


def _load_of_others() -> float:
    """The share of the processor, 0..1, that other processes than ours and its children took since the last look."""
    import psutil

    times = psutil.cpu_times_percent(interval=None)
    # Our own background work runs at low priority, which the system counts apart.
    busy = 100.0 - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "nice", 0.0)
    return max(0.0, float(busy) / 100.0)
