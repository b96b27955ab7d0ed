"""Waits for editors' messages that the engine has received but not taken in yet."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

# A question waits at most this long for the editors' earlier messages.
_DRAIN_S = 0.05

HasUnread = Callable[[], bool]


class Editors:
    """Waits until the messages of all editors are taken in. Safe from several threads."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._editors: tuple[HasUnread, ...] = ()
        self._steps = 0

    def join(self, has_unread: HasUnread) -> None:
        """Add an editor; `has_unread` tells whether a message of it was not taken in yet. The editor calls `note_step`."""
        with self._change:
            self._editors = (*self._editors, has_unread)

    def leave(self, has_unread: HasUnread) -> None:
        with self._change:
            self._editors = tuple(kept for kept in self._editors if kept != has_unread)

    def note_step(self) -> None:
        """Note that messages of an editor were taken in."""
        with self._change:
            self._steps += 1
            self._change.notify_all()

    def drain(self) -> bool:
        """Wait at most a moment until all messages are taken in; whether all are."""
        deadline = time.monotonic() + _DRAIN_S
        while True:
            steps = self._steps
            # Ask the editors without holding the lock: they take locks of their own.
            if not any(has_unread() for has_unread in self._editors):
                return True
            if not self._wait_for_step(steps, deadline - time.monotonic()):
                return False

    def _wait_for_step(self, known: int, timeout_s: float) -> bool:
        with self._change:
            return self._change.wait_for(lambda: self._steps != known, timeout_s)
