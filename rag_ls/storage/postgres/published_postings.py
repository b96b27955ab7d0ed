"""The full-text index of published code: our own terms in `tsvector`, ranked by BM25 as SQLite's FTS5 computes it.

PostgreSQL's own ranking knows neither how rare a word is nor how long a text. https://www.sqlite.org/fts5.html, "The bm25()
function", has the formula.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from rag_ls.storage.postgres.schema import PostgresSchema
from rag_ls.storage.postgres.server import PostgresServer
from rag_ls.storage.records import Candidate
from rag_ls.storage.terms import COLUMN_WEIGHTS, MAX_LIKE, SAME_BEGINNING_CHARACTERS, stem
from rag_ls.util.records import dataclass

# A tsvector has no position above this, and at most this many of a term.
_MAX_POSITION, _MAX_POSITIONS = 16_383, 255
_SATURATION_FACTOR, _LENGTH_FACTOR = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class ChunkPosting:
    """A chunk's entry in the index."""

    places: str
    """Its terms with their positions, as the text of a `tsvector`."""
    tally: str
    """The weight of each term in it, as JSON. PostgreSQL takes a tsvector apart twenty times slower than it reads this."""
    words: int
    """The number of its terms, repeats included."""


def posting_of(columns: Sequence[str]) -> ChunkPosting:
    """The entry of a chunk by its terms by column (`terms.columns_of`)."""
    places: dict[str, list[int]] = defaultdict(list)
    tally: Counter[str] = Counter()
    at = words = 0
    for weight, column in zip(COLUMN_WEIGHTS, columns, strict=True):
        for word in column.split():
            at, words, term = at + 1, words + 1, stem(word)
            tally[term] += weight
            if len(places[term]) < _MAX_POSITIONS:
                places[term].append(min(at, _MAX_POSITION))
        # A phrase does not cross columns.
        at += 1
    posting = " ".join(f"'{_escape(term)}':{','.join(map(str, held))}" for term, held in places.items())
    return ChunkPosting(posting, json.dumps(tally), words)


class PublishedPostings:
    """See `SearchedPostings`."""

    def __init__(self, server: PostgresServer, schema: PostgresSchema) -> None:
        self._server = server
        self._schema = schema.name

    def search(
        self, terms: Sequence[str], limit: int, documents: Collection[int] | None = None, *, holding: Sequence[str] = ()
    ) -> list[Candidate]:
        """Phrases are ranked by the number of times that they occur."""
        if not terms:
            return []
        only, values = "", {"any": _any_of(terms), "limit": limit}
        if documents is not None:
            only += " AND c.file_id = ANY(%(documents)s::bigint[])"
            values["documents"] = list(documents)
        if holding:
            only += " AND c.posting @@ %(holding)s::tsquery"
            values["holding"] = _any_of(holding)
        if any(" " in term for term in terms):
            query = (
                f"SELECT c.id, ts_rank(c.posting, %(any)s::tsquery) FROM {self._schema}.rag_chunk c "
                f"WHERE c.posting @@ %(any)s::tsquery{only} ORDER BY 2 DESC, 1 LIMIT %(limit)s"
            )
        else:
            query = self._bm25(only)
            values["terms"] = list({stem(term) for term in terms})
        with self._server.transaction() as connection:
            return [Candidate(int(row[0]), float(row[1])) for row in connection.execute(query, values)]

    def frequencies(self, terms: Collection[str], most: int) -> dict[str, int]:
        query = f"SELECT term, least(holders, %s) FROM {self._schema}.rag_term WHERE term = ANY(%s)"
        with self._server.transaction() as connection:
            holders = dict(connection.execute(query, (most, list({stem(term) for term in terms}))).fetchall())
        return {term: int(holders.get(stem(term), 0)) for term in terms}

    def terms_like(self, term: str) -> list[str]:
        first, length = term[:SAME_BEGINNING_CHARACTERS], len(term)
        query = (
            f"SELECT term FROM {self._schema}.rag_term WHERE term >= %s AND term < %s "
            "AND length(term) BETWEEN %s AND %s ORDER BY term LIMIT %s"
        )
        with self._server.transaction() as connection:
            rows = connection.execute(query, (first, first + "\U0010ffff", length - 2, length + 2, MAX_LIKE))
            return [str(row[0]) for row in rows]

    def _bm25(self, only: str) -> str:
        """A statement that ranks the chunks that hold any of the terms."""
        schema = self._schema
        # During a publication, more chunks may hold a term than were counted, or a term may not be counted yet.
        odds = "(p.chunks - coalesce(v.holders, 1) + 0.5) / (coalesce(v.holders, 1) + 0.5)"
        rarity = f"greatest(ln(greatest({odds}, 1e-9)), 1e-6)::float8"
        length = f"({1 - _LENGTH_FACTOR} + {_LENGTH_FACTOR} * c.words * p.chunks / greatest(p.words, 1))::float8"
        score = f"sum(a.rarity * t.count * {_SATURATION_FACTOR + 1}::float8 / (t.count + {_SATURATION_FACTOR}::float8 * h.length))"
        return (
            f"WITH held AS MATERIALIZED (SELECT c.id, c.tally, {length} AS length "
            f"FROM {schema}.rag_publication p, {schema}.rag_chunk c WHERE c.posting @@ %(any)s::tsquery{only}), "
            f"asked AS MATERIALIZED (SELECT g.term, {rarity} AS rarity FROM {schema}.rag_publication p, "
            f'unnest(%(terms)s::text[]) AS g(term) LEFT JOIN {schema}.rag_term v ON v.term = g.term COLLATE "C") '
            f"SELECT h.id, {score} FROM held h, asked a, "
            "LATERAL (SELECT (h.tally ->> a.term)::float8) AS t(count) WHERE t.count IS NOT NULL "
            # Other users may write to the table, so check every value: NaN is greater than infinity.
            f"GROUP BY h.id HAVING {score} < 'infinity' ORDER BY 2 DESC, 1 LIMIT %(limit)s"
        )


def _any_of(terms: Sequence[str]) -> str:
    """A tsquery of words and phrases."""
    return " | ".join(
        "(" + " <-> ".join(f"'{_escape(stem(word))}'" for word in term.split()) + ")" for term in terms if term.strip()
    )


def _escape(term: str) -> str:
    return term.replace("\\", "\\\\").replace("'", "''")
