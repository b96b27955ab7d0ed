"""Vectors that several users share on a PostgreSQL server: by model and by the hash of their text, and nothing readable."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_ls.errors import StoreUnavailable
from rag_ls.storage.api import Vector
from rag_ls.storage.postgres.server import Server
from rag_ls.storage.records import Vectors

if TYPE_CHECKING:
    import psycopg

_log = logging.getLogger(__name__)

STORE = "shared vectors"
# Held while the schema is made or migrated, by all users of one database.
_LOCK = 0x7261676C73
_TEXTS_AT_ONCE = 1000
# float16 rounds a vector's length by less.
_NORM_TOLERANCE = 0.01
_NONE = np.zeros(0, np.float32)


class PostgresVectors:
    """See `SharedVectors`. Vectors are stored as float16, as they are locally."""

    def __init__(self, url: str) -> None:
        """Connects when it is first asked. Raises `StoreUnavailable` for a URL that is none."""
        self._server = Server(url, STORE)
        self._lock = threading.Lock()
        self._is_ready = False

    @property
    def place(self) -> str:
        """See `SharedVectors`."""
        return self._server.place

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        """See `SharedVectors`."""
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
                # Anybody who may write there may have written anything.
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
        """See `SharedVectors`."""
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
        """See `SharedVectors`."""
        if not len(text_hashes):
            return
        dimensions = int(vectors.shape[1])
        if not all(is_usable(vector, dimensions) for vector in vectors):
            raise ValueError("vectors that are not of length one are not shared")
        # In one order for everybody, so that two who fill the store at once wait for each other in turn.
        ordered = sorted(zip(text_hashes, vectors.astype(np.float16), strict=True), key=lambda item: item[0])
        hashes, halves = [text_hash for text_hash, _ in ordered], [half.tobytes() for _, half in ordered]
        with self._ready() as connection:
            number = _model_number(connection, model, dimensions, self.place)
            for start in range(0, len(halves), _TEXTS_AT_ONCE):
                part = slice(start, start + _TEXTS_AT_ONCE)
                connection.execute(
                    "INSERT INTO rag_ls.rag_vector (model, text_hash, vector) "
                    "SELECT %s, h, v FROM unnest(%s::bytea[], %s::bytea[]) AS given (h, v) ON CONFLICT DO NOTHING",
                    (number, hashes[part], halves[part]),
                )

    def close(self) -> None:
        """See `SharedVectors`."""
        self._server.close()

    def _ready(self) -> Any:
        """A transaction on a database that has our tables."""
        with self._lock:
            if not self._is_ready:
                self._prepare()
                self._is_ready = True
        return self._server.transaction()

    def _prepare(self) -> None:
        with self._server.transaction() as connection:
            if _version(connection) == len(_MIGRATIONS):
                # Also for a user who may only read.
                return
        with self._server.transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            version = _version(connection)
            if version > len(_MIGRATIONS):
                raise StoreUnavailable(
                    f"{self.place} was made by a newer rag-ls (schema {version}, this one knows {len(_MIGRATIONS)}): update "
                    "rag-ls, or name another database in store.url",
                    STORE,
                )
            for migrate in _MIGRATIONS[version:]:
                migrate(connection)
            connection.execute(
                "INSERT INTO rag_ls.rag_meta VALUES ('vectors_schema', %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (str(len(_MIGRATIONS)),),
            )


def is_usable(vector: Vector, dimensions: int) -> bool:
    """Whether a vector can be compared with others of its model: of so many numbers, finite, of length one."""
    return len(vector) == dimensions and abs(float(np.linalg.norm(vector)) - 1.0) < _NORM_TOLERANCE


def _version(connection: psycopg.Connection[Any]) -> int:
    """The version of the tables; 0 if there are none."""
    # Not `to_regclass`, which may remember that there was none before somebody else made it.
    query = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'rag_ls' AND tablename = 'rag_meta'"
    if connection.execute(query).fetchone() is None:
        return 0
    row = connection.execute("SELECT value FROM rag_ls.rag_meta WHERE key = 'vectors_schema'").fetchone()
    return int(row[0]) if row else 0


def _model_number(connection: psycopg.Connection[Any], model: str, dimensions: int, place: str) -> int:
    connection.execute(
        "INSERT INTO rag_ls.rag_model (name, dimensions) VALUES (%s, %s) ON CONFLICT DO NOTHING", (model, dimensions)
    )
    row = connection.execute("SELECT id, dimensions FROM rag_ls.rag_model WHERE name = %s", (model,)).fetchone()
    assert row is not None
    if row[1] != dimensions:
        raise StoreUnavailable(
            f"{place} holds vectors of {row[1]} numbers for {model}, this machine makes {dimensions}: nothing is shared",
            STORE,
        )
    return int(row[0])


def _first(connection: psycopg.Connection[Any]) -> None:
    for statement in (
        "CREATE SCHEMA IF NOT EXISTS rag_ls",
        "CREATE TABLE IF NOT EXISTS rag_ls.rag_meta (key text PRIMARY KEY, value text NOT NULL)",
        "CREATE TABLE rag_ls.rag_model (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, "
        "dimensions integer NOT NULL)",
        # Half-precision numbers, little-endian.
        "CREATE TABLE rag_ls.rag_vector (model integer NOT NULL REFERENCES rag_ls.rag_model, text_hash bytea NOT NULL, "
        "vector bytea NOT NULL, PRIMARY KEY (model, text_hash))",
    ):
        connection.execute(statement)


_MIGRATIONS: tuple[Callable[[psycopg.Connection[Any]], None], ...] = (_first,)


def _parts(text_hashes: Collection[bytes]) -> list[list[bytes]]:
    wanted = list(text_hashes)
    return [wanted[start : start + _TEXTS_AT_ONCE] for start in range(0, len(wanted), _TEXTS_AT_ONCE)]
