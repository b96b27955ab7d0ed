"""The full-text index over chunks: SQLite FTS5, contentless, over terms that `terms` makes."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence

from rag_ls.storage.database import Database
from rag_ls.storage.records import Candidate
from rag_ls.storage.terms import indexed_text

# bm25() weights of the columns symbol, path and text: a name says more than a body.
_COLUMN_WEIGHTS = "4.0, 2.0, 1.0"


class Postings:
    """Which chunks hold which terms."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_rows(self, connection: sqlite3.Connection, path: str, document_id: int, uids: Collection[str]) -> None:
        """Index chunks that were just inserted, inside their transaction."""
        wanted = set(uids)
        rows = connection.execute(
            "SELECT id, uid, symbol, signature, text FROM chunks WHERE document_id = ?", (document_id,)
        ).fetchall()
        connection.executemany(
            "INSERT INTO postings (rowid, symbol, path, text) VALUES (?, ?, ?, ?)",
            [(row[0], *_columns(path, *row[2:])) for row in rows if row[1] in wanted],
        )

    def remove_rows(self, connection: sqlite3.Connection, where: str, values: Sequence[object]) -> None:
        """Take chunks that are about to be deleted out of the index, inside their transaction."""
        rows = connection.execute(
            "SELECT c.id, d.path, c.symbol, c.signature, c.text FROM "
            f"(SELECT * FROM chunks WHERE {where}) c JOIN documents d ON d.id = c.document_id",
            tuple(values),
        ).fetchall()
        # A contentless FTS5 table needs the former values to delete a row.
        connection.executemany(
            "INSERT INTO postings (postings, rowid, symbol, path, text) VALUES ('delete', ?, ?, ?, ?)",
            [(row[0], *_columns(*row[1:])) for row in rows],
        )

    def search(self, terms: Sequence[str], limit: int, documents: str | None = None) -> list[Candidate]:
        """The chunks that match any of `terms` best by BM25, best first.

        `documents`, a JSON list of document ids, restricts the search to them.
        """
        if not terms:
            return []
        match = " OR ".join(f'"{term}"' for term in terms)
        only = (
            "AND rowid IN (SELECT id FROM chunks WHERE document_id IN (SELECT value FROM json_each(?)))"
            if documents is not None
            else ""
        )
        rows = self._database.connection.execute(
            f"SELECT rowid, -bm25(postings, {_COLUMN_WEIGHTS}) FROM postings WHERE postings MATCH ? {only} "
            "ORDER BY 2 DESC, 1 LIMIT ?",
            (match, *([documents] if documents is not None else []), limit),
        )
        return [Candidate(row, value) for row, value in rows]


def _columns(path: str, symbol: str, signature: str, text: str) -> tuple[str, str, str]:
    return indexed_text(f"{symbol} {signature}"), indexed_text(path), indexed_text(text)
