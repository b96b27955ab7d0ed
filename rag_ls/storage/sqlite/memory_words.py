"""Finds memories by their words and tags, and counts these."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rag_ls.model import MemoryFilters
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.memory_rows import FROM, condition
from rag_ls.storage.sqlite.statements import as_json
from rag_ls.util.paths import spellings_of

_EVERYTHING = MemoryFilters()
_SPARE_ROWS_RATIO = 2


class MemoryWords:
    """The words and tags of a store's memories. Scopes of filters are ignored."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def lexical(self, terms: Sequence[str], limit: int, filters: MemoryFilters = _EVERYTHING) -> dict[str, float]:
        """BM25 by id of the memories that hold any of the terms (higher is better), best first."""
        if not terms:
            return {}
        where, values = condition(filters)
        # Filters that restrict nothing exclude few rows, so a few more than `limit` suffice.
        first = "" if filters.restricts else "ORDER BY bm25, rowid LIMIT ?"
        rows = self._database.rows(
            "SELECT m.id, -p.bm25 FROM (SELECT rowid AS number, bm25(memory_postings, 1.0, 2.0) AS bm25 "
            f"FROM memory_postings WHERE memory_postings MATCH ? {first}) p JOIN ({FROM}) ON m.row = p.number "
            f"WHERE {where} ORDER BY 2 DESC, m.row LIMIT ?",
            (
                " OR ".join(f'"{term}"' for term in terms),
                *([_SPARE_ROWS_RATIO * limit] if first else []),
                *values,
                limit,
            ),
        )
        return dict(rows)

    def frequency(self, term: str, most: int) -> int:
        """The number of memories that hold a term, counted up to `most`."""
        query = "SELECT count(*) FROM (SELECT 1 FROM memory_postings WHERE memory_postings MATCH ? LIMIT ?)"
        return self._database.count(query, (f'"{term}"', most))

    def tagged(self, words: Collection[str], limit: int, filters: MemoryFilters = _EVERYTHING) -> dict[str, float]:
        """For each memory id, how many of the words are its tags; the most first, then the newest."""
        where, values = condition(filters)
        rows = self._database.rows(
            f"SELECT m.id, count(*) FROM tags t JOIN ({FROM}) ON m.row = t.row "
            f"WHERE t.tag IN (SELECT value FROM json_each(?)) AND {where} "
            "GROUP BY m.row ORDER BY 2 DESC, m.updated_at DESC LIMIT ?",
            (as_json(form for word in words for form in spellings_of(word)), *values, limit),
        )
        return dict(rows)

    def tag_counts(self) -> dict[str, int]:
        """The number of memories with each tag, the most frequent first."""
        query = "SELECT tag, count(*) FROM tags GROUP BY tag ORDER BY 2 DESC, 1"
        return dict(self._database.rows(query))

    def type_counts(self) -> dict[str, int]:
        """The number of memories of each type."""
        query = "SELECT memory_type, count(*) FROM memories GROUP BY memory_type ORDER BY memory_type"
        return dict(self._database.rows(query))
