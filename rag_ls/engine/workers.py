"""Threads: those that answer questions, the wait for editors' messages, and things that threads open once.

One pool bounds the number of threads. A client that asks a thousand questions at once
delays only itself: the other clients' questions go in between.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from rag_ls.errors import ProjectUnavailable, StoreDamaged
from rag_ls.storage import INDEX_STORE
from rag_ls.util.threads import Latencies

_log = logging.getLogger(__name__)

T = TypeVar("T")

_Task = tuple["Future[Any]", Callable[[], Any]]


def run_mending(work: Callable[[], T]) -> T:
    """Run `work` in this thread. If it meets a damaged index, run it once more, which makes the index anew."""
    try:
        return work()
    except StoreDamaged as error:
        _log.warning("%s", error)
        if error.store != INDEX_STORE:
            raise
    # The second run opens damaged projects anew.
    return work()


class Workers:
    """A pool of threads that serves its clients in turn."""

    def __init__(self, threads: int = 8, per_client: int = 4) -> None:
        """`threads` run at most, `per_client` of them for one client."""
        self._most = threads
        self._per_client = per_client
        self.latencies = Latencies()
        """The time that answers took, by operation."""
        lock = threading.RLock()
        self._wake = threading.Condition(lock)
        self._rested = threading.Condition(lock)
        # The client whose turn is next comes first.
        self._waiting: OrderedDict[Hashable, deque[_Task]] = OrderedDict()
        self._running: dict[Hashable, int] = {}
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a client waits for an answer now."""
        # Under the lock, because a task that a thread is just taking is in neither collection for a moment.
        with self._wake:
            return bool(self._running or self._waiting)

    def wait_until_idle(self, timeout_s: float) -> bool:
        """Wait until no client waits for an answer; False on time-out."""
        with self._rested:
            return self._rested.wait_for(lambda: not (self._running or self._waiting), timeout_s)

    def submit(self, client: Hashable, operation: str, work: Callable[[], T]) -> Future[T]:
        """Run `work` in one of the threads, after the client's earlier requests, and note how long its answer took."""
        future: Future[T] = Future()
        asked_at = time.perf_counter()

        def answer() -> T:
            found = run_mending(work)
            self.latencies.record(operation, (time.perf_counter() - asked_at) * 1000)
            return found

        with self._wake:
            if self._closed:
                raise ProjectUnavailable("the engine is closing: ask again, and another one answers")
            self._waiting.setdefault(client, deque()).append((future, answer))
            # Each idle thread takes one task. A thread that was woken but does not run yet still counts as idle.
            waiting = sum(map(len, self._waiting.values()))
            if waiting > self._idle and len(self._threads) < self._most:
                thread = threading.Thread(target=self._run, name=f"worker {len(self._threads) + 1}", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._wake.notify()
        return future

    def forget(self, client: Hashable) -> None:
        """Drop the waiting requests of a client that left."""
        with self._wake:
            waiting = self._waiting.pop(client, deque())
            self._rested.notify_all()
        for future, _ in waiting:
            future.cancel()

    def close(self, timeout_s: float = 5.0) -> None:
        """Accept no more work, and wait up to `timeout_s` seconds for running tasks."""
        with self._wake:
            self._closed = True
            waiting = [task for tasks in self._waiting.values() for task in tasks]
            self._waiting.clear()
            self._wake.notify_all()
            self._rested.notify_all()
        for future, _ in waiting:
            future.cancel()
        deadline = time.monotonic() + timeout_s
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))

    def _run(self) -> None:
        while (task := self._next_task()) is not None:
            client, future, work = task
            try:
                if future.set_running_or_notify_cancel():
                    try:
                        future.set_result(work())
                    except BaseException as error:
                        future.set_exception(error)
            finally:
                self._finish_task(client)

    def _next_task(self) -> tuple[Hashable, Future[Any], Callable[[], Any]] | None:
        """Wait for the next task; None when the pool closes."""
        with self._wake:
            while True:
                if self._closed:
                    return None
                for client, tasks in self._waiting.items():
                    if self._running.get(client, 0) < self._per_client:
                        future, work = tasks.popleft()
                        self._waiting.move_to_end(client)
                        if not tasks:
                            del self._waiting[client]
                        self._running[client] = self._running.get(client, 0) + 1
                        return client, future, work
                self._idle += 1
                self._wake.wait()
                self._idle -= 1

    def _finish_task(self, client: Hashable) -> None:
        with self._wake:
            self._running[client] -= 1
            if not self._running[client]:
                del self._running[client]
            self._wake.notify()
            self._rested.notify_all()


K = TypeVar("K")
V = TypeVar("V")


class OpenedOnce(Generic[K, V]):
    """Opened things, by key. Safe from several threads; a thread waits only for the thing that it wants."""

    def __init__(self, open_one: Callable[[K], V]) -> None:
        self._open_one = open_one
        self._lock = threading.Lock()
        self._gates: dict[K, threading.Lock] = {}
        self._opened: dict[K, V] = {}

    def get(self, key: K) -> V:
        """The thing with this key, opened if it is not open. Raises what opening it raises; the next call tries again."""
        with self._lock:
            if key in self._opened:
                return self._opened[key]
            gate = self._gates.setdefault(key, threading.Lock())
        with gate:
            with self._lock:
                if key in self._opened:
                    return self._opened[key]
            opened = self._open_one(key)
            with self._lock:
                self._opened[key] = opened
            return opened

    def items(self) -> list[tuple[K, V]]:
        """The things that are open now."""
        with self._lock:
            return list(self._opened.items())

    def take_all(self) -> list[V]:
        """Forget all that is open, after waiting for what is being opened; the caller closes it."""
        with self._lock:
            gates = list(self._gates.values())
        for gate in gates:
            with gate:
                pass
        with self._lock:
            taken, self._opened = list(self._opened.values()), {}
        return taken


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
