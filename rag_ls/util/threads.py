"""Threads that end with the process, and what is counted and timed in them."""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from rag_ls.util.records import dataclass

_log = logging.getLogger(__name__)

T = TypeVar("T")


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


class Listeners(Generic[T]):
    """Tells every listener of every event, in the thread where it happens. Safe from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: tuple[Callable[[T], None], ...] = ()

    def tell(self, event: T) -> None:
        """Tell an event to all listeners, even if one of them fails."""
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                _log.exception("a listener failed on %s", event)

    def listen(self, listener: Callable[[T], None]) -> Callable[[], None]:
        """Call `listener`, which must be quick, with each event. Call the returned function to stop."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def stop() -> None:
            with self._lock:
                self._listeners = tuple(kept for kept in self._listeners if kept is not listener)

        return stop


_MAX_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Latency:
    """The latencies of one kind of operation, in milliseconds."""

    count: int
    """The number of calls since the start, not only of those kept."""
    p50: float
    p95: float
    p99: float


class Latencies:
    """Recorder of durations by operation. Safe from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, deque[float]] = {}
        self._counts: dict[str, int] = {}

    def record(self, operation: str, milliseconds: float) -> None:
        """Note one call."""
        with self._lock:
            self._kept.setdefault(operation, deque(maxlen=_MAX_KEPT)).append(milliseconds)
            self._counts[operation] = self._counts.get(operation, 0) + 1

    def summary(self) -> dict[str, Latency]:
        """The percentiles (nearest rank) of every operation seen, by name."""
        with self._lock:
            kept = {name: sorted(values) for name, values in self._kept.items()}
            counts = dict(self._counts)
        return {
            name: Latency(counts[name], *(round(percentile(values, share), 1) for share in (50, 95, 99)))
            for name, values in sorted(kept.items())
        }


def percentile(ordered: list[float], share: float) -> float:
    """The nearest-rank percentile of values in ascending order."""
    return ordered[max(0, -(-len(ordered) * int(share) // 100) - 1)]


def run_in_daemon_thread(work: Callable[[], T], name: str) -> Future[T]:
    """A future of what `work` returns or raises; it cannot be cancelled. The thread has this name."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


def within(timeout_s: float, call: Callable[[], T]) -> T:
    """The result of `call`, or what it raises; `TimeoutError` if it takes longer. A call that is too late goes on in its thread."""
    return run_in_daemon_thread(call, "deadline").result(timeout_s)
