"""Hands an editor's documents and files to the engine, in order and off the LSP thread."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Hashable

_log = logging.getLogger(__name__)

_CLOSE_S = 5.0

Work = Callable[[], None]


class HandOver:
    """A thread that runs queued work, which may wait for disks and locks. New work replaces waiting work of its key."""

    def __init__(self, on_done: Callable[[], None]) -> None:
        """`on_done` is called in the thread whenever all queued work is done."""
        self._on_done = on_done
        self._change = threading.Condition()
        self._waiting: dict[Hashable, Work] = {}
        self._is_busy = False
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="hand over", daemon=True)
        self._thread.start()

    def put(self, work: Work, key: Hashable | None = None) -> None:
        """Queue work; it replaces waiting work with the same key."""
        with self._change:
            key = object() if key is None else key
            # Queue it last: work put meanwhile may decide which project the document belongs to.
            self._waiting.pop(key, None)
            self._waiting[key] = work
            self._change.notify_all()

    @property
    def is_done(self) -> bool:
        """Whether all queued work is done."""
        with self._change:
            return not self._waiting and not self._is_busy

    async def done(self) -> None:
        """Wait until all work queued before this call is done."""
        if self.is_done or self._is_closed:
            return
        loop = asyncio.get_running_loop()
        reached = loop.create_future()

        def tell() -> None:
            if not reached.done():
                reached.set_result(None)

        def reach() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(tell)

        self.put(reach)
        await reached

    def close(self) -> None:
        """Finish the waiting work, and end the thread."""
        with self._change:
            self._is_closed = True
            self._change.notify_all()
        self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        while True:
            with self._change:
                self._is_busy = False
                is_done = not self._waiting
            if is_done:
                self._on_done()
            with self._change:
                self._change.wait_for(lambda: self._waiting or self._is_closed)
                if not self._waiting:
                    return
                work = self._waiting.pop(next(iter(self._waiting)))
                self._is_busy = True
            try:
                work()
            except Exception:
                _log.exception("handing over failed")
