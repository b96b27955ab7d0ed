"""The lock on which a project's background thread waits for news, which start it again after it ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Wake:
    """A lock with a thread that waits for news: one that may end does so, and the next news starts it again."""

    def __init__(self) -> None:
        self.condition = threading.Condition()
        """The lock, on which the thread waits for news."""
        self._run: Callable[[], None] | None = None
        self._name = ""
        self._thread: threading.Thread | None = None
        self._may_end = False

    def serve(self, run: Callable[[], None], name: str) -> None:
        """Run `run` in a thread of this name, now and at news after it has ended."""
        with self.condition:
            self._run, self._name = run, name
            self._start()

    def close(self) -> None:
        """Start no thread any more, and let the present one look up."""
        with self.condition:
            self._run = None
            self.condition.notify_all()

    def join(self, timeout_s: float | None = None) -> None:
        """Wait for the thread's end, if one runs."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout_s)

    @contextmanager
    def news(self) -> Iterator[None]:
        """Hold the lock during the block, and tell the thread of news at its end."""
        with self.condition:
            yield
            self.notify_all()

    # --- with the lock

    def notify_all(self) -> None:
        """Tell the thread of news."""
        self._may_end = False
        self._start()
        self.condition.notify_all()

    def let_end(self) -> bool:
        """Let the thread end if it finds nothing to do; whether none runs."""
        if self._thread is not None and not self._may_end:
            self._may_end = True
            self.condition.notify_all()
        return self._thread is None

    def ends(self) -> bool:
        """Called by the thread that found nothing to do: whether it has to end now."""
        if self._may_end:
            self._thread = None
        return self._may_end

    def _start(self) -> None:
        if self._thread is None and self._run is not None:
            self._may_end = False
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
