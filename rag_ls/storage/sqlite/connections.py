"""The open connections of a process's databases: bounded together, and closed where a database rests."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_ls.storage.sqlite.database import Database

# Each connection holds two files; each database holds one more.
MAX_CONNECTIONS = 64
_MIN_CONNECTIONS = 4
# If all connections are in use, one more is opened after this wait, because a thread that holds one may be waiting for another.
_MAX_ROOM_WAIT_S = 1.0


class Connections:
    """Bounds the open connections of a process: the databases that rest longest let go first. Safe from several threads."""

    def __init__(self, most: int = MAX_CONNECTIONS) -> None:
        self._most = max(_MIN_CONNECTIONS, min(most, MAX_CONNECTIONS))
        self._databases: weakref.WeakSet[Database] = weakref.WeakSet()
        self._change = threading.Condition()
        self.unnoticed_threads: set[int] = set()
        """The threads whose calls do not count as use."""
        self.waiting = 0
        """The number of threads that wait for a connection to be returned."""

    def add(self, database: Database) -> None:
        """Count a database's connections from now on."""
        with self._change:
            self._databases.add(database)

    def make_room(self, database: Database) -> None:
        """Close connections of databases that rest, so that `database` can open one. Waits a moment while all are in use."""
        if self._count() < self._most:
            return
        deadline = time.monotonic() + _MAX_ROOM_WAIT_S
        with self._change:
            self.waiting += 1
        try:
            while self._count() >= self._most and not self._close_one(database):
                with self._change:
                    if not self._change.wait(deadline - time.monotonic()):
                        return
        finally:
            with self._change:
                self.waiting -= 1

    def close_unused(self, database: Database) -> None:
        """Close all that is not in use, because the process has no handle left for `database`."""
        for each in self._all():
            if each is not database:
                each.let_go()

    def note_return(self) -> None:
        """A connection is not in use any more: wake a thread that waits for one."""
        with self._change:
            self._change.notify()

    @contextmanager
    def unnoticed(self) -> Iterator[None]:
        """A block in which this thread's questions to databases do not count as use: it looks whether there is work."""
        me = threading.get_ident()
        self.unnoticed_threads.add(me)
        try:
            yield
        finally:
            self.unnoticed_threads.discard(me)

    def _all(self) -> list[Database]:
        with self._change:
            return list(self._databases)

    def _count(self) -> int:
        return sum(database.open_connections for database in self._all())

    def _close_one(self, wanted_by: Database) -> bool:
        """Have the database that rests longest let go; whether one did."""
        opened = [database for database in self._all() if database is not wanted_by and database.open_connections]
        return any(database.let_go() for database in sorted(opened, key=lambda database: -database.unused_s))
