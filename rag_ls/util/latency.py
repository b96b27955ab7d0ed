"""Records how long operations take: percentiles of the last thousand of each kind."""

from __future__ import annotations

import threading
from collections import deque

from rag_ls.util.records import dataclass

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
