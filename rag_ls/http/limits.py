"""Limits how many requests of one token are answered at the same time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from rag_ls.errors import TooManyAtOnce

_SLOT_WAIT_S = 5.0


class Slots:
    """Allows each caller some requests at the same time; further ones wait a moment. For one event loop."""

    def __init__(self, per_caller: int) -> None:
        self._most = per_caller
        self._slots: dict[str, asyncio.Semaphore] = {}

    @contextlib.asynccontextmanager
    async def take(self, caller: str) -> AsyncIterator[None]:
        """Take a slot meanwhile. Raises `TooManyAtOnce` if none becomes free in time."""
        slot = self._slots.setdefault(caller, asyncio.Semaphore(self._most))
        try:
            await asyncio.wait_for(slot.acquire(), _SLOT_WAIT_S)
        except TimeoutError:
            raise TooManyAtOnce("too many requests at the same time for this token; try again in a moment") from None
        try:
            yield
        finally:
            slot.release()
