"""Opening `index.db`, which is derived: whatever is wrong with it, it can be made anew."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from rag_ls.storage.sqlite import index_schema
from rag_ls.storage.sqlite.database import Database


def open_derived(path: Path | None) -> Database:
    """Open `index.db`, or make it anew when it is damaged or of another version: it is derived."""
    if path is not None and _damage_mark(path).exists():
        _remove(path)
    try:
        database = Database(path, index_schema.MIGRATIONS)
        _look_at_tables(database.connection)
        return database
    except sqlite3.DatabaseError as error:
        if path is None or not is_damage(error):
            raise
        _remove(path)
        return Database(path, index_schema.MIGRATIONS)


def is_broken(path: Path) -> bool:
    """Whether the file at `path` is no index that can be read, by SQLite's own check."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            _look_at_tables(connection)
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok")
        finally:
            connection.close()
    except sqlite3.Error as error:
        return is_damage(error)


def _look_at_tables(connection: sqlite3.Connection) -> None:
    for table in ("meta", "documents", "chunks", "embeddings", "queue", "skipped", "symbols", "imports", "postings"):
        connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error means that the file itself is broken, or of another shape than ours."""
    if isinstance(error, sqlite3.OperationalError):
        return "no such table" in str(error) or "no such column" in str(error)
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error, sqlite3.IntegrityError | sqlite3.ProgrammingError
    )


def mark_damaged(path: Path) -> None:
    """Have the index at `path` made anew when it is next opened."""
    _damage_mark(path).touch(mode=0o600)


def _damage_mark(path: Path) -> Path:
    return path.with_name(path.name + ".damaged")


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", ".damaged"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
