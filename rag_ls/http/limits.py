"""Limits what each token may ask: requests a second, and requests that are answered at the same time."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from rag_ls.errors import TooManyAtOnce

# Requests may come in a burst that has as many as are allowed in this many seconds.
_BURST_S = 2.0
_SLOT_WAIT_S = 5.0
_MAX_BUCKETS = 1000


@dataclass(slots=True)
class _Bucket:
    """A token bucket: `left` requests were allowed at `at` (seconds)."""

    left: float
    at: float


class RequestRate:
    """Allows each caller some requests a second, and a burst of them."""

    def __init__(self, per_second: float) -> None:
        """`per_second` is 0 for no limit."""
        self._rate = per_second
        self._most = max(1.0, per_second * _BURST_S)
        self._buckets: dict[str, _Bucket] = {}

    def wait_s(self, caller: str) -> float:
        """Count one request: 0 if it is allowed, else how many seconds until one is."""
        if not self._rate:
            return 0.0
        now = time.monotonic()
        if len(self._buckets) > _MAX_BUCKETS:
            self._buckets.clear()
        bucket = self._buckets.setdefault(caller, _Bucket(self._most, now))
        bucket.left = min(self._most, bucket.left + (now - bucket.at) * self._rate)
        bucket.at = now
        if bucket.left < 1:
            return (1 - bucket.left) / self._rate
        bucket.left -= 1
        return 0.0


class Slots:
    """Allows each caller some requests at the same time; further ones wait a moment. For one event loop."""

    def __init__(self, per_caller: int, wait_s: float = _SLOT_WAIT_S) -> None:
        self._most = per_caller
        self._wait_s = wait_s
        self._slots: dict[str, asyncio.Semaphore] = {}

    @contextlib.asynccontextmanager
    async def take(self, caller: str) -> AsyncIterator[None]:
        """Take a slot meanwhile. Raises `TooManyAtOnce` if none becomes free in time."""
        slot = self._slots.setdefault(caller, asyncio.Semaphore(self._most))
        try:
            await asyncio.wait_for(slot.acquire(), self._wait_s)
        except TimeoutError:
            raise TooManyAtOnce("too many requests at the same time for this token; try again in a moment") from None
        try:
            yield
        finally:
            slot.release()
