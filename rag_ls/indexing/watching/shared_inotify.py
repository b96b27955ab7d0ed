"""Linux: one inotify instance, and one thread that reads it, for all the trees that a process watches.

A user has few instances (128 by default), and each would hold file handles of its own.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
from pathlib import Path
from typing import Protocol

from inotify_simple import Event, INotify, flags

# What comes without being asked for.
_ALWAYS_TOLD = flags.IGNORED | flags.UNMOUNT


class Listener(Protocol):
    """One tree's watches."""

    def take_in(self, event: Event) -> None:
        """Take an event of one of its watches, or one that tells of a lost event. Called with a lock held."""


class SharedInotify:
    """The watches of all listeners. The instance exists while there is a listener. Safe from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: set[Listener] = set()
        # Two projects may watch one folder: the system has one watch for it.
        self._masks: dict[int, dict[Listener, int]] = {}
        self._inotify: INotify | None = None
        self._end = -1

    def join(self, listener: Listener) -> None:
        """Add a listener. Raises `OSError` where no instance can be had."""
        with self._lock:
            if self._inotify is None:
                self._start()
            self._listeners.add(listener)

    def leave(self, listener: Listener) -> None:
        """Remove a listener and its watches."""
        with self._lock:
            for watch in [watch for watch, masks in self._masks.items() if listener in masks]:
                with contextlib.suppress(OSError):
                    self._remove(listener, watch)
            self._listeners.discard(listener)
            if not self._listeners and self._inotify is not None:
                # The thread closes both: it may be waiting for them.
                os.eventfd_write(self._end, 1)
                self._inotify, self._masks = None, {}

    def add_watch(self, listener: Listener, folder: Path | str, mask: int) -> int:
        """Watch a folder; returns the watch's number, the former one if it is watched already. Raises `OSError`."""
        with self._lock:
            assert self._inotify is not None
            # The same lock as for reading: no event is read before it is known whose it is.
            watch = self._inotify.add_watch(folder, mask | flags.MASK_ADD)
            self._masks.setdefault(watch, {})[listener] = mask
            return int(watch)

    def remove_watch(self, listener: Listener, watch: int) -> None:
        """Watch a folder no more. Raises `OSError` where the system removed the watch before."""
        with self._lock:
            self._remove(listener, watch)

    def read(self) -> None:
        """Hand what the system has noticed up to now to the listeners."""
        with self._lock:
            if self._inotify is not None:
                for event in self._inotify.read(timeout=0):
                    self._hand_on(event)

    def _remove(self, listener: Listener, watch: int) -> None:
        masks = self._masks.get(watch, {})
        if masks.pop(listener, None) is not None and not masks:
            del self._masks[watch]
            assert self._inotify is not None
            self._inotify.rm_watch(watch)

    def _hand_on(self, event: Event) -> None:
        if event.mask & flags.Q_OVERFLOW:
            for listener in self._listeners:
                listener.take_in(event)
            return
        for listener, mask in self._masks.get(event.wd, {}).items():
            if event.mask & (mask | _ALWAYS_TOLD):
                listener.take_in(event)
        if event.mask & flags.IGNORED:
            self._masks.pop(event.wd, None)

    def _start(self) -> None:
        inotify = INotify(nonblocking=True)
        try:
            end = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        except OSError:
            inotify.close()
            raise
        self._inotify, self._end = inotify, end
        threading.Thread(target=self._run, args=(inotify, end), name="inotify", daemon=True).start()

    def _run(self, inotify: INotify, end: int) -> None:
        poll = select.poll()
        poll.register(inotify.fileno(), select.POLLIN)
        poll.register(end, select.POLLIN)
        while all(descriptor != end for descriptor, _ in poll.poll()):
            self.read()
        inotify.close()
        os.close(end)
