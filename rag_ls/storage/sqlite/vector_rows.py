"""Reads the vectors of a table of `index.db` or `memories.db` for a `VectorIndex`, and keeps the index that is in use."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_ls.errors import StoreError
from rag_ls.storage.records import Hnsw, Vectors
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.guard import guarded
from rag_ls.storage.sqlite.index_rows import as_json
from rag_ls.storage.sqlite.vector_index import EXACT_LIMIT, VectorIndex, stack_vectors

_log = logging.getLogger(__name__)

_MAX_ROWS_READ = 4096


@guarded
class VectorRows:
    """The vectors of a table. A vector never changes, and a new one gets a greater id than all before it.

    Where ids are given, `+model` keeps SQLite from reading all of the model's rows by an index that begins with the model.
    """

    def __init__(self, database: Database, table: str = "embeddings") -> None:
        self._database = database
        self._table = table

    def index_id(self) -> str:
        """An id that distinguishes these rows from former ones in the same place."""
        return str(self._database.connection.execute("SELECT value FROM meta WHERE key = 'index_id'").fetchone()[0])

    def last_id(self) -> int:
        """The greatest id ever given; 0 where there was no vector. Cheap, because each search looks for new vectors."""
        query = "SELECT seq FROM sqlite_sequence WHERE name = ?"
        row = self._database.connection.execute(query, (self._table,)).fetchone()
        return int(row[0]) if row else 0

    def count_after(self, model: str, after: int, most: int) -> int:
        """The number of a model's vectors with an id above `after`, counted up to `most`."""
        query = f"SELECT count(*) FROM (SELECT 1 FROM {self._table} WHERE +model = ? AND id > ? LIMIT ?)"
        return int(self._database.connection.execute(query, (model, after, most)).fetchone()[0])

    def newer_than(
        self, model: str, after: int, batch: int = _MAX_ROWS_READ
    ) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
        """Ids above `after` in ascending order, with their vectors, in batches."""
        query = f"SELECT id, vector FROM {self._table} WHERE +model = ? AND id > ? ORDER BY id LIMIT ?"
        while True:
            with self._database.in_use():
                rows = self._database.connection.execute(query, (model, after, batch)).fetchall()
            if not rows:
                return
            ids = np.array([row[0] for row in rows], dtype=np.int64)
            yield ids, stack_vectors([row[1] for row in rows])
            after = int(ids[-1])

    def vectors(self, model: str, ids: Collection[int]) -> dict[int, NDArray[np.float32]]:
        """The vectors of `model` among these ids."""
        query = f"SELECT id, vector FROM {self._table} WHERE +model = ? AND id IN (SELECT value FROM json_each(?))"
        rows = self._database.connection.execute(query, (model, as_json(ids))).fetchall()
        return dict(zip((row[0] for row in rows), stack_vectors([row[1] for row in rows]), strict=True))


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

    def let_go(self) -> bool:
        """Drop what was read into memory, unless a snapshot is being built; the next search reads it again."""
        with self._lock:
            index = self._index
            if index is None or self._is_building:
                return False
            self._index = None
        index.close()
        return True

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
