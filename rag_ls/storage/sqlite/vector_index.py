"""Nearest neighbours over the vectors of a database: exact while small, a usearch snapshot beyond.

The rows are the truth. A snapshot covers the vectors up to some id and is only ever read; whatever came
after it (the tail) is searched exactly, so a commit of any process is seen at the next search, and
usearch never has to be updated while it is searched.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rag_ls.storage.records import Vectors
from rag_ls.util.whole_files import whole_file

# Up to here an exact search takes about a millisecond, and no snapshot is worth its upkeep.
EXACT_LIMIT = 10_000
# A process must not end while usearch works in it, and not wait long for that.
_ADDED_AT_ONCE = 512
# So many candidates of a snapshot, whose vectors are rounded, are measured exactly for each hit that is asked for, and
# so many at least: questions lie apart from the texts that answer them, and a short walk through the graph misses some.
_REMEASURED = 4
_LEAST_MEASURED = 320


class VectorSource(Protocol):
    """The rows that an index is made of. A vector never changes; its id is greater than all that were given before."""

    def index_id(self) -> str:
        """What tells these rows from former ones in the same place."""
        ...

    def last_id(self) -> int:
        """The greatest id; 0 where there is no vector."""
        ...

    def newer_than(self, model: str, after: int) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
        """Ids above `after` in ascending order, with their vectors, in batches."""
        ...

    def vectors(self, model: str, ids: Collection[int]) -> dict[int, NDArray[np.float32]]:
        """Those of the vectors with these ids that `model` made."""
        ...


@dataclass(frozen=True, slots=True)
class Hnsw:
    """How a snapshot's graph is built and searched (Malkov and Yashunin, 2016)."""

    m: int = 32
    ef_construction: int = 200
    ef_search: int = 50


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An embedding id and its cosine similarity to the query."""

    embedding_id: int
    similarity: float


@dataclass(frozen=True, slots=True)
class _SnapshotInfo:
    file: str
    model: str
    index_id: str
    last_id: int
    count: int
    dimensions: int
    checksum: str


class VectorIndex:
    """Searches the vectors of one model. `folder` is where its snapshots go; None keeps all in memory."""

    def __init__(
        self,
        embeddings: VectorSource,
        model: str,
        folder: Path | None,
        *,
        exact_limit: int = EXACT_LIMIT,
        hnsw: Hnsw = Hnsw(),
        name: str = "vectors",
    ) -> None:
        """`name` is what the snapshot's files begin with."""
        self.model = model
        self._hnsw = hnsw
        self._name = name
        self._embeddings = embeddings
        self._folder = folder
        self._exact_limit = exact_limit
        self._lock = threading.Lock()
        self._building = threading.Lock()
        self._closed = threading.Event()
        self._snapshot: Any = None
        self._tail_ids: NDArray[np.int64] = np.empty(0, np.int64)
        self._tail: Vectors = np.empty((0, 0), np.float32)
        self._tail_count = 0
        self._seen_id = 0
        self._load_snapshot()

    @property
    def tail_is_long(self) -> bool:
        """Whether a new snapshot would pay."""
        return self._tail_count > self._exact_limit

    def refresh(self) -> None:
        """Take in what any process committed since the last call."""
        if self._embeddings.last_id() == self._seen_id:
            return
        with self._lock:
            seen = self._embeddings.last_id()
            for ids, vectors in self._embeddings.newer_than(self.model, self._seen_id):
                self._append(ids, vectors)
            self._seen_id = max(seen, int(self._tail_ids[self._tail_count - 1]) if self._tail_count else 0)

    def search(self, query: NDArray[np.float32], k: int, only: Collection[int] | None = None) -> list[Neighbour]:
        """The `k` nearest embeddings to `query`, a unit vector of shape (dimensions,), best first.

        `only` restricts the search to these embedding ids.
        """
        if only is not None:
            return self._search_only(query, k, only)
        with self._lock:
            snapshot, ids, vectors = self._snapshot, self._tail_ids[: self._tail_count], self._tail[: self._tail_count]
        found = _exact(query, ids, vectors, k)
        if snapshot is not None:
            matches = snapshot.search(query, max(_REMEASURED * k, _LEAST_MEASURED))
            found += self._measured(query, [int(key) for key in matches.keys])
        found.sort(key=lambda neighbour: (-neighbour.similarity, neighbour.embedding_id))
        return found[:k]

    def _measured(self, query: NDArray[np.float32], ids: list[int]) -> list[Neighbour]:
        vectors = self._embeddings.vectors(self.model, ids)
        return [Neighbour(number, float(vector @ query)) for number, vector in vectors.items()]

    def build_snapshot(self) -> None:
        """Write a snapshot of all vectors, so that the tail is short again. One thread at a time builds."""
        if self._folder is None or not self._building.acquire(blocking=False):
            return
        try:
            self._write_snapshot(self._folder)
            self._load_snapshot()
        finally:
            self._building.release()

    def close(self) -> None:
        """Give up building a snapshot; one that is being built is waited for, for half a second."""
        self._closed.set()
        with self._building:
            pass

    def _search_only(self, query: NDArray[np.float32], k: int, only: Collection[int]) -> list[Neighbour]:
        best: list[Neighbour] = []
        for part in _batches(sorted(only), 8192):
            vectors = self._embeddings.vectors(self.model, part)
            if vectors:
                ids = np.fromiter(vectors, np.int64, len(vectors))
                best += _exact(query, ids, np.stack(list(vectors.values())), k)
        best.sort(key=lambda neighbour: (-neighbour.similarity, neighbour.embedding_id))
        return best[:k]

    def _append(self, ids: NDArray[np.int64], vectors: Vectors) -> None:
        needed = self._tail_count + len(ids)
        if needed > len(self._tail_ids):
            # Searches hold slices of the old arrays, so growth makes new ones.
            room = max(needed, 2 * len(self._tail_ids), 256)
            grown, grown_ids = np.empty((room, vectors.shape[1]), np.float32), np.empty(room, np.int64)
            if self._tail_count:
                grown[: self._tail_count] = self._tail[: self._tail_count]
            grown_ids[: self._tail_count] = self._tail_ids[: self._tail_count]
            self._tail, self._tail_ids = grown, grown_ids
        self._tail[self._tail_count : needed] = vectors
        self._tail_ids[self._tail_count : needed] = ids
        self._tail_count = needed

    def _load_snapshot(self) -> None:
        info = self._read_info()
        if info is None or self._folder is None:
            return
        snapshot = _index_class().restore(str(self._folder / info.file), view=True)
        if snapshot is None or len(snapshot) != info.count:
            return
        snapshot.expansion_search = self._hnsw.ef_search
        with self._lock:
            self._snapshot = snapshot
            self._seen_id = max(self._seen_id, info.last_id)
            newer = self._tail_ids[: self._tail_count] > info.last_id
            self._tail = self._tail[: self._tail_count][newer]
            self._tail_ids = self._tail_ids[: self._tail_count][newer]
            self._tail_count = len(self._tail_ids)

    def _read_info(self) -> _SnapshotInfo | None:
        """The newest snapshot's description, or None where there is none that can be trusted."""
        if self._folder is None:
            return None
        try:
            info = _SnapshotInfo(**json.loads(self._info_file(self._folder).read_text(encoding="utf-8")))
            # A snapshot from before index.db was rebuilt speaks of other rows.
            if (info.model, info.index_id) != (self.model, self._embeddings.index_id()):
                return None
            return info if _checksum(self._folder / info.file) == info.checksum else None
        except (OSError, ValueError, TypeError):
            return None

    def _write_snapshot(self, folder: Path) -> None:
        index: Any = None
        last_id = 0
        for ids, vectors in self._embeddings.newer_than(self.model, 0):
            if index is None:
                index = _index_class()(
                    ndim=vectors.shape[1],
                    metric="cos",
                    dtype="i8",
                    connectivity=self._hnsw.m,
                    expansion_add=self._hnsw.ef_construction,
                )
            for start in range(0, len(ids), _ADDED_AT_ONCE):
                if self._closed.is_set():
                    return
                end = start + _ADDED_AT_ONCE
                index.add(ids[start:end], vectors[start:end], threads=1)
            last_id = int(ids[-1])
        if index is None:
            return
        former = self._read_info()
        name = f"{self._name}-{_digest(self.model)}-{last_id}.usearch"
        temporary = folder / f"{name}.{os.getpid()}.tmp"
        index.save(str(temporary))
        info = _SnapshotInfo(
            name, self.model, self._embeddings.index_id(), last_id, len(index), index.ndim, _checksum(temporary)
        )
        temporary.chmod(0o600)
        os.replace(temporary, folder / name)
        with whole_file(self._info_file(folder)) as file:
            json.dump(asdict(info), file)
        if former and former.file != name:
            # Another process may still view it: on POSIX its view stays good, on Windows it stays undeleted.
            try:
                (folder / former.file).unlink(missing_ok=True)
            except OSError:
                return

    def _info_file(self, folder: Path) -> Path:
        return folder / f"{self._name}-{_digest(self.model)}.json"


def _index_class() -> Any:
    # Loaded after usearch, onnxruntime crashes the process; loaded before it, both work.
    with contextlib.suppress(ImportError):
        import onnxruntime  # noqa: F401
    from usearch.index import Index

    return Index


def _exact(query: NDArray[np.float32], ids: NDArray[np.int64], vectors: Vectors, k: int) -> list[Neighbour]:
    if not len(ids):
        return []
    similarities = vectors @ query
    count = min(k, len(ids))
    best = np.argpartition(-similarities, count - 1)[:count]
    return [Neighbour(int(ids[i]), float(similarities[i])) for i in best]


def _batches(values: list[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _checksum(file: Path) -> str:
    # usearch loads a file with flipped bytes without complaint.
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _digest(model: str) -> str:
    return hashlib.sha256(model.encode()).hexdigest()[:12]
