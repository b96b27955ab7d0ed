"""Waits for editors' messages that the engine has received but not taken in yet."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

# A question waits at most this long for the editors' earlier messages.
_DRAIN_S = 0.05
_LOOK_S = 0.001

HasUnread = Callable[[], bool]


class Editors:
    """Waits until the messages of all editors are taken in. Safe from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._editors: tuple[HasUnread, ...] = ()

    def join(self, has_unread: HasUnread) -> None:
        """Add an editor; `has_unread` tells whether a message of it was not taken in yet."""
        with self._lock:
            self._editors = (*self._editors, has_unread)

    def leave(self, has_unread: HasUnread) -> None:
        """Remove an editor."""
        with self._lock:
            self._editors = tuple(kept for kept in self._editors if kept != has_unread)

    def drain(self) -> bool:
        """Wait at most a moment until all messages are taken in; whether all are."""
        deadline = time.monotonic() + _DRAIN_S
        while any(has_unread() for has_unread in self._editors):
            if time.monotonic() >= deadline:
                return False
            time.sleep(_LOOK_S)
        return True
