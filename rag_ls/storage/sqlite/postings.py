"""The full-text index over chunks: a contentless SQLite FTS5 table of the terms that `terms` makes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rag_ls.storage.records import Candidate, Posting
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.statements import as_json
from rag_ls.storage.terms import COLUMN_WEIGHTS, MAX_LIKE, SAME_BEGINNING_CHARACTERS, columns_of
from rag_ls.util.text import content_hash

_COLUMNS = "symbol, signature, path, doc, text"
_WEIGHTS = ", ".join(map(str, COLUMN_WEIGHTS))


class LexicalIndex:
    """The full-text index. See `SearchedPostings`.

    Its rows are the checkout's chunk rows; writes inside a transaction of the checkout commit with it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, postings: Iterable[Posting]) -> None:
        """Index chunks that were just stored."""
        with self._database.writing() as connection:
            connection.executemany(
                f"INSERT INTO postings (rowid, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
                [(posting.row, *posting.columns) for posting in postings],
            )

    def remove(self, rows: Collection[int]) -> None:
        """Remove chunks that are about to be deleted; they must still be stored."""
        with self._database.writing() as connection:
            former = connection.execute(
                "SELECT c.id, c.content_hash, d.path, c.symbol, c.signature, c.doc, c.text FROM chunks c JOIN documents d "
                "ON d.id = c.document_id WHERE c.id IN (SELECT value FROM json_each(?))",
                (as_json(rows),),
            ).fetchall()
            # To delete a row, a contentless FTS5 table needs the former values; other values would damage it. If another
            # program changed a text, the row's terms stay. Its number is never given again, so no search finds a row by them.
            connection.executemany(
                f"INSERT INTO postings (postings, rowid, {_COLUMNS}) VALUES ('delete', ?, ?, ?, ?, ?, ?)",
                [(row, *columns_of(*values)) for row, digest, *values in former if content_hash(values[-1]) == digest],
            )

    def search(
        self, terms: Sequence[str], limit: int, documents: Collection[int] | None = None, *, holding: Sequence[str] = ()
    ) -> list[Candidate]:
        if not terms:
            return []
        only, values = "", [_any_of(terms)]
        # `+` makes SQLite go through the matches once. Otherwise it runs a full-text search for each admitted row, which took
        # half a minute for thousands. bm25() takes most of the time, so it is computed only for the rows that are left.
        if documents is not None:
            only += "AND +rowid IN (SELECT id FROM chunks WHERE document_id IN (SELECT value FROM json_each(?))) "
            values.append(as_json(documents))
        if holding:
            only += "AND +rowid IN (SELECT rowid FROM postings WHERE postings MATCH ?) "
            values.append(_any_of(holding))
        rows = self._database.rows(
            f"SELECT rowid, -bm25(postings, {_WEIGHTS}) FROM postings WHERE postings MATCH ? {only}"
            "ORDER BY 2 DESC, 1 LIMIT ?",
            (*values, limit),
        )
        return [Candidate(row, value) for row, value in rows]

    def documents_holding(self, terms: Sequence[str]) -> list[int]:
        """The documents with a chunk that holds any of `terms`, in order of their ids."""
        if not terms:
            return []
        return self._database.column(
            "SELECT DISTINCT document_id FROM chunks WHERE id IN (SELECT rowid FROM postings WHERE postings MATCH ?) "
            "ORDER BY document_id",
            (_any_of(terms),),
        )

    def frequencies(self, terms: Collection[str], most: int) -> dict[str, int]:
        counted = (
            "SELECT count(*) FROM (SELECT 1 FROM postings WHERE postings MATCH '\"' || asked.value || '\"' LIMIT ?)"
        )
        return dict(self._database.rows(
            f"SELECT value, ({counted}) FROM json_each(?) asked", (most, as_json(list(terms)))
        )) if terms else {}  # fmt: skip

    def terms_like(self, term: str) -> list[str]:
        first, length = term[:SAME_BEGINNING_CHARACTERS], len(term)
        return self._database.column(
            "SELECT term FROM vocabulary WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ? LIMIT ?",
            (first, first + "\U0010ffff", length - 2, length + 2, MAX_LIKE),
        )


def _any_of(terms: Sequence[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)
