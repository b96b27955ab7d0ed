"""Statements that several tables share: values as JSON and in batches, rows that each question repeats, maintenance."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from rag_ls.storage.sqlite.database import Database

T = TypeVar("T")


class KeptRows:
    """Rows that were read since the last commit, for the threads that read one version. Safe from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._version = -1
        self._rows: dict[tuple[str, tuple[object, ...]], list[Any]] = {}
        self._of_thread = threading.local()

    @contextmanager
    def at_one_version(self) -> Iterator[None]:
        """Ask once in the block, for this thread, whether anybody has committed; a block inside another one asks again."""
        outer = self._known_version
        self._of_thread.version = self._database.changes()
        try:
            yield
        finally:
            self._of_thread.version = outer

    def renew_version(self) -> None:
        """Ask again in a block, since this thread has waited for others."""
        if self._known_version is not None:
            self._of_thread.version = self._database.changes()

    def version(self) -> int:
        """The version of this thread's block; outside of one, a number that differs after every commit."""
        known = self._known_version
        return self._database.changes() if known is None else known

    def rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        """The rows of a SELECT: kept ones in a block of `at_one_version` alone."""
        version = self._known_version
        if version is None:
            return self._database.rows(query, values)
        key = (query, tuple(values))
        with self._lock:
            if version != self._version:
                self._version, self._rows = version, {}
            known = self._rows.get(key)
        if known is None:
            known = self._database.rows(query, values)
            with self._lock:
                if version == self._version:
                    self._rows[key] = known
        return known

    def forget(self) -> None:
        """Drop what is kept."""
        with self._lock:
            self._version, self._rows = -1, {}

    @property
    def _known_version(self) -> int | None:
        return getattr(self._of_thread, "version", None)


def as_json(values: Iterable[object]) -> str:
    """A list for `json_each`."""
    return json.dumps(list(values))


def batches(values: Sequence[T], size: int = 4000) -> Iterator[Sequence[T]]:
    """Split values into parts that fit one statement."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def marks(values: Sequence[object]) -> str:
    """A comma-separated list of one question mark per value."""
    return ", ".join("?" * len(values))


def optimise(database: Database) -> None:
    """Merge each full-text index into one segment, and update SQLite's statistics."""
    with database.writing() as connection:
        tables = _opened_for_overwriting(connection)
        for table in tables.tables:
            if table.virtual_table_using == "FTS5":
                connection.execute(f"INSERT INTO [{table.name}] ([{table.name}]) VALUES ('optimize')")
        tables.analyze()
        connection.execute("PRAGMA optimize")


def erase_vectors(connection: sqlite3.Connection, text_hashes: Sequence[bytes]) -> None:
    """Delete the vectors of these texts, where no chunk has such a text."""
    connection.executemany(
        "DELETE FROM embeddings WHERE text_hash = ?1 AND NOT EXISTS (SELECT 1 FROM chunks WHERE text_hash = ?1)",
        [(text_hash,) for text_hash in text_hashes],
    )


@contextmanager
def overwriting(connection: sqlite3.Connection) -> Iterator[None]:
    """Meanwhile overwrite deleted rows in the file with zeros."""
    former = connection.execute("PRAGMA secure_delete").fetchone()[0]
    connection.execute("PRAGMA secure_delete = ON")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA secure_delete = {int(former)}")


def erase_remains(database: Database, path: Path | None) -> None:
    """Remove from the files what deleted rows leave there: terms, the log, and snapshots of vectors."""
    # Until then, the full-text index keeps the terms of deleted rows, marked as deleted.
    with database.writing() as connection:
        connection.execute("INSERT INTO postings (postings) VALUES ('optimize')")
    if path is None:
        return
    # While another process reads, the log stays until the next checkpoint.
    with contextlib.suppress(sqlite3.Error):
        database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    # Snapshots are rebuilt from the rows.
    for file in (*path.parent.glob("vectors-*.json"), *path.parent.glob("vectors-*.usearch")):
        with contextlib.suppress(OSError):
            file.unlink()


def _opened_for_overwriting(connection: Any) -> Any:
    import sqlite_utils

    return sqlite_utils.Database(connection)
