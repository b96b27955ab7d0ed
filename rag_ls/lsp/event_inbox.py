"""Collects the engine's events for one editor."""

from __future__ import annotations

import asyncio
import threading

from rag_ls.engine.events import DocumentIndexed, Event, IndexProgressed

# How long to collect events, so that a batch of files or several new memories make one message.
_GATHER_S = 0.1


class EventInbox:
    """Accepts events from any thread, and gives them to the event loop in groups without duplicates.

    Of a project's indexed documents and progress steps, only the latest of a group is kept.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._arrived = asyncio.Event()
        self._lock = threading.Lock()
        self._waiting: dict[object, Event] = {}

    def put(self, event: Event) -> None:
        """An event happened. Safe from several threads."""
        key = (type(event), event.root) if isinstance(event, DocumentIndexed | IndexProgressed) else event
        with self._lock:
            is_first = not self._waiting
            self._waiting[key] = event
        if is_first and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._arrived.set)

    async def take(self) -> list[Event]:
        """Wait for events; returns those since the last call, in order."""
        await self._arrived.wait()
        await asyncio.sleep(_GATHER_S)
        with self._lock:
            taken, self._waiting = list(self._waiting.values()), {}
        self._arrived.clear()
        return taken
