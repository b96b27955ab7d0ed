"""The queue of files to read. It is kept in the database, so that interrupted work goes on at the next start."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterable

from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.index_rows import as_json
from rag_ls.storage.sqlite.kept_rows import KeptRows


class ReadingQueue:
    """The files that wait to be read. The queue outlives the process."""

    def __init__(self, database: Database, kept: KeptRows) -> None:
        self._database = database
        self._kept = kept

    def add(self, paths: Iterable[str]) -> None:
        """Queue files to be read."""
        with self._database.writing() as connection:
            now = time.time_ns()
            connection.executemany("INSERT OR REPLACE INTO queue VALUES (?, ?)", [(path, now) for path in paths])

    def add_seen(self, files: Iterable[tuple[str, int]]) -> None:
        """Queue files to be read that a comparison saw, each with the time (ns) at which it last changed.

        One that waits already, or is just being read, keeps its place unless it changed since: else it would be read twice.
        """
        with self._database.writing() as connection:
            now = time.time_ns()
            connection.executemany(
                "INSERT INTO queue VALUES (?, ?) ON CONFLICT DO UPDATE SET since_ns = excluded.since_ns WHERE since_ns <= ?",
                [(path, now, changed_ns) for path, changed_ns in files],
            )

    def paths(self) -> list[str]:
        """The files that wait to be read, by path."""
        return self._database.column("SELECT path FROM queue ORDER BY path")

    def has_any(self) -> bool:
        """Whether any file waits to be read."""
        return bool(self._kept.rows("SELECT 1 FROM queue LIMIT 1"))

    def count(self) -> int:
        """The number of files that wait to be read."""
        return self._database.count("SELECT count(*) FROM queue")

    def holds(self, path: str) -> bool:
        """Whether a file waits to be read."""
        return bool(self._database.rows("SELECT 1 FROM queue WHERE path = ?", (path,)))

    def unknown_count(self) -> int:
        """The number of waiting files that were never read before."""
        return self._database.count(
            "SELECT count(*) FROM queue q WHERE NOT EXISTS "
            "(SELECT 1 FROM documents d WHERE d.path = q.path AND d.session = '')"
        )

    def all_read_since(self, paths: Collection[str], since_ns: int) -> bool:
        """Whether each of some files was read after `since_ns` (wall clock), or does not wait to be read."""
        return not self._database.count(
            "SELECT EXISTS (SELECT 1 FROM queue q WHERE q.path IN (SELECT value FROM json_each(?)) "
            "AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.path = q.path AND d.session = '' AND d.read_ns >= ?) "
            "AND NOT EXISTS (SELECT 1 FROM skipped s WHERE s.path = q.path AND s.read_ns >= ?))",
            (as_json(paths), since_ns, since_ns),
        )


def dequeue(connection: sqlite3.Connection, path: str, read_ns: int) -> None:
    """Take a file out of the queue, unless it was queued again after it was read at `read_ns`."""
    # An entry from the future was written before the clock was set back.
    connection.execute(
        "DELETE FROM queue WHERE path = ? AND (since_ns <= ? OR since_ns > ?)", (path, read_ns, time.time_ns())
    )
