"""Stores and searches the vectors of memories, one per part of a content: few exactly, many by a snapshot."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Collection, Mapping
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_ls.model import MemoryFilters
from rag_ls.storage.records import Hnsw, Vectors
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.memory_rows import FROM, condition
from rag_ls.storage.sqlite.statements import as_json
from rag_ls.storage.sqlite.vector_index import EXACT_LIMIT, VectorRows, stack_vectors
from rag_ls.storage.sqlite.vectors import CurrentIndex

_log = logging.getLogger(__name__)

# If filters admit at most this many vectors, all of them are compared; otherwise the nearest ones are filtered.
_MAX_WANTED = 20_000
_SPARE_RATIO = 10
_MAX_WANTED_RATIO = 10
_MISSING = (
    "memories m WHERE NOT EXISTS "
    "(SELECT 1 FROM vectors v WHERE v.row = m.row AND v.model = ? AND v.content_hash = m.content_hash)"
)


class MemoryVectors:
    """The vectors of a store's memories, of length one, as float16: one for each part of a memory's content."""

    def __init__(
        self, database: Database, folder: Path | None, *, hnsw: Hnsw | None = None, exact_limit: int = EXACT_LIMIT
    ) -> None:
        """`folder` is the folder of snapshots; None keeps everything in memory."""
        self._database, self._folder = database, folder
        self._index = CurrentIndex(VectorRows(database, "vectors"), folder, hnsw, exact_limit, name="memory-vectors")
        # The model that has embedded all memories, and the newest memory at that time.
        self._complete: tuple[str, int, str, int] | None = None

    def add(self, memory_id: str, model: str, content_hash: str, parts: Vectors) -> None:
        """Store the vectors of a memory's parts, shape (parts, dimensions); of none that was changed meanwhile.

        Raises `ValueError` for vectors that are zero or not finite.
        """
        norms = np.linalg.norm(parts, axis=1)
        if not np.all(np.isfinite(norms)) or np.any(norms < 1e-6):
            raise ValueError("the model gave a vector that is zero or not finite; it was not stored")
        halves = parts.astype(np.float16)
        with self._database.writing() as connection:
            found = connection.execute(
                "SELECT row FROM memories WHERE id = ? AND content_hash = ?", (memory_id, content_hash)
            ).fetchone()
            if found is None:
                return
            connection.execute("DELETE FROM vectors WHERE row = ? AND model = ?", (found[0], model))
            connection.executemany(
                "INSERT INTO vectors (row, model, content_hash, part, vector) VALUES (?, ?, ?, ?, ?)",
                [(found[0], model, content_hash, number, half.tobytes()) for number, half in enumerate(halves)],
            )

    def newest(self) -> tuple[int, str, int]:
        """A value that differs after a memory was stored, changed or deleted, but not after a recall."""
        row = self._database.row(
            "SELECT (SELECT max(row) FROM memories), (SELECT max(updated_at) FROM memories), "
            "(SELECT max(rowid) FROM history)"
        )
        return int(row[0] or 0), str(row[1] or ""), int(row[2] or 0)

    def dimensions(self, model: str) -> int | None:
        """The dimensions of a model's vectors; None if there are none."""
        length = self._database.count("SELECT length(vector) FROM vectors WHERE model = ? LIMIT 1", (model,))
        return length // np.dtype(np.float16).itemsize or None

    def missing(self, model: str, limit: int) -> list[tuple[str, str, str]]:
        """Memories that `model` has not embedded yet: (id, content, content hash)."""
        # Remember that no vector is missing: looking for them among many memories takes long, and nearly always finds none.
        newest = (model, *self.newest())
        if newest == self._complete:
            return []
        found = self._database.rows(
            f"SELECT id, content, content_hash FROM {_MISSING} LIMIT ?",
            (model, limit),
        )
        if not found:
            self._complete = newest
        return found

    def missing_count(self, model: str) -> int:
        """The number of memories that `model` has not embedded yet."""
        return self._database.count(f"SELECT count(*) FROM {_MISSING}", (model,))

    def of(self, memory_id: str, model: str) -> Vectors:
        """The vectors of one memory, shape (parts, dimensions); (0, 0) if it has none."""
        blobs = self._database.column(
            "SELECT v.vector FROM vectors v JOIN memories m USING (row) "
            "WHERE m.id = ? AND v.model = ? AND v.content_hash = m.content_hash ORDER BY part",
            (memory_id, model),
        )
        return stack_vectors(blobs)

    def all_of(self, contents: Mapping[str, str]) -> list[tuple[str, str, NDArray[np.float16]]]:
        """The stored vectors of several memories: (id, model, shape (parts, dimensions)), sorted by id and model.

        `contents` maps ids to content hashes; vectors of other content are left out.
        """
        rows = self._database.rows(
            "SELECT m.id, v.model, v.vector FROM json_each(?) wanted JOIN memories m ON m.id = wanted.key "
            "JOIN vectors v ON v.row = m.row WHERE v.content_hash = wanted.value ORDER BY m.id, v.model, v.part",
            (json.dumps(dict(contents)),),
        )
        return [
            (memory_id, model, np.stack([np.frombuffer(row[2], np.float16) for row in group]))
            for (memory_id, model), group in groupby(rows, key=lambda row: (row[0], row[1]))
        ]

    def centres(self, model: str, filters: MemoryFilters) -> tuple[list[str], Vectors]:
        """The mean direction of each memory's parts: ids, and vectors of shape (n, dimensions)."""
        where, values = condition(filters)
        rows = self._database.rows(
            f"SELECT m.id, v.vector FROM {FROM} JOIN vectors v ON v.row = m.row "
            f"WHERE v.model = ? AND v.content_hash = m.content_hash AND {where} ORDER BY m.row",
            (model, *values),
        )
        if not rows:
            return [], np.empty((0, 0), np.float32)
        ids = list(dict.fromkeys(row[0] for row in rows))
        places = {memory_id: number for number, memory_id in enumerate(ids)}
        vectors = stack_vectors([row[1] for row in rows])
        sums = np.zeros((len(ids), vectors.shape[1]), np.float32)
        np.add.at(sums, [places[row[0]] for row in rows], vectors)
        return ids, sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)

    def nearest(
        self, query: NDArray[np.float32], model: str, filters: MemoryFilters, count: int
    ) -> list[tuple[str, float]]:
        """The ids of the `count` memories closest to a unit vector, each with the cosine of its closest part, best first."""
        only = self._find_admitted(model, filters) if filters.restricts else None
        wanted = count if only is not None or not filters.restricts else count * _SPARE_RATIO
        index = self._index.of_model(model)
        index.refresh()
        while True:
            neighbours = index.search(query, wanted, only)
            best = self._memories_of({item.id: item.similarity for item in neighbours}, filters)
            is_short = len(neighbours) < wanted
            # Several parts of one memory, deleted and outdated vectors use up results: widen the search if possible.
            if len(best) >= count or (only is not None and is_short) or wanted > max(_MAX_WANTED, 50 * count):
                break
            if only is None and (is_short or wanted > _MAX_WANTED_RATIO * count):
                # A snapshot does not return deleted vectors, so a short result does not mean that there are no more.
                # If few enough vectors exist, compare all of them.
                only = self._find_admitted(model, filters)
            wanted *= 4
        return sorted(best.items(), key=lambda item: (-item[1], item[0]))[:count]

    def cosines(self, query: NDArray[np.float32], model: str, ids: Collection[str]) -> dict[str, float]:
        """The cosine of each memory's closest part with a unit vector, by id; memories without vectors are left out."""
        rows = self._database.rows(
            "SELECT m.id, v.vector FROM memories m JOIN vectors v ON v.row = m.row "
            "WHERE m.id IN (SELECT value FROM json_each(?)) AND v.model = ? AND v.content_hash = m.content_hash",
            (as_json(ids), model),
        )
        best: dict[str, float] = {}
        for (memory_id, _), cosine in zip(
            rows, stack_vectors([row[1] for row in rows]) @ query if rows else (), strict=True
        ):
            best[memory_id] = max(float(cosine), best.get(memory_id, -1.0))
        return best

    def maintain(self) -> None:
        """Make searching fast in the background, if it pays."""
        self._index.build_if_long()

    def let_go(self) -> None:
        """Drop what was read into memory; the next search reads it again."""
        self._index.let_go()

    def drop_snapshots(self) -> None:
        """Delete the snapshots, which hold the vectors of erased memories; they are made anew from the rows."""
        self._index.let_go()
        for file in self._folder.glob("memory-vectors*") if self._folder else ():
            with contextlib.suppress(OSError):
                file.unlink()

    def close(self) -> None:
        """Stop background work."""
        self._index.close()

    def optimise(self, model: str) -> None:
        """Make searching fast now."""
        index = self._index.of_model(model)
        index.refresh()
        index.build_snapshot()

    def _find_admitted(self, model: str, filters: MemoryFilters) -> list[int] | None:
        """The ids of the vectors that the filters admit; None if they are too many to compare all."""
        where, values = condition(filters)
        found = self._database.column(
            f"SELECT v.id FROM {FROM} JOIN vectors v ON v.row = m.row WHERE v.model = ? AND {where} LIMIT ?",
            (model, *values, _MAX_WANTED + 1),
        )
        return found if len(found) <= _MAX_WANTED else None

    def _memories_of(self, similarities: dict[int, float], filters: MemoryFilters) -> dict[str, float]:
        where, values = condition(filters)
        rows = self._database.rows(
            f"SELECT v.id, m.id FROM {FROM} JOIN vectors v ON v.row = m.row "
            f"WHERE v.id IN (SELECT value FROM json_each(?)) AND v.content_hash = m.content_hash AND {where}",
            (as_json(similarities), *values),
        )
        best: dict[str, float] = {}
        for number, memory_id in rows:
            best[memory_id] = max(similarities[number], best.get(memory_id, -1.0))
        return best
