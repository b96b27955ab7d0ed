"""Maintenance on demand, with sqlite-utils, which is imported only then: its import takes as long as a whole question."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rag_ls.storage.sqlite.database import Database


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
