"""What an editor says of documents and files, on its way to the engine: off the LSP thread, in order."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Hashable

_log = logging.getLogger(__name__)

_CLOSE_S = 5.0

Work = Callable[[], None]


class HandOver:
    """A thread that hands over, which may wait for disks and locks. Of what has the same key, only the latest is done."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._waiting: dict[Hashable, Work] = {}
        self._is_busy = False
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="hand over", daemon=True)
        self._thread.start()

    def put(self, work: Work, key: Hashable | None = None) -> None:
        """Have something done, in the place of what waits under the same key."""
        with self._change:
            key = object() if key is None else key
            # After all that was put meanwhile: it may be about where the document belongs.
            self._waiting.pop(key, None)
            self._waiting[key] = work
            self._change.notify_all()

    @property
    def is_done(self) -> bool:
        """Whether all that was put has been done."""
        with self._change:
            return not self._waiting and not self._is_busy

    async def done(self) -> None:
        """Wait until all that was put before has been done."""
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
        """Do what waits, and end."""
        with self._change:
            self._is_closed = True
            self._change.notify_all()
        self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        while True:
            with self._change:
                self._is_busy = False
                self._change.wait_for(lambda: self._waiting or self._is_closed)
                if not self._waiting:
                    return
                work = self._waiting.pop(next(iter(self._waiting)))
                self._is_busy = True
            try:
                work()
            except Exception:
                _log.exception("handing over failed")
