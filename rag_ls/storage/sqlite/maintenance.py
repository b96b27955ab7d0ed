"""Keeping `index.db` in good shape: what nobody has to do, and some like to."""

from __future__ import annotations

from rag_ls.storage.sqlite.database import Database


class Upkeep:
    """Upkeep of one index file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def optimise(self) -> None:
        """Merge the full-text index into one piece, and let SQLite look at its statistics."""
        with self._database.writing() as connection:
            connection.execute("INSERT INTO postings (postings) VALUES ('optimize')")
            connection.execute("PRAGMA optimize")

    def vacuum(self) -> tuple[int, int]:
        """Give free space of the file back to the disk; how many bytes the file had, and has."""
        before = self._database.size()
        self._database.vacuum()
        return before, self._database.size()
