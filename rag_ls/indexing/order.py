"""In which order the files of the queue are read."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class ReadingOrder:
    """Queued files in the order of the queue, but those first that somebody asked about.

    One thread reads; `put_first` and `choosing` are for all.
    """

    def __init__(self) -> None:
        self._rest: deque[str] = deque()
        self._left: set[str] = set()
        self._first: deque[str] = deque()
        self._asked: tuple[str, ...] = ()
        self._lock = threading.Lock()
        self._choosing = 0
        self._chosen = threading.Condition(self._lock)

    @contextmanager
    def choosing(self) -> Iterator[None]:
        """Somebody is about to say what goes first."""
        with self._lock:
            self._choosing += 1
        try:
            yield
        finally:
            with self._lock:
                self._choosing -= 1
                self._chosen.notify_all()

    def wait_until_chosen(self, timeout_s: float) -> None:
        """Wait for those who are about to say what goes first."""
        with self._lock:
            self._chosen.wait_for(lambda: not self._choosing, timeout_s)

    def put_first(self, paths: Iterable[str]) -> None:
        """Read these before all others, in this order; those that are not queued do not matter."""
        with self._lock:
            self._asked = tuple(dict.fromkeys((*paths, *self._asked)))
            self._first = deque(self._asked)

    def of(self, queued: Iterable[str]) -> Iterator[str]:
        """Each queued path once. What comes next is decided when it is asked for.

        What was asked about stays first for another queue: not all that was taken from this one need have been read.
        """
        self._rest.clear()
        self._left.clear()
        self.add(queued)
        with self._lock:
            self._asked = tuple(path for path in self._asked if path in self._left)
        while self._left:
            path = self._next()
            if path in self._left:
                self._left.remove(path)
                yield path

    def add(self, queued: Iterable[str]) -> None:
        """More was queued, or something again that was taken before: it comes, too."""
        new = [path for path in queued if path not in self._left]
        self._rest.extend(new)
        self._left.update(new)
        with self._lock:
            self._first = deque(self._asked)

    def _next(self) -> str:
        with self._lock:
            return self._first.popleft() if self._first else self._rest.popleft()
