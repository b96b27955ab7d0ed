"""Checks the features of this machine's SQLite."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from rag_ls.errors import StoreUnavailable


def sqlite_version() -> str:
    """The version of SQLite. Raises `StoreUnavailable` where it has no full-text search."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (text)")
        except sqlite3.OperationalError as error:
            raise StoreUnavailable(f"{sqlite3.sqlite_version} without FTS5 ({error})", "index") from error
    return sqlite3.sqlite_version
