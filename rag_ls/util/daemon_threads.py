"""Runs one piece of work in a thread of its own that no exit waits for: the disk or model that it waits for may hang."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def run_in_daemon_thread(work: Callable[[], T], name: str) -> Future[T]:
    """A future of what `work` returns or raises; it cannot be cancelled. The thread has this name."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


def within(timeout_s: float, call: Callable[[], T]) -> T:
    """The result of `call`, or what it raises; `TimeoutError` if it takes longer. A call that is too late goes on in its thread."""
    return run_in_daemon_thread(call, "deadline").result(timeout_s)
