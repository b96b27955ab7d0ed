"""Maintenance on demand, with sqlite-utils, which is imported only then: its import takes as long as a whole question."""

from __future__ import annotations

from typing import Any

from rag_ls.storage.sqlite.database import Database


def optimise(database: Database) -> None:
    """Merge the full-text indexes into one piece each, and let SQLite look at its statistics."""
    with database.writing() as connection:
        tables = _opened(connection)
        for table in tables.tables:
            if table.virtual_table_using == "FTS5":
                connection.execute(f"INSERT INTO [{table.name}] ([{table.name}]) VALUES ('optimize')")
        tables.analyze()
        connection.execute("PRAGMA optimize")


def vacuum(database: Database) -> tuple[int, int]:
    """Give free space of the file back; how many bytes the file had, and has."""
    before = database.size()
    database.vacuum()
    return before, database.size()


def table_counts(database: Database) -> dict[str, int]:
    """How many rows each table holds, for inspection."""
    return {table.name: table.count for table in _opened(database.connection).tables if not table.virtual_table_using}


def _opened(connection: Any) -> Any:
    import sqlite_utils

    return sqlite_utils.Database(connection)
