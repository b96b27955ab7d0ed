"""One project's vectors on a PostgreSQL server with pgvector, which searches them: a schema for each project."""

from __future__ import annotations

import hashlib
import math
import struct
import threading
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_ls.errors import StoreUnavailable
from rag_ls.storage.api import Vector
from rag_ls.storage.postgres.schema import STORE, project_schema
from rag_ls.storage.postgres.server import PostgresServer
from rag_ls.storage.records import Hnsw, Neighbour, Vectors
from rag_ls.storage.served import MAX_SENT, WriteRights, check_usable, find_nearest_among, is_usable

if TYPE_CHECKING:
    import psycopg

_MAX_TEXTS = 1000
# With fewer vectors than this, PostgreSQL compares all of them in milliseconds.
_MIN_INDEXED_VECTORS = 10_000
# The least and the greatest hnsw.ef_search; the latter is pgvector's own limit.
_MIN_EF, _MAX_EF = 400, 1000
# Format: https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format".
_COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)
_COPY_TRAILER = struct.pack("!h", -1)
_HASH_BYTES = 32


class PostgresProjectVectors:
    """See `ServerVectors`. Vectors are pgvector's `halfvec`, one table for each model, searched by HNSW with cosine."""

    def __init__(
        self,
        at: str | PostgresServer,
        project: str,
        *,
        hnsw: Hnsw | None = None,
        indexed_from: int = _MIN_INDEXED_VECTORS,
    ) -> None:
        """Connects when it is first asked, to the server at a URL or to one that others use too.

        `project` is its name for all who share it. Raises `StoreUnavailable` for a URL that is none.
        """
        self._server = at if isinstance(at, PostgresServer) else PostgresServer(at, STORE, self._forget)
        self.place = self._server.place
        self._schema = project_schema(self._server, project)
        self._hnsw = hnsw or Hnsw()
        self._indexed_from = indexed_from
        self._lock = threading.Lock()
        self._tables: dict[str, tuple[str, int]] = {}
        self._rights = WriteRights()

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        found: dict[bytes, Vector] = {}
        for table, dimensions, part in self._parts(model, text_hashes):
            with self._server.transaction() as connection:
                query = f"SELECT text_hash, embedding FROM {table} WHERE text_hash = ANY(%s)"
                rows = connection.cursor(binary=True).execute(query, (part,)).fetchall()
            for text_hash, stored in rows:
                # Two numbers of 16 bits, then the halves, all in network order.
                vector = np.frombuffer(stored, ">f2", offset=4).astype(np.float32)
                if is_usable(vector, dimensions):
                    found[bytes(text_hash)] = vector
        return found

    def similarities(self, model: str, query: Vector, text_hashes: Collection[bytes]) -> dict[bytes, float]:
        found: dict[bytes, float] = {}
        for table, dimensions, part in self._parts(model, text_hashes):
            if len(query) == dimensions:
                asked = f"SELECT text_hash, 1 - (embedding <=> %s) FROM {table} WHERE text_hash = ANY(%s)"
                with self._server.transaction() as connection:
                    rows = connection.execute(asked, (_literal(query), part)).fetchall()
                found |= {bytes(text_hash): float(near) for text_hash, near in rows if math.isfinite(near)}
        return found

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        missing = set(text_hashes)
        for table, _, part in self._parts(model, text_hashes):
            with self._server.transaction() as connection:
                rows = connection.execute(f"SELECT text_hash FROM {table} WHERE text_hash = ANY(%s)", (part,))
                missing.difference_update(bytes(row[0]) for row in rows)
        return missing

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        """See `ServerVectors`. Vectors travel by COPY, all of them in one transaction."""
        if not len(text_hashes):
            return
        check_usable(vectors)
        self._rights.use(lambda: self._copy(model, text_hashes, vectors))

    def nearest(self, model: str, query: Vector, count: int, among: Collection[bytes] | None = None) -> list[Neighbour]:
        if (found := self._table_of(model)) is None or found[1] != len(query):
            return []
        if among is None:
            return self._walk(found[0], query, count)
        if len(among) <= MAX_SENT:
            similar = self.similarities(model, query, among)
            best = sorted(similar.items(), key=lambda item: (-item[1], item[0]))[:count]
            return [Neighbour(text_hash, similarity) for text_hash, similarity in best]
        return find_nearest_among(lambda wanted: self._walk(found[0], query, wanted), count, among)

    def models(self) -> list[str]:
        with self._server.transaction() as connection:
            if not self._schema.exists(connection):
                return []
            rows = connection.execute(f"SELECT name FROM {self._schema.name}.rag_model ORDER BY 1").fetchall()
        return [str(row[0]) for row in rows]

    def maintain(self) -> None:
        """Make the HNSW index of each model that has enough vectors and none; writers go on meanwhile."""
        for model in self.models():
            if (found := self._table_of(model)) is not None:
                self._make_index(found[0])

    def close(self) -> None:
        self._server.close()

    def _walk(self, table: str, query: Vector, count: int) -> list[Neighbour]:
        given = _literal(query)
        with self._server.transaction() as connection:
            ef = min(_MAX_EF, max(_MIN_EF, 2 * count, self._hnsw.ef_search))
            connection.execute(
                f"SELECT set_config('hnsw.ef_search', '{ef}', true), "
                "set_config('hnsw.iterative_scan', 'relaxed_order', true)"
            )
            rows = connection.execute(
                f"SELECT text_hash, 1 - (embedding <=> %s) FROM {table} ORDER BY embedding <=> %s LIMIT %s",
                (given, given, count),
            ).fetchall()
        # Other users may write to the table, so check every value.
        found = [Neighbour(bytes(text_hash), float(near)) for text_hash, near in rows if math.isfinite(near)]
        return sorted(found, key=lambda neighbour: (-neighbour.similarity, neighbour.text_hash))

    def _copy(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        dimensions = int(vectors.shape[1])
        table = self._table_for(model, dimensions)
        with self._server.transaction() as connection:
            connection.execute(
                f"CREATE TEMPORARY TABLE given (text_hash bytea, embedding halfvec({dimensions})) ON COMMIT DROP"
            )
            with connection.cursor().copy("COPY given FROM STDIN WITH (FORMAT BINARY)") as copy:
                copy.write(_COPY_HEADER)
                copy.write(_make_copy_rows(text_hashes, vectors))
                copy.write(_COPY_TRAILER)
            # In one order in all clients, so that two that fill the store at once cannot deadlock.
            connection.execute(
                f"INSERT INTO {table} SELECT * FROM given ORDER BY text_hash ON CONFLICT (text_hash) DO NOTHING"
            )

    def _make_index(self, table: str) -> None:
        name = f"{table.split('.')[1]}_hnsw"
        with self._server.transaction() as connection:
            if not _has_rows(connection, table, self._indexed_from) or _has_index(connection, table, name):
                return
        with (
            # One of the clients that share the store creates it.
            self._server.hold_lock("hashtext(%s)", table) as lock,
            self._server.connect_alone() as connection,
        ):
            if lock is None or _has_index(connection, table, name):
                return
            connection.execute(f"DROP INDEX IF EXISTS {self._schema.name}.{name}")
            connection.execute(
                f"CREATE INDEX CONCURRENTLY {name} ON {table} USING hnsw (embedding halfvec_cosine_ops) "
                f"WITH (m = {self._hnsw.m}, ef_construction = {max(self._hnsw.ef_construction, 2 * self._hnsw.m)})"
            )

    def _parts(self, model: str, text_hashes: Collection[bytes]) -> list[tuple[str, int, list[bytes]]]:
        wanted = list(text_hashes)
        if not wanted or (found := self._table_of(model)) is None:
            return []
        return [(*found, wanted[at : at + _MAX_TEXTS]) for at in range(0, len(wanted), _MAX_TEXTS)]

    def _table_of(self, model: str) -> tuple[str, int] | None:
        """The table of a model's vectors with their dimensions; None while there is none."""
        with self._lock:
            known = self._tables.get(model)
        if known is not None:
            return known
        with self._server.transaction() as connection:
            if not self._schema.exists(connection):
                return None
            query = f"SELECT dimensions FROM {self._schema.name}.rag_model WHERE name = %s"
            row = connection.execute(query, (model,)).fetchone()
        return self._note_table(model, row)

    def _table_for(self, model: str, dimensions: int) -> str:
        """The table of a model's vectors, made if there is none yet. Raises `StoreUnavailable` for other dimensions."""
        if (found := self._table_of(model)) is None:
            with self._schema.locked() as connection:
                rows = f"{self._schema.name}.rag_model"
                connection.execute(
                    f"INSERT INTO {rows} (name, dimensions) VALUES (%s, %s) ON CONFLICT DO NOTHING", (model, dimensions)
                )
                row = connection.execute(f"SELECT dimensions FROM {rows} WHERE name = %s", (model,)).fetchone()
                assert row is not None
                connection.execute(
                    f"CREATE TABLE IF NOT EXISTS {self._schema.name}.{table_of(model)} "
                    f"(text_hash bytea PRIMARY KEY, embedding halfvec({int(row[0])}) NOT NULL)"
                )
            found = self._note_table(model, row)
        assert found is not None
        if found[1] != dimensions:
            raise StoreUnavailable(
                f"{self.place} holds vectors of {found[1]} numbers for {model}, this machine makes {dimensions}: nothing "
                "is stored there",
                STORE,
            )
        return found[0]

    def _forget(self) -> None:
        """Forget the known tables, because a client dropped the project."""
        with self._lock:
            self._tables.clear()

    def _note_table(self, model: str, row: tuple[Any, ...] | None) -> tuple[str, int] | None:
        if row is None:
            return None
        found = (f"{self._schema.name}.{table_of(model)}", int(row[0]))
        with self._lock:
            self._tables[model] = found
        return found


def table_of(model: str) -> str:
    """The table of a model's vectors: by a hash, so that no other model ever has the same."""
    return f"rag_vector_{hashlib.sha256(model.encode()).hexdigest()[:12]}"


def _literal(vector: Vector) -> str:
    return "[" + ",".join(map(repr, vector.astype(np.float32).tolist())) + "]"


def _make_copy_rows(text_hashes: Sequence[bytes], vectors: Vectors) -> bytes:
    """Rows of (bytea, halfvec) in the binary format of COPY."""
    dimensions = vectors.shape[1]
    rows = np.empty(
        len(text_hashes),
        np.dtype(
            [("fields", ">i2"), ("hash_bytes", ">i4"), ("hash", f"V{_HASH_BYTES}"), ("vector_bytes", ">i4"),
             ("dimensions", ">i2"), ("unused", ">i2"), ("vector", ">f2", (dimensions,))]
        ),
    )  # fmt: skip
    rows["fields"], rows["hash_bytes"], rows["vector_bytes"] = 2, _HASH_BYTES, 4 + 2 * dimensions
    rows["hash"] = np.frombuffer(b"".join(text_hashes), f"V{_HASH_BYTES}")
    rows["dimensions"], rows["unused"], rows["vector"] = dimensions, 0, vectors
    return rows.tobytes()


def _has_rows(connection: psycopg.Connection[Any], table: str, count: int) -> bool:
    row = connection.execute(f"SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT {count}) AS first_rows").fetchone()
    return row is not None and int(row[0]) >= count


def _has_index(connection: psycopg.Connection[Any], table: str, name: str) -> bool:
    """Whether a table has the index, and it was finished."""
    query = "SELECT 1 FROM pg_index WHERE indrelid = %s::regclass AND indexrelid::regclass::text LIKE %s AND indisvalid"
    return connection.execute(query, (table, f"%{name}")).fetchone() is not None
