"""SQLite as rag-ls uses it: WAL, one connection a running call, one writer a process, numbered migrations."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from rag_ls.errors import StoreDamaged, StoreError, StoreUnavailable
from rag_ls.storage.sqlite.connections import Connections
from rag_ls.storage.sqlite.file_faults import Migration, disk_full, gives_locks, is_disk_full, open_file
from rag_ls.util.files import create_private_file, describe_no_handles, has_free_handles
from rag_ls.util.paths import file_stamp
from rag_ls.util.records import dataclass

# Long enough for another process to finish the largest single transaction on a slow disk.
_BUSY_TIMEOUT_S = 60.0
_LAST_CALLS_S = 5.0
# Connections that are kept for the next calls: each has a cache of 8 MB.
_MAX_FREE = 2

_Stamp = tuple[tuple[int, int], ...]


@dataclass(slots=True)
class _Call:
    """A thread's running call, which may be inside another one of its own."""

    depth: int = 0
    connection: sqlite3.Connection | None = None


class Database:
    """One SQLite file, safe to use from any thread of any number of processes.

    `migrations[n]` brings the schema from version n to n + 1. Opening raises `sqlite3.DatabaseError`
    for a file that is no database, and `SchemaTooNew` for one that a newer rag-ls wrote.
    """

    def __init__(
        self,
        path: Path | None,
        migrations: Sequence[Migration],
        *,
        store: str = "store",
        durable: bool = False,
        damage: Callable[[sqlite3.Error], str] = lambda error: "",
        inspect: Callable[[sqlite3.Connection], object] = lambda connection: None,
        connections: Connections | None = None,
    ) -> None:
        """`durable` makes each commit survive even a power failure; `path` None keeps everything in memory.

        `store` is the database's name in errors. `damage` returns a message for an error that shows that the file
        itself is broken, else nothing. `inspect` is the first use of each connection; it raises `ForeignFile` for a
        file that another program made. `connections` limits the open connections of several databases together.
        """
        if path is not None and not gives_locks(path.parent):
            # SQLite would try for a minute to get a lock.
            raise sqlite3.OperationalError("no locks are available")
        self._path = path
        self._store = store
        self._damage = damage
        self._inspect = inspect
        self._synchronous = "FULL" if durable else "NORMAL"
        self._connections = connections or Connections()
        self._write_lock = threading.RLock()
        # Whether the holder of the write lock is inside a transaction. Guarded by that lock.
        self._writing = False
        # Connections that are open and not in use, the last used one last.
        self._free: list[sqlite3.Connection] = []
        # The running calls by thread: closing a connection during a call would crash the process.
        self._calls: dict[int, _Call] = {}
        self._quiet = threading.Condition()
        # It never writes, so `data_version` counts every commit as one of another connection (see `changes`).
        self._observer: sqlite3.Connection | None = None
        self._observers = 0
        self._observing = threading.Lock()
        self._used_at = time.monotonic()
        self._left_as: _Stamp | None = None
        self._closed = False
        # A database in memory lives in its one connection, which all threads then share.
        self._shared = self._connect() if path is None else None
        self._connections.add(self)
        try:
            self._migrate(migrations)
        except BaseException:
            self.close()
            raise

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection of this thread's present call, in autocommit mode: each SELECT sees the latest commits."""
        if self._shared is not None:
            return self._shared
        call = self._calls[threading.get_ident()]
        if call.connection is None:
            call.connection = self._take()
        return call.connection

    def rows(self, query: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[Any]:
        """The rows of a SELECT, which sees the latest commits, or those of this thread's own transaction."""
        with self.in_use() as connection:
            return connection.execute(query, values).fetchall()

    def row(self, query: str, values: Sequence[object] = ()) -> Any:
        """The first row of a SELECT; None if there is none."""
        return next(iter(self.rows(query, values)), None)

    def column(self, query: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[Any]:
        """The first value of each row of a SELECT."""
        return [row[0] for row in self.rows(query, values)]

    def count(self, query: str, values: Sequence[object] = ()) -> int:
        """The number that a SELECT gives; 0 for no row."""
        return int(next(iter(self.column(query, values)), 0))

    def text(self, query: str, values: Sequence[object] = ()) -> str:
        """The text that a SELECT gives; empty for no row."""
        return str(next(iter(self.column(query, values)), ""))

    @contextmanager
    def in_use(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection during the block, whose SQLite errors become store errors."""
        with self._naming_errors(), self.call():
            yield self.connection

    @contextmanager
    def _naming_errors(self) -> Iterator[None]:
        """Turn SQLite's errors into store errors, so that no `sqlite3` error leaves this package."""
        try:
            yield
        except sqlite3.Error as error:
            raise self.error_of(error) from error

    @contextmanager
    def call(self) -> Iterator[None]:
        """Give this thread a connection during the block."""
        me = threading.get_ident()
        with self._quiet:
            if self._closed and me not in self._calls:
                raise sqlite3.ProgrammingError("it is closed")
            call = self._calls.setdefault(me, _Call())
            call.depth += 1
        try:
            yield
        finally:
            call.depth -= 1
            if not call.depth:
                self._end(me, call)

    def _end(self, thread: int, call: _Call) -> None:
        with self._quiet:
            del self._calls[thread]
            if thread not in self._connections.unnoticed_threads:
                self._used_at = time.monotonic()
            connection = call.connection
            # If a transaction could not be ended, closing its connection ends it.
            is_kept = (
                len(self._free) < _MAX_FREE and not self._closed and not (connection and connection.in_transaction)
            )
            if connection is not None and is_kept:
                self._free.append(connection)
            self._quiet.notify_all()
        if connection is not None:
            if not is_kept:
                connection.close()
            if self._connections.waiting:
                self._connections.note_return()

    def _take(self) -> sqlite3.Connection:
        with self._quiet:
            if self._free:
                return self._free.pop()
        return self._connect()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Several SELECTs that see one state of the database."""
        if self._shared is not None:
            with self._write_lock:
                yield self._shared
            return
        with self.in_use() as connection:
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("COMMIT")

    def error_of(self, error: sqlite3.Error) -> StoreError:
        """The store error for an error of SQLite; it names the store and the remedy."""
        place = f" ({self._path})" if self._path else ""
        if is_disk_full(error, self._path):
            return disk_full(self._store, self._path)
        if message := self._damage(error):
            return StoreDamaged(message, self._store)
        if isinstance(error, NoHandles):
            return StoreUnavailable(f"the {self._store}{place} cannot be used: {error}", self._store)
        if self._path and not self._path.parent.is_dir():
            gone = f"the {self._store}{place} is gone: its folder was deleted, moved or unmounted"
            return StoreUnavailable(gone, self._store)
        return StoreUnavailable(
            f"the {self._store}{place} cannot be used: {error}; try again, `rag-ls doctor` may help", self._store
        )

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction that commits as a whole or, on an error, changes nothing."""
        with self.in_use(), self._transaction() as connection:
            yield connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._write_lock:
            connection = self.connection
            if self._writing:
                yield connection
                return
            connection.execute("BEGIN IMMEDIATE")
            self._writing = True
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # A COMMIT that failed (a full disk) leaves the transaction open, and its lock held.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._writing = False

    def changes(self) -> int:
        """A number that differs after every commit of any connection (SQLite's `data_version`)."""
        if self._shared is not None:
            return self._shared.total_changes
        with self._naming_errors(), self.call(), self._observing:
            if self._observer is None:
                self._observer = self._connect()
                self._observers += 1
            if threading.get_ident() not in self._connections.unnoticed_threads:
                self._used_at = time.monotonic()
            # A new observer's count begins anew, so its number is part of the result.
            return (self._observers << 40) + int(self._observer.execute("PRAGMA data_version").fetchone()[0])

    # --- rest

    @property
    def open_connections(self) -> int:
        """The number of open connections, in use or not."""
        in_use = sum(call.connection is not None for call in list(self._calls.values()))
        return in_use + len(self._free) + (self._observer is not None)

    @property
    def unused_s(self) -> float:
        """Seconds since the last call that counts (see `Connections.unnoticed`)."""
        return time.monotonic() - self._used_at

    def unnoticed(self) -> AbstractContextManager[None]:
        return self._connections.unnoticed()

    def let_go(self) -> bool:
        """Close the connections that are not in use; whether none is open any more. The next call opens one."""
        with self._quiet:
            unused, self._free = self._free, []
        if self._observing.acquire(blocking=False):
            try:
                unused += [self._observer] if self._observer is not None else []
                self._observer = None
            finally:
                self._observing.release()
        for connection in unused:
            connection.close()
        is_at_rest = not self.open_connections
        if is_at_rest and self._left_as is None:
            self._left_as = self._stamp()
        return is_at_rest

    @property
    def was_written(self) -> bool:
        """Whether another process wrote the file since all connections were closed. Opens nothing."""
        return self._left_as is not None and self._stamp() != self._left_as

    def _stamp(self) -> _Stamp:
        """The sizes and times of the file and its log: each commit changes one of them."""
        return tuple(file_stamp(file) for file in self._files())

    def _files(self) -> tuple[Path, ...]:
        """The file and its log."""
        return () if self._path is None else (self._path, self._path.with_name(self._path.name + "-wal"))

    def vacuum(self) -> None:
        """Release free space of the file."""
        with self.in_use() as connection:
            connection.execute("VACUUM")
            if self._path is not None:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def size(self) -> int:
        """The size in bytes of the file with its log, or of the database in memory."""
        if self._shared is not None:
            return self.count("PRAGMA page_count") * self.count("PRAGMA page_size")
        return sum(file.stat().st_size for file in self._files() if file.exists())

    def close(self) -> None:
        """Wait for running calls, and close all connections; a call that takes too long closes its own connection later."""
        me = threading.get_ident()
        with self._quiet:
            self._closed = True
            self._quiet.wait_for(lambda: not self._calls.keys() - {me}, _LAST_CALLS_S)
            is_busy = bool(self._calls.keys() - {me})
        self.let_go()
        if self._shared is not None and not is_busy:
            self._shared.close()

    def _connect(self) -> sqlite3.Connection:
        if self._closed:
            raise sqlite3.ProgrammingError("the database is closed")
        self._connections.make_room(self)
        self._left_as = None
        try:
            return self._open()
        except (sqlite3.OperationalError, OSError):
            if has_free_handles():
                raise
        self._connections.close_unused(self)
        try:
            return self._open()
        except (sqlite3.OperationalError, OSError) as error:
            if has_free_handles():
                raise
            raise NoHandles(describe_no_handles()) from error

    def _open(self) -> sqlite3.Connection:
        if self._path is None:
            connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        else:
            self._make_file(self._path)
            connection = open_file(self._path, "rw", busy_s=_BUSY_TIMEOUT_S)
        try:
            if self._path is not None:
                self._inspect(connection)
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("PRAGMA cache_size = -8192")
            # Fewer checkpoints write pages that change repeatedly less often; this saves a fifth of a first index's time.
            connection.execute("PRAGMA wal_autocheckpoint = 4000")
        except BaseException:
            connection.close()
            raise
        return connection

    @staticmethod
    def _make_file(path: Path) -> None:
        """Create the file here, not in SQLite, so that other users can never read it."""
        # A dangling link stays as it is: `open_file` decides whether it may be followed.
        if os.path.lexists(path):
            return
        try:
            create_private_file(path)
        except OSError as error:
            raise sqlite3.OperationalError(f"unable to make {path}: {error.strerror}") from error

    def _migrate(self, migrations: Sequence[Migration]) -> None:
        with self.call():
            if _schema_version(self.connection) == len(migrations):
                return
            with self._transaction() as connection:
                version = _schema_version(connection)
                if version > len(migrations):
                    raise SchemaTooNew(f"{self._path} has schema {version}, this rag-ls knows {len(migrations)}")
                for number in range(version, len(migrations)):
                    migrations[number](connection)
                connection.execute(f"PRAGMA user_version = {len(migrations)}")


class NoHandles(sqlite3.OperationalError):
    """The process has no file handle left; the message says what to do."""


class SchemaTooNew(sqlite3.DatabaseError):
    """The file was written by a newer rag-ls."""


def _schema_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
