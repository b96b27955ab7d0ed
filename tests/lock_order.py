"""Checks in test runs that threads take rag_ls's locks in one order, so that no two can wait for each other for ever.

Locks are taken downward through the rooms, as imports go. Within a room, two locks may be taken in either order, but not
in both. A fault is written to a file, since the thread that made it may swallow errors, or be in another process. The
variable `RAG_LS_CHECK_LOCKS` names that file, for the copies of `tests/forking.py` too.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections import defaultdict
from collections.abc import Callable
from typing import Any

_ROOMS = (
    ("cli",), ("daemon",), ("http",), ("lsp", "mcp"), ("operations",), ("engine",), ("rules",),
    ("indexing", "memory", "history"), ("search",), ("chunking", "embedding", "storage"), ("languages",),
    ("config",), ("project",), ("util",),
)  # fmt: skip
_RANKS = {room: rank for rank, rooms in enumerate(_ROOMS) for room in rooms}
_CONDITION = threading.Condition.__init__.__code__
_new_lock, _new_reentrant_lock = threading.Lock, threading.RLock


class LockOrder:
    """Knows which locks were taken while which others were held. Safe from several threads."""

    def __init__(self, report: Callable[[str], None]) -> None:
        """`report` is called with a description of each fault, once for each pair of locks."""
        self._report = report
        self._later: dict[str, set[str]] = defaultdict(set)
        """By the place where a lock is made: the places of those that were taken while it was held."""
        self._change = _new_lock()
        self._thread = threading.local()

    def make_lock(self, lock: Any) -> Any:
        """A checked lock in place of one of `threading`, if a module of rag_ls asks for it, itself or by a condition."""
        frame = sys._getframe(2)
        if frame.f_code is _CONDITION and frame.f_back is not None:
            frame = frame.f_back
        package, *rooms = str(frame.f_globals.get("__name__")).split(".")
        is_ours = package == "rag_ls" and rooms
        return (
            CheckedLock(lock, self, f"{'.'.join(rooms)}:{frame.f_lineno}", _RANKS.get(rooms[0], 0)) if is_ours else lock
        )

    @property
    def held(self) -> list[CheckedLock]:
        """The locks that this thread holds, the first one taken first."""
        found: list[CheckedLock] = self._thread.__dict__.setdefault("held", [])
        return found

    def check(self, wanted: CheckedLock, *, waits: bool = False) -> None:
        """Report a lock that must not be waited for, or (`waits`) a condition not be waited on, while others are held."""
        for lock in self.held:
            if wanted.place in self._later[lock.place] and not waits:
                continue
            with self._change:
                is_fault = waits or wanted.rank < lock.rank or self._leads(wanted.place, lock.place)
                self._later[lock.place].add(wanted.place)
            if is_fault:
                stack = "".join(traceback.format_stack(limit=20)[:-2])
                self._report(f"{wanted.place} was waited for while {lock.place} was held\n{stack}\n")

    def _leads(self, first: str, last: str) -> bool:
        """Whether `last` was taken while `first` was held, directly or by others in between."""
        seen, left = {first}, [first]
        while left:
            place = left.pop()
            if place == last:
                return True
            left.extend(self._later[place] - seen)
            seen |= self._later[place]
        return False


class CheckedLock:
    """A lock of `threading`, reentrant or not, whose order is checked before a thread waits for it."""

    def __init__(self, lock: Any, order: LockOrder, place: str, rank: int) -> None:
        self._lock = lock
        self._order = order
        self.place = place
        self.rank = rank

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock, as `threading.Lock` does."""
        if blocking and not self._is_owned():
            self._order.check(self)
        is_taken: bool = self._lock.acquire(blocking, timeout)
        if is_taken:
            self._order.held.append(self)
        return is_taken

    def release(self) -> None:
        """Release the lock. Raises `RuntimeError` where it is not held."""
        self._lock.release()
        if self._is_owned():
            self._order.held.remove(self)

    def locked(self) -> bool:
        """Whether a thread holds it."""
        is_locked: bool = self._lock.locked()
        return is_locked

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    # --- what `threading.Condition` asks of a reentrant lock

    def _is_owned(self) -> bool:
        return self in self._order.held

    def _release_save(self) -> int:
        count = self._order.held.count(self)
        for _ in range(count):
            self.release()
        self._order.check(self, waits=True)
        return count

    def _acquire_restore(self, count: int) -> None:
        for _ in range(count):
            self.acquire()


def check_locks(file: str) -> None:
    """Have all locks that modules of rag_ls make from now on checked; faults are appended to `file`."""

    def report(fault: str) -> None:
        with open(file, "a", encoding="utf-8") as faults:
            faults.write(fault)

    order = LockOrder(report)
    threading.Lock = lambda: order.make_lock(_new_lock())  # type: ignore[assignment]
    threading.RLock = lambda: order.make_lock(_new_reentrant_lock())  # type: ignore[assignment]
