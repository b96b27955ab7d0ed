"""Vectors that several users share on a PostgreSQL server: by model and by the hash of their text, and nothing readable."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_ls.errors import StoreUnavailable
from rag_ls.storage.api import Vector
from rag_ls.storage.postgres.schema import PostgresSchema, enlist, schema_of
from rag_ls.storage.postgres.server import PostgresServer
from rag_ls.storage.records import SharedChanges, SharedMemory, Vectors
from rag_ls.storage.servers import WriteRights, check_usable, is_usable

if TYPE_CHECKING:
    import psycopg

_log = logging.getLogger(__name__)

_VECTORS_STORE = "shared vectors"
_MAX_TEXTS = 1000
_NONE = np.zeros(0, np.float32)
_MEMORIES_STORE = "team memories"


class PostgresVectors:
    """See `SharedVectors`. Vectors are stored as float16, as they are locally."""

    def __init__(self, url: str) -> None:
        """Connects when it is first asked. Raises `StoreUnavailable` for a URL that is none."""
        self._server = PostgresServer(url, _VECTORS_STORE)
        self.place = self._server.place
        self._schema = PostgresSchema(self._server, "rag_ls", "vectors_schema", (_first,), _VECTORS_STORE)
        self._lock = threading.Lock()
        self._is_ready = False
        self._rights = WriteRights()

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        query = (
            "SELECT v.text_hash, v.vector, m.dimensions FROM rag_ls.rag_vector v JOIN rag_ls.rag_model m ON m.id = v.model "
            "WHERE m.name = %s AND v.text_hash = ANY(%s)"
        )
        found: dict[bytes, Vector] = {}
        wrong = 0
        for part in _parts(text_hashes):
            with self._ready() as connection:
                rows = connection.execute(query, (model, part)).fetchall()
            for text_hash, stored, dimensions in rows:
                # Other users may write to the table, so check every value.
                vector = (
                    np.frombuffer(stored, np.float16).astype(np.float32) if len(stored) == 2 * dimensions else _NONE
                )
                if is_usable(vector, dimensions):
                    found[bytes(text_hash)] = vector
                else:
                    wrong += 1
        if wrong:
            _log.warning("%s: %d vectors of %s are damaged, and made anew here", self.place, wrong, model)
        return found

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        query = (
            "SELECT v.text_hash FROM rag_ls.rag_vector v JOIN rag_ls.rag_model m ON m.id = v.model "
            "WHERE m.name = %s AND v.text_hash = ANY(%s)"
        )
        missing = set(text_hashes)
        for part in _parts(text_hashes):
            with self._ready() as connection:
                missing.difference_update(bytes(row[0]) for row in connection.execute(query, (model, part)))
        return missing

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        if not len(text_hashes):
            return
        check_usable(vectors)
        self._rights.use(lambda: self._write(model, text_hashes, vectors))

    def _write(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        # In one order in all clients, so that two that fill the store at once cannot deadlock.
        ordered = sorted(zip(text_hashes, vectors.astype(np.float16), strict=True), key=lambda item: item[0])
        hashes, halves = [text_hash for text_hash, _ in ordered], [half.tobytes() for _, half in ordered]
        with self._ready() as connection:
            model_row = _find_model_row(connection, model, int(vectors.shape[1]), self.place)
            for start in range(0, len(halves), _MAX_TEXTS):
                part = slice(start, start + _MAX_TEXTS)
                connection.execute(
                    "INSERT INTO rag_ls.rag_vector (model, text_hash, vector) "
                    "SELECT %s, h, v FROM unnest(%s::bytea[], %s::bytea[]) AS given (h, v) ON CONFLICT DO NOTHING",
                    (model_row, hashes[part], halves[part]),
                )

    def close(self) -> None:
        self._server.close()

    def _ready(self) -> Any:
        """A transaction on a database that has our tables."""
        with self._lock:
            is_ready = self._is_ready
        if not is_ready:
            self._schema.make()
            with self._lock:
                self._is_ready = True
        return self._server.transaction()


def _find_model_row(connection: psycopg.Connection[Any], model: str, dimensions: int, place: str) -> int:
    connection.execute(
        "INSERT INTO rag_ls.rag_model (name, dimensions) VALUES (%s, %s) ON CONFLICT DO NOTHING", (model, dimensions)
    )
    row = connection.execute("SELECT id, dimensions FROM rag_ls.rag_model WHERE name = %s", (model,)).fetchone()
    assert row is not None
    if row[1] != dimensions:
        raise StoreUnavailable(
            f"{place} holds vectors of {row[1]} numbers for {model}, this machine makes {dimensions}: nothing is shared",
            _VECTORS_STORE,
        )
    return int(row[0])


def _first(connection: psycopg.Connection[Any], name: str) -> None:
    for statement in (
        f"CREATE TABLE {name}.rag_model (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, "
        "dimensions integer NOT NULL)",
        # Half-precision numbers, little-endian.
        f"CREATE TABLE {name}.rag_vector (model integer NOT NULL REFERENCES {name}.rag_model, text_hash bytea NOT NULL, "
        "vector bytea NOT NULL, PRIMARY KEY (model, text_hash))",
    ):
        connection.execute(statement)


def _parts(text_hashes: Collection[bytes]) -> list[list[bytes]]:
    wanted = list(text_hashes)
    return [wanted[start : start + _MAX_TEXTS] for start in range(0, len(wanted), _MAX_TEXTS)]


if TYPE_CHECKING:
    import psycopg


class SharedMemories:
    """The memories of one project that a team shares. Safe from several threads.

    The latest version of each memory is a row; the server's users keep their own histories.
    """

    def __init__(self, url: str, project: str) -> None:
        """Connects when it is first asked. `project` is its name for all who share it.

        Raises `StoreUnavailable` for a URL that is none.
        """
        self._server = PostgresServer(url, _MEMORIES_STORE)
        self.place = self._server.place
        """The address of the server, without its password."""

        def first(connection: psycopg.Connection[Any], name: str) -> None:
            enlist(connection, name, project)
            connection.execute(f"CREATE SEQUENCE {name}.rag_change")
            connection.execute(
                f"INSERT INTO {name}.rag_meta VALUES ('memories_epoch', gen_random_uuid()::text) ON CONFLICT DO NOTHING"
            )
            connection.execute(
                f"CREATE TABLE {name}.rag_memory (id text PRIMARY KEY, change bigint NOT NULL UNIQUE, version bigint NOT NULL, "
                "deleted boolean NOT NULL, updated_at text NOT NULL, record text NOT NULL, "
                "author text NOT NULL DEFAULT current_user)"
            )

        self._schema = PostgresSchema(self._server, schema_of(project), "memories_schema", (first,), _MEMORIES_STORE)
        self._table = f"{self._schema.name}.rag_memory"

    def since(self, change: int) -> SharedChanges:
        """The changes after a change's number (0: all of them). Raises `StoreUnavailable`."""
        with self._server.transaction() as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            if not self._schema.exists(connection):
                return SharedChanges((), 0, "")
            rows = connection.execute(
                f"SELECT id, version, deleted, updated_at, record FROM {self._table} WHERE change > %s ORDER BY change",
                (change,),
            ).fetchall()
            found = connection.execute(
                f"SELECT coalesce(max(change), 0), (SELECT value FROM {self._schema.name}.rag_meta "
                f"WHERE key = 'memories_epoch') FROM {self._table}"
            ).fetchone()
        assert found is not None
        return SharedChanges(tuple(SharedMemory(*row) for row in rows), int(found[0]), str(found[1] or ""))

    def put(self, memories: Sequence[SharedMemory]) -> None:
        """Store versions, each unless the server has one with a greater stamp. All of them or none.

        Raises `StoreUnavailable`; `StoreReadOnly` for a user who may only read.
        """
        if not memories:
            return
        self._schema.make()
        with self._server.transaction() as connection:
            # One after the other, so that nobody sees a later change before an earlier one.
            connection.execute(f"LOCK TABLE {self._table} IN SHARE ROW EXCLUSIVE MODE")
            connection.cursor().executemany(
                f"INSERT INTO {self._table} AS m (id, change, version, deleted, updated_at, record) "
                f"VALUES (%s, nextval('{self._schema.name}.rag_change'), %s, %s, %s, %s) ON CONFLICT (id) DO UPDATE SET "
                "change = excluded.change, version = excluded.version, deleted = excluded.deleted, "
                "updated_at = excluded.updated_at, record = excluded.record, author = current_user "
                'WHERE (m.version, m.deleted, m.updated_at COLLATE "C") < '
                '(excluded.version, excluded.deleted, excluded.updated_at COLLATE "C")',
                [(each.id, each.version, each.is_deleted, each.updated_at, each.record) for each in memories],
            )

    def close(self) -> None:
        self._server.close()
