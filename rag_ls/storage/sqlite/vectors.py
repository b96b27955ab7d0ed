"""Stores a project's vectors as rows of `index.db`, with a usearch snapshot if there are many."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from rag_ls.errors import StoreError, StoreUnavailable
from rag_ls.storage.api import Vector
from rag_ls.storage.records import Hnsw, Neighbour, Vectors
from rag_ls.storage.served import MAX_SENT, find_nearest_among
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.file_faults import read_only
from rag_ls.storage.sqlite.index_file import check_is_own
from rag_ls.storage.sqlite.statements import as_json, batches, marks
from rag_ls.storage.sqlite.vector_index import EXACT_LIMIT, VectorIndex, VectorRows, stack_vectors

_log = logging.getLogger(__name__)

_BUSY_S = 2.0


class SqliteVectors:
    """See `VectorStore`. Vectors are stored as float16; an id, once given, always stands for the same vector."""

    def __init__(
        self, database: Database, folder: Path | None, *, hnsw: Hnsw | None = None, exact_limit: int = EXACT_LIMIT
    ) -> None:
        """`folder` is the folder of snapshots; None keeps everything in memory."""
        self._database = database
        self._folder = folder
        self._index = CurrentIndex(VectorRows(database, "embeddings"), folder, hnsw, exact_limit, name="vectors")

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        norms = np.linalg.norm(vectors, axis=1) if len(vectors) else np.ones(0)
        if not np.all(np.isfinite(norms)) or np.any(norms < 1e-6):
            raise ValueError("the model gave vectors that are zero or not finite; they were not stored")
        halves = vectors.astype(np.float16)
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO embeddings (model, text_hash, vector) VALUES (?, ?, ?)",
                [(model, text_hash, half.tobytes()) for text_hash, half in zip(text_hashes, halves, strict=True)],
            )

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        with self._database.in_use() as connection:
            return _vectors_of(connection, model, text_hashes)

    def similarities(self, model: str, query: Vector, text_hashes: Collection[bytes]) -> dict[bytes, float]:
        ids = self._ids_of(model, text_hashes)
        similar = self._index.of_model(model).similarities(query, list(ids.values()))
        return {text_hash: similar[number] for text_hash, number in ids.items() if number in similar}

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        missing = set(text_hashes)
        for part in batches(list(missing)):
            query = f"SELECT text_hash FROM embeddings WHERE model = ? AND text_hash IN ({marks(part)})"
            missing.difference_update(self._database.column(query, (model, *part)))
        return missing

    def nearest(self, model: str, query: Vector, count: int, among: Collection[bytes] | None = None) -> list[Neighbour]:
        if among is not None and len(among) > MAX_SENT:
            found = find_nearest_among(lambda wanted: self.nearest(model, query, wanted), count, among)
            if len(found) == count:
                return found
        index = self._index.of_model(model)
        index.refresh()
        self._index.build_if_long()
        near = index.search(query, count, None if among is None else self._ids_of(model, among).values())
        hashes = self._hashes_of([neighbour.id for neighbour in near])
        return [Neighbour(hashes[item.id], item.similarity) for item in near if item.id in hashes]

    def maintain(self) -> None:
        """Write a snapshot if it pays, even if there was no search yet."""
        model = self._database.text("SELECT model FROM embeddings ORDER BY id DESC LIMIT 1")
        if self._folder is not None and model:
            index = self._index.of_model(model)
            index.refresh()
            if index.tail_is_long:
                index.build_snapshot()

    def let_go(self) -> None:
        """Drop what was read into memory; the next search reads it again."""
        self._index.let_go()

    def close(self) -> None:
        self._index.close()

    def _ids_of(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, int]:
        """The id of the vector of each of these texts that has one."""
        found: dict[bytes, int] = {}
        for part in batches(list(text_hashes)):
            query = f"SELECT text_hash, id FROM embeddings WHERE model = ? AND text_hash IN ({marks(part)})"
            found.update(self._database.rows(query, (model, *part)))
        return found

    def _hashes_of(self, ids: Sequence[int]) -> dict[int, bytes]:
        """The text hash of each of these vectors, by id."""
        query = "SELECT id, text_hash FROM embeddings WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._database.rows(query, (as_json(ids),)))


class LentVectors:
    """See `VectorLender`: the `index.db` of another project, opened for each question."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.place = str(file)

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        try:
            with closing(read_only(self._file, busy_s=_BUSY_S)) as connection:
                check_is_own(connection)
                return _vectors_of(connection, model, text_hashes)
        except sqlite3.Error as error:
            raise StoreUnavailable(f"{self._file} lends no vectors: {error}", "index") from error


def _vectors_of(connection: sqlite3.Connection, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
    found: dict[bytes, Vector] = {}
    for part in batches(list(text_hashes)):
        query = f"SELECT text_hash, vector FROM embeddings WHERE model = ? AND text_hash IN ({marks(part)})"
        rows = connection.execute(query, (model, *part)).fetchall()
        found.update(zip((row[0] for row in rows), stack_vectors([row[1] for row in rows]), strict=True))
    return found


class CurrentIndex:
    """The `VectorIndex` of the model that was asked for last. Safe from several threads."""

    def __init__(
        self, rows: VectorRows, folder: Path | None, hnsw: Hnsw | None, exact_limit: int = EXACT_LIMIT, *, name: str
    ) -> None:
        """`folder` is the folder of snapshots, whose files begin with `name`; None keeps everything in memory."""
        self._rows = rows
        self._folder = folder
        self._hnsw = hnsw or Hnsw()
        self._exact_limit = exact_limit
        self._name = name
        self._lock = threading.Lock()
        self._index: VectorIndex | None = None
        self._building: threading.Thread | None = None

    def of_model(self, model: str) -> VectorIndex:
        """The index of a model, in place of another one's."""
        with self._lock:
            if self._index is None or self._index.model != model:
                self._index = VectorIndex(
                    self._rows, model, self._folder, exact_limit=self._exact_limit, hnsw=self._hnsw, name=self._name
                )
            return self._index

    def build_if_long(self) -> None:
        """Build a snapshot in the background if many vectors are in none, unless one is being built."""
        with self._lock:
            index = self._index
            if index is None or self._folder is None or self._is_building or not index.tail_is_long:
                return
            self._building = threading.Thread(target=self._build, args=(index,), name=self._name, daemon=True)
            self._building.start()

    def let_go(self) -> None:
        """Drop what was read into memory, unless a snapshot is being built; the next search reads it again."""
        with self._lock:
            if self._index is not None and not self._is_building:
                self._index.close()
                self._index = None

    def close(self) -> None:
        """Stop background work."""
        with self._lock:
            index = self._index
        if index is not None:
            index.close()

    @property
    def _is_building(self) -> bool:
        return self._building is not None and self._building.is_alive()

    def _build(self, index: VectorIndex) -> None:
        try:
            index.build_snapshot()
        except (StoreError, OSError) as error:
            _log.info("no snapshot of %s was made: %s", self._name, error)
