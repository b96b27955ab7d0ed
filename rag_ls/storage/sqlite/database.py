"""SQLite as rag-ls uses it: WAL, one connection a thread, one writer a process, numbered migrations."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rag_ls.errors import StoreDamaged, StoreError, StoreFull, StoreUnavailable

Migration = Callable[[sqlite3.Connection], None]

# Long enough for another process to finish the largest single transaction on a slow disk.
_BUSY_TIMEOUT_S = 60.0
_LAST_CALLS_S = 5.0


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
    ) -> None:
        """`durable` makes each commit survive even a power failure; `path` None keeps everything in memory.

        `store` is the database's name in errors. `damage` returns a message for an error that shows that the file
        itself is broken, else nothing.
        """
        self._path = path
        self._store = store
        self._damage = damage
        self._synchronous = "FULL" if durable else "NORMAL"
        self._local = threading.local()
        self._write_lock = threading.RLock()
        # Whether the holder of the write lock is inside a transaction. Guarded by that lock.
        self._writing = False
        self._connections: list[tuple[threading.Thread, sqlite3.Connection]] = []
        # It never writes, so that every commit is another connection's to it (see `changes`).
        self._observer: sqlite3.Connection | None = None
        self._observing = threading.Lock()
        self._connecting = threading.Lock()
        # Running calls per thread: closing a connection during a call would crash the process.
        self._calls: Counter[int] = Counter()
        self._quiet = threading.Condition()
        self._closed = False
        # A database in memory lives in its one connection, which all threads then share.
        self._shared = self._connect() if path is None else None
        try:
            self._migrate(migrations)
        except BaseException:
            self.close()
            raise

    @property
    def connection(self) -> sqlite3.Connection:
        """This thread's connection, in autocommit mode: each SELECT sees the latest commits."""
        if self._shared is not None:
            return self._shared
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
        return connection

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep connections open during the block, and turn its SQLite errors into store errors."""
        me = threading.get_ident()
        with self._quiet:
            if self._closed and me not in self._calls:
                raise self.error_of(sqlite3.ProgrammingError("it is closed"))
            self._calls[me] += 1
        try:
            yield
        except sqlite3.Error as error:
            raise self.error_of(error) from error
        finally:
            with self._quiet:
                self._calls[me] -= 1
                if not self._calls[me]:
                    del self._calls[me]
                    self._quiet.notify_all()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Several SELECTs that see one state of the database."""
        if self._shared is not None:
            with self._write_lock:
                yield self._shared
            return
        connection = self.connection
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
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            return StoreFull(
                f"the disk is full: nothing was written to the {self._store}{place}; make space, then do it again",
                self._store,
            )
        if message := self._damage(error):
            return StoreDamaged(message, self._store)
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
        with self._observing:
            if self._observer is None:
                self._observer = self._connect()
            return int(self._observer.execute("PRAGMA data_version").fetchone()[0])

    def vacuum(self) -> None:
        """Release free space of the file."""
        self.connection.execute("VACUUM")
        if self._path is not None:
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def size(self) -> int:
        """The size in bytes of the file with its log, or of the database in memory."""
        if self._path is None:
            pages, size = (
                self.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size")
            )
            return int(pages) * int(size)
        files = (self._path, self._path.with_name(self._path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """Close all connections once running calls are done, except those of calls that take too long."""
        me = threading.get_ident()
        with self._quiet:
            self._closed = True
            self._quiet.wait_for(lambda: not self._calls.keys() - {me}, _LAST_CALLS_S)
            busy = self._calls.keys() - {me}
        with self._connecting:
            for thread, connection in self._connections:
                if thread.ident not in busy:
                    connection.close()
            self._connections.clear()
            self._observer = None

    def _connect(self) -> sqlite3.Connection:
        if self._closed:
            raise sqlite3.ProgrammingError("the database is closed")
        if self._path is not None and not self._path.exists():
            # Create the file here, not in SQLite, so that other users can never read it.
            try:
                os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY, 0o600))
            except OSError as error:
                raise sqlite3.OperationalError(f"unable to make {self._path}: {error.strerror}") from error
        connection = sqlite3.connect(
            str(self._path or ":memory:"), timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        with self._connecting:
            if self._closed:
                connection.close()
                raise sqlite3.ProgrammingError("the database is closed")
            self._close_those_of_dead_threads()
            self._connections.append((threading.current_thread(), connection))
        if self._path is not None:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cache_size = -8192")
        # Fewer checkpoints write pages that change repeatedly less often; this saves a fifth of a first index's time.
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        return connection

    def _close_those_of_dead_threads(self) -> None:
        for item in [item for item in self._connections if not item[0].is_alive()]:
            if item[1] is not self._shared and item[1] is not self._observer:
                self._connections.remove(item)
                item[1].close()

    def _migrate(self, migrations: Sequence[Migration]) -> None:
        if _schema_version(self.connection) == len(migrations):
            return
        with self._transaction() as connection:
            version = _schema_version(connection)
            if version > len(migrations):
                raise SchemaTooNew(f"{self._path} has schema {version}, this rag-ls knows {len(migrations)}")
            for number in range(version, len(migrations)):
                migrations[number](connection)
            connection.execute(f"PRAGMA user_version = {len(migrations)}")


def read_only(file: Path, *, busy_s: float = 5.0, more: str = "") -> sqlite3.Connection:
    """A connection that reads a file and leaves it as it is; `more` are further parameters of SQLite's address.

    Raises `sqlite3.Error`.
    """
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro{more}", uri=True, timeout=busy_s)


class SchemaTooNew(sqlite3.DatabaseError):
    """The file was written by a newer rag-ls."""


def _schema_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
