"""Keeping `index.db` in good shape: what nobody has to do, and some like to."""

from __future__ import annotations

from pathlib import Path

from rag_ls.storage.database import Database


class Upkeep:
    """Upkeep of one index file."""

    def __init__(self, database: Database, path: Path | None) -> None:
        self._database = database
        self._path = path

    def optimise(self) -> None:
        """Merge the full-text index into one piece, and let SQLite look at its statistics."""
        with self._database.writing() as connection:
            connection.execute("INSERT INTO postings (postings) VALUES ('optimize')")
            connection.execute("PRAGMA optimize")

    def vacuum(self) -> tuple[int, int]:
        """Give free space of the file back to the disk; how many bytes the file had, and has."""
        before = self._size()
        self._database.connection.execute("VACUUM")
        self._database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return before, self._size()

    def _size(self) -> int:
        if self._path is None:
            return 0
        files = (self._path, self._path.with_name(self._path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())
