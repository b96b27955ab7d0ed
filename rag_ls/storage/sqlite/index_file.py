"""Opens `index.db`. The file is derived from the sources, so a bad one is simply rebuilt."""

from __future__ import annotations

import os
import sqlite3
from functools import cache
from pathlib import Path

from rag_ls.storage.records import INDEX_STORE
from rag_ls.storage.sqlite import index_schema
from rag_ls.storage.sqlite.connections import Connections
from rag_ls.storage.sqlite.database import Database, read_only

FILE_NAME = "index.db"

# The file is another program's, or somebody wrote it to look like ours.
_SIGNS_OF_OTHER_TABLES = ("no such table", "no such column", "already exists", "use DROP")

FileIdentity = tuple[int, int]
"""Device and inode of a file."""


def open_derived(path: Path | None, connections: Connections | None = None) -> Database:
    """Open `index.db`; rebuild it if it is damaged or of another version."""
    if path is not None and _damage_mark(path).exists():
        _remove(path)
    try:
        database = _database(path, connections)
        with database.call():
            _look_at_tables(database.connection)
        return database
    except sqlite3.DatabaseError as error:
        if path is None or not is_damage(error):
            raise
        _remove(path)
        return _database(path, connections)


def _database(path: Path | None, connections: Connections | None) -> Database:
    watch = _DamageWatch(path)
    database = Database(path, index_schema.MIGRATIONS, store=INDEX_STORE, damage=watch.damage, connections=connections)
    watch.identity = file_identity(path) if path else None
    return database


class _DamageWatch:
    """Recognises errors that show that a database's file is broken, and marks the file."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.identity: FileIdentity | None = None

    def damage(self, error: sqlite3.Error) -> str:
        """The message for callers if the file is broken; else empty."""
        if self._path is None or self.identity is None or not is_damage(error):
            return ""
        # Do not mark a file that replaced ours: it did not cause the error.
        if file_identity(self._path) == self.identity:
            if not is_broken(self._path):
                return ""
            mark_damaged(self._path)
        return f"the index ({self._path}) was damaged and is being made anew ({error}); ask again"


def file_identity(file: Path) -> FileIdentity | None:
    """The identity of the file that now has this name; None if there is none."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_marked_damaged(path: Path) -> bool:
    """Whether the index at `path` must be rebuilt when it is next opened."""
    return _damage_mark(path).exists()


def is_broken(path: Path) -> bool:
    """Whether the file at `path` is no index that can be read, by SQLite's own check."""
    try:
        connection = read_only(path)
        try:
            _look_at_tables(connection)
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok")
        finally:
            connection.close()
    except sqlite3.Error as error:
        return is_damage(error)


def _look_at_tables(connection: sqlite3.Connection) -> None:
    """Raise `sqlite3.DatabaseError` where tables are not there, or not tables: a question to a view may never end."""
    if foreign := connection.execute("SELECT name FROM sqlite_master WHERE type IN ('view', 'trigger')").fetchone():
        raise sqlite3.DatabaseError(f"{foreign[0]} is none of its tables")
    for table, columns in _columns().items():
        connection.execute(f"SELECT {columns} FROM {table} LIMIT 1").fetchone()


@cache
def _columns() -> dict[str, str]:
    """The columns of each table of an index."""
    connection = sqlite3.connect(":memory:")
    for migrate in index_schema.MIGRATIONS:
        migrate(connection)
    # Columns of a full-text table are read by a search alone.
    found = {"postings": "1"} | {
        table: ", ".join(name for _, name, *_ in connection.execute(f"PRAGMA table_info ({table})"))
        for table in ("meta", "documents", "chunks", "embeddings", "queue", "skipped", "symbols", "imports")
    }
    connection.close()
    return found


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error means that the file itself is broken, or has another schema."""
    if isinstance(error, sqlite3.OperationalError):
        return any(sign in str(error) for sign in _SIGNS_OF_OTHER_TABLES)
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
