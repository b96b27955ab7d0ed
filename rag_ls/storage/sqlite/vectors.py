"""Stores a project's vectors as rows of `index.db`, with a usearch snapshot if there are many."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import numpy as np

from rag_ls.errors import StoreError, StoreUnavailable
from rag_ls.storage.api import Vector
from rag_ls.storage.records import Hnsw, Neighbour, Vectors
from rag_ls.storage.servers import MAX_SENT, find_nearest_among
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.file_faults import read_only
from rag_ls.storage.sqlite.index_file import check_is_own
from rag_ls.storage.sqlite.statements import as_json, batches, marks
from rag_ls.storage.sqlite.vector_index import EXACT_LIMIT, VectorIndex, VectorRows, stack_vectors

_log = logging.getLogger(__name__)

_BUSY_S = 2.0
# An exact search keeps as many vectors in memory.
_MAX_KNOWN = 2 * EXACT_LIMIT

K = TypeVar("K")
V = TypeVar("V")


class SqliteVectors:
    """See `VectorStore`. Vectors are stored as float16; an id, once given, always stands for the same vector."""

    def __init__(
        self, database: Database, folder: Path | None, *, hnsw: Hnsw | None = None, exact_limit: int = EXACT_LIMIT
    ) -> None:
        """`folder` is the folder of snapshots; None keeps everything in memory."""
        self._database = database
        self._folder = folder
        self._texts = TextIds(database)
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
        ids = self._texts.ids_by_hash(model, text_hashes)
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
        near = index.search(query, count, None if among is None else self._texts.ids_by_hash(model, among).values())
        hashes = self._texts.hashes_of(model, [neighbour.id for neighbour in near])
        return [Neighbour(hashes[item.id], item.similarity) for item in near if item.id in hashes]

    def maintain(self) -> None:
        """Write a snapshot if it pays, even if there was no search yet."""
        model = self._texts.newest_model()
        if self._folder is not None and model and (index := self._index.of_model(model)).snapshot_is_due():
            index.build_snapshot()

    def let_go(self) -> None:
        """Drop what was read into memory; the next search reads it again."""
        if self._index.let_go():
            self._texts.forget()

    def close(self) -> None:
        self._index.close()


class TextIds:
    """The ids of vectors by the hashes of their texts, and back.

    Where ids are given, `+model` keeps SQLite from reading all of the model's rows by the index on (model, text_hash).
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        # As far as they were read: neither ever changes.
        self._model = ""
        self._ids: dict[bytes, int] = {}
        self._hashes: dict[int, bytes] = {}

    def forget(self) -> None:
        """Drop the hashes and ids that were read."""
        with self._lock:
            self._model, self._ids, self._hashes = "", {}, {}

    def newest_model(self) -> str:
        """The model of the newest vector; empty if there is none."""
        return self._database.text("SELECT model FROM embeddings ORDER BY id DESC LIMIT 1")

    def ids_by_hash(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, int]:
        """The id of the vector of each of these texts that has one."""
        with self._lock:
            found, unknown = _part_known(self._ids if model == self._model else {}, text_hashes)
        for part in batches(unknown):
            query = f"SELECT text_hash, id FROM embeddings WHERE model = ? AND text_hash IN ({marks(part)})"
            read = dict(self._database.rows(query, (model, *part)))
            self._keep(model, read)
            found |= read
        return found

    def hashes_of(self, model: str, ids: Sequence[int]) -> dict[int, bytes]:
        """The text hash of each of these vectors of a model, by id."""
        with self._lock:
            found, unknown = _part_known(self._hashes if model == self._model else {}, ids)
        if unknown:
            query = "SELECT id, text_hash FROM embeddings WHERE +model = ? AND id IN (SELECT value FROM json_each(?))"
            read = dict(self._database.rows(query, (model, as_json(unknown))))
            self._keep(model, {text_hash: number for number, text_hash in read.items()})
            found |= read
        return found

    def _keep(self, model: str, ids: Mapping[bytes, int]) -> None:
        """Keep these for later, in place of all former ones if they are of another model or too many."""
        with self._lock:
            if model != self._model or len(self._ids) + len(ids) > _MAX_KNOWN:
                self._model, self._ids, self._hashes = model, {}, {}
            self._ids.update(ids)
            self._hashes.update((number, text_hash) for text_hash, number in ids.items())


def _part_known(kept: Mapping[K, V], wanted: Collection[K]) -> tuple[dict[K, V], list[K]]:
    found = {each: kept[each] for each in wanted if each in kept}
    return found, [each for each in wanted if each not in found]


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
