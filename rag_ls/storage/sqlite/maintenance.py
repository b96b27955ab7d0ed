"""Maintenance on demand, with sqlite-utils, which is imported only then: its import takes as long as a whole question."""

from __future__ import annotations

from typing import Any

from rag_ls.storage.sqlite.database import Database


def optimise(database: Database) -> None:
    """Merge each full-text index into one segment, and update SQLite's statistics."""
    with database.writing() as connection:
        tables = _opened(connection)
        for table in tables.tables:
            if table.virtual_table_using == "FTS5":
                connection.execute(f"INSERT INTO [{table.name}] ([{table.name}]) VALUES ('optimize')")
        tables.analyze()
        connection.execute("PRAGMA optimize")


def vacuum(database: Database) -> tuple[int, int]:
    """Release free space of the file; returns its size in bytes before and after."""
    before = database.size()
    database.vacuum()
    return before, database.size()


def table_counts(database: Database) -> dict[str, int]:
    """The number of rows of each table, for inspection."""
    return {table.name: table.count for table in _opened(database.connection).tables if not table.virtual_table_using}


def _opened(connection: Any) -> Any:
    import sqlite_utils

    return sqlite_utils.Database(connection)
