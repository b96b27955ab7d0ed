"""Hands work that may wait for disks and locks from the LSP thread to others, in order, and the engine's events to the LSP thread."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Hashable
from typing import TypeVar

from rag_ls.engine import DocumentIndexed, Event, IndexProgressed
from rag_ls.util.threads import run_in_daemon_thread

_log = logging.getLogger(__name__)

_CLOSE_S = 5.0

T = TypeVar("T")
Work = Callable[[], None]

# How long to collect events, so that a batch of files or several new memories make one message.
_GATHER_S = 0.1


async def run_aside(work: Callable[[], T]) -> T:
    """Run work off the LSP thread, in a thread that no exit waits for: the disk that it waits for may hang.

    The end of an event loop waits for the threads of `asyncio.to_thread`.
    """
    return await asyncio.wrap_future(run_in_daemon_thread(work, "lsp aside"))


class HandOver:
    """Queued work, one piece at a time. New work replaces waiting work of its key. Used on the LSP thread alone."""

    def __init__(self, on_done: Callable[[], None]) -> None:
        """`on_done` is called whenever all queued work is done."""
        self._on_done = on_done
        self._waiting: dict[Hashable, Work] = {}
        self._working: asyncio.Task[None] | None = None

    def put(self, work: Work, key: Hashable | None = None) -> None:
        """Queue work; it replaces waiting work with the same key."""
        key = object() if key is None else key
        # Queue it last: work put meanwhile may decide which project the document belongs to.
        self._waiting.pop(key, None)
        self._waiting[key] = work
        if self._working is None:
            self._working = asyncio.get_running_loop().create_task(self._work())

    @property
    def is_done(self) -> bool:
        """Whether all queued work is done. Any thread may ask."""
        return self._working is None

    async def done(self, timeout_s: float | None = None) -> None:
        """Wait until all queued work is done."""
        if self._working is not None:
            await asyncio.wait([self._working], timeout=timeout_s)

    async def close(self) -> None:
        """Let the waiting work be done, for some seconds at most."""
        # Where the editor went without a word, the loop that worked has ended.
        if self._working is not None and self._working.get_loop() is asyncio.get_running_loop():
            await self.done(_CLOSE_S)

    async def _work(self) -> None:
        while self._waiting:
            work = self._waiting.pop(next(iter(self._waiting)))
            try:
                await run_aside(work)
            except Exception:
                _log.exception("handing over failed")
        self._working = None
        self._on_done()


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
