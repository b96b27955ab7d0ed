"""Vectors that several users share on a PostgreSQL server: by model and by the hash of their text, and nothing readable."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_ls.errors import StoreUnavailable
from rag_ls.storage.api import Vector
from rag_ls.storage.postgres.schema import PostgresSchema
from rag_ls.storage.postgres.server import PostgresServer
from rag_ls.storage.records import Vectors
from rag_ls.storage.served import WriteRights, check_usable, is_usable

if TYPE_CHECKING:
    import psycopg

_log = logging.getLogger(__name__)

_VECTORS_STORE = "shared vectors"
_MAX_TEXTS = 1000
_NONE = np.zeros(0, np.float32)


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
