"""The paths of all documents of `index.db`, kept for the next question."""

from __future__ import annotations

import threading

from rag_ls.storage.sqlite.database import Database

PathRow = tuple[int, str, str, str]


class DocumentPaths:
    """Id, path, language and session of every document. Safe from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._version = -1
        self._rows: list[PathRow] = []

    def rows(self) -> list[PathRow]:
        """The rows as they are now: the same list while they stay the same."""
        with self._database.in_use() as connection:
            if connection.in_transaction:
                # Other threads do not see these.
                return self._read()
        version = self._database.changes()
        with self._lock:
            if version != self._version:
                rows = self._read()
                if rows != self._rows:
                    self._rows = rows
                self._version = version
            return self._rows

    def forget(self) -> None:
        """Drop what is kept."""
        with self._lock:
            self._version, self._rows = -1, []

    def _read(self) -> list[PathRow]:
        return self._database.rows("SELECT id, path, language, session FROM documents")
