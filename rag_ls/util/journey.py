"""Indexing as one journey, for people: what is being done, how much of it is done, and how long the rest takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

_TITLES = {
    "scanning": "comparing files with the index",
    "reading": "reading files",
    "loading": "loading the model",
    "embedding": "embedding chunks",
    "waiting": "another rag-ls process indexes this project; waiting for it",
}
# Of the time of a first index, reading takes about this share; embedding takes the rest.
_READING_SHARE = 0.08
_MIN_SEEN_S = 3.0


# A dataclass would cost each command the import of `inspect`.
class JourneyProgress(NamedTuple):
    """The progress of a journey."""

    done: float
    """The share of the journey that is done, 0 to 1. It never goes back."""
    left_s: float | None
    """The seconds that are left; None while that is not known."""

    def __str__(self) -> str:
        """The time that is left, in words; empty while it is not known."""
        return f"about {duration(self.left_s)} left" if self.left_s is not None else ""


class Journey:
    """Follows the steps of one project's indexing."""

    def __init__(self, *, embeds: bool = True, now: Callable[[], float] = time.monotonic) -> None:
        """`embeds`: embedding comes after reading; else reading is all."""
        self._embeds = embeds
        self._reading_share = _READING_SHARE if embeds else 1.0
        self._now = now
        self._done = 0.0
        self._phase = ""
        # When the present phase began and when it last came further, each with the share that was done then.
        self._began = self._last = (0.0, 0.0)

    def at(self, step: Mapping[str, Any]) -> JourneyProgress:
        """The progress after a step: `{"phase", "done", "total"}`."""
        phase, share = step["phase"], step["done"] / step["total"] if step["total"] else 0.0
        if phase == "reading":
            self._done = max(self._done, share * self._reading_share)
        elif phase == "embedding":
            self._done = max(self._done, self._reading_share + share * (1 - self._reading_share))
        now = self._now()
        if phase != self._phase:
            # The speed of reading does not predict the speed of embedding.
            self._phase, self._began, self._last = phase, (now, self._done), (now, self._done)
        elif self._done > self._last[1]:
            self._last = (now, self._done)
        return JourneyProgress(self._done, self._left_s(now))

    def phase_of(self, step: Mapping[str, Any]) -> str:
        """The phase that a step shows: once all files are read, embedding waits for its model."""
        is_read = self._embeds and step["phase"] == "reading" and step["done"] == step["total"]
        return "loading" if is_read else step["phase"]

    def _left_s(self, now: float) -> float | None:
        (first, then), (last, done) = self._began, self._last
        is_telling = self._phase == "embedding" or not self._embeds
        if not is_telling or last - first < _MIN_SEEN_S:
            return None
        return max(0.0, (1 - done) * (last - first) / (done - then) - (now - last))


def title_of(phase: str) -> str:
    """A phase in words."""
    return _TITLES.get(phase, phase)


def duration(seconds: float) -> str:
    """A time that is left, roughly: `40 s`, `3 min`, `1 h 10 min`."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
