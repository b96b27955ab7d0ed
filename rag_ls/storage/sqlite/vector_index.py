"""Finds nearest neighbours among the vectors of `index.db` or `memories.db`: exactly while they are few, else by a usearch snapshot.

The database rows are authoritative. A snapshot covers the vectors up to some id and is only read. Later vectors (the
tail) are searched exactly, so each search sees the commits of all processes, and usearch need not be updated while it
is searched.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
import uuid
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_ls.config import file_seal, is_equal
from rag_ls.storage.records import Hnsw, Vectors
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.statements import as_json, batches
from rag_ls.util.decoding import read_json
from rag_ls.util.files import is_plain, read_regular, replace_file, whole_file
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.processes import import_onnxruntime
from rag_ls.util.records import asdict, dataclass, replace

# An exact search of up to this many vectors takes about a millisecond, so a snapshot does not pay.
EXACT_LIMIT = 10_000
# Vectors that no snapshot covers are kept in memory, up to this many times the exact limit. Each search reads the others, until
# a snapshot covers them.
_MAX_LOADED_RATIO = 2
# Steps are small, so that closing can interrupt them: a process must not end while usearch works in it.
_MAX_ADDED = 512
# Questions lie far from the texts that answer them, so a short walk through the graph misses some of these. A walk finds this
# many vectors for each wanted one, and at least `_MIN_WALKED`. Their distances are rounded, so the first of them are measured
# exactly.
_WALKED_PER_HIT = 4
_MIN_WALKED = 320
_MEASURED_PER_HIT = 2
_MAX_READ = 8192
_MAX_ROWS_READ = 4096
_SNAPSHOT = lazy_pattern(r"[a-z-]+-[0-9a-f]{12}-\d+\.usearch")


@dataclass(frozen=True, slots=True)
class NearId:
    """A vector's id and its cosine similarity to the query."""

    id: int
    similarity: float


@dataclass(frozen=True, slots=True)
class _SnapshotInfo:
    file: str
    model: str
    index_id: str
    last_id: int
    count: int
    dimensions: int
    seal: str


class VectorRows:
    """The vectors of a table. A vector never changes, and a new one gets a greater id than all before it.

    Where ids are given, `+model` keeps SQLite from reading all of the model's rows by an index that begins with the model.
    """

    def __init__(self, database: Database, table: str = "embeddings") -> None:
        self._database = database
        self._table = table

    def index_id(self) -> str:
        """An id that distinguishes these rows from former ones in the same place."""
        return self._database.text("SELECT value FROM meta WHERE key = 'index_id'")

    def last_id(self) -> int:
        """The greatest id ever given; 0 where there was no vector. Cheap, because each search looks for new vectors."""
        query = "SELECT seq FROM sqlite_sequence WHERE name = ?"
        return self._database.count(query, (self._table,))

    def newer_than(self, model: str, after: int) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
        """Ids above `after` in ascending order, with their vectors, in batches."""
        query = f"SELECT id, vector FROM {self._table} WHERE +model = ? AND id > ? ORDER BY id LIMIT ?"
        while True:
            rows = self._database.rows(query, (model, after, _MAX_ROWS_READ))
            if not rows:
                return
            ids = np.array([row[0] for row in rows], dtype=np.int64)
            yield ids, stack_vectors([row[1] for row in rows])
            after = int(ids[-1])

    def vectors(self, model: str, ids: Collection[int]) -> dict[int, NDArray[np.float32]]:
        """The vectors of `model` among these ids."""
        query = f"SELECT id, vector FROM {self._table} WHERE +model = ? AND id IN (SELECT value FROM json_each(?))"
        rows = self._database.rows(query, (model, as_json(ids)))
        return dict(zip((row[0] for row in rows), stack_vectors([row[1] for row in rows]), strict=True))


class VectorIndex:
    """Searches the vectors of one model. `folder` is the folder of its snapshots; None keeps everything in memory."""

    def __init__(
        self,
        rows: VectorRows,
        model: str,
        folder: Path | None,
        *,
        exact_limit: int = EXACT_LIMIT,
        hnsw: Hnsw = Hnsw(),  # noqa: B008 - frozen
        name: str = "vectors",
    ) -> None:
        """`name` is the prefix of the snapshot's files."""
        self.model = model
        self._hnsw = hnsw
        self._name = name
        self._rows = rows
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
        # Whether vectors above `_seen_id` stay in the database because they would take too much memory.
        self._has_more = False
        self._load_snapshot()

    @property
    def tail_is_long(self) -> bool:
        """Whether a new snapshot would pay, as far as vectors were loaded (`refresh`)."""
        return self._has_more or self._tail_count > self._exact_limit

    def refresh(self) -> None:
        """Load the vectors that any process committed since the last call."""
        if self._rows.last_id() == self._seen_id:
            return
        with self._lock:
            seen = self._rows.last_id()
            self._has_more = False
            for ids, vectors in self._rows.newer_than(self.model, self._seen_id):
                room = _MAX_LOADED_RATIO * self._exact_limit - self._tail_count
                if self._folder is None:
                    # No snapshot will hold the rest.
                    room = len(ids)
                self._append(ids[:room], vectors[:room])
                if len(ids) > room:
                    self._has_more = True
                    break
            last_loaded = int(self._tail_ids[self._tail_count - 1]) if self._tail_count else 0
            self._seen_id = max(self._seen_id if self._has_more else seen, last_loaded)

    def search(self, query: NDArray[np.float32], k: int, only: Collection[int] | None = None) -> list[NearId]:
        """The `k` nearest embeddings to `query`, a unit vector of shape (dimensions,), best first.

        `only` restricts the search to these embedding ids.
        """
        if only is not None:
            return self._search_only(query, k, only)
        with self._lock:
            snapshot, ids, vectors = self._snapshot, self._tail_ids[: self._tail_count], self._tail[: self._tail_count]
            rest_after = self._seen_id if self._has_more else None
        found = _exact(query, ids, vectors, k)
        for more, their_vectors in self._rows.newer_than(self.model, rest_after) if rest_after is not None else ():
            found += _exact(query, more, their_vectors, k)
        if snapshot is not None:
            matches = snapshot.search(query, max(_WALKED_PER_HIT * k, _MIN_WALKED))
            candidates = matches.keys[: max(_MEASURED_PER_HIT * k, _MIN_WALKED)].tolist()
            found += self._search_only(query, len(candidates), candidates)
        found.sort(key=lambda neighbour: (-neighbour.similarity, neighbour.id))
        return found[:k]

    def similarities(self, query: NDArray[np.float32], ids: Sequence[int]) -> dict[int, float]:
        """The cosine similarity of `query`, a unit vector, to each of these embeddings, by id."""
        with self._lock:
            tail_ids, tail = self._tail_ids[: self._tail_count], self._tail[: self._tail_count]
        wanted = np.array(ids, np.int64)
        at = np.searchsorted(tail_ids, wanted)
        loaded = at < len(tail_ids)
        loaded[loaded] = tail_ids[at[loaded]] == wanted[loaded]
        similar = (
            dict(zip(wanted[loaded].tolist(), (tail[at[loaded]] @ query).tolist(), strict=True)) if len(tail) else {}
        )
        if others := wanted[~loaded].tolist():
            similar |= {near.id: near.similarity for near in self._search_only(query, len(others), others)}
        return similar

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
        """Stop building snapshots, and wait for one in progress to stop (about half a second)."""
        self._closed.set()
        with self._building:
            pass

    def _search_only(self, query: NDArray[np.float32], k: int, only: Collection[int]) -> list[NearId]:
        best: list[NearId] = []
        for part in batches(sorted(only), _MAX_READ):
            vectors = self._rows.vectors(self.model, part)
            if vectors:
                ids = np.fromiter(vectors, np.int64, len(vectors))
                best += _exact(query, ids, np.stack(list(vectors.values())), k)
        best.sort(key=lambda neighbour: (-neighbour.similarity, neighbour.id))
        return best[:k]

    def _append(self, ids: NDArray[np.int64], vectors: Vectors) -> None:
        needed = self._tail_count + len(ids)
        if needed > len(self._tail_ids):
            # Grow into new arrays, because running searches hold slices of the old ones.
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
            self._seen_id, self._has_more = max(self._seen_id, info.last_id), False
            newer = self._tail_ids[: self._tail_count] > info.last_id
            self._tail = self._tail[: self._tail_count][newer]
            self._tail_ids = self._tail_ids[: self._tail_count][newer]
            self._tail_count = len(self._tail_ids)

    def _read_info(self) -> _SnapshotInfo | None:
        """The newest snapshot's description, or None if there is no trustworthy snapshot."""
        if self._folder is None:
            return None
        try:
            info = _SnapshotInfo(**read_json(read_regular(self._info_file(self._folder), follow=False)))
            # A snapshot from before index.db was rebuilt has other rows.
            if (info.model, info.index_id) != (self.model, self._rows.index_id()):
                return None
            # The description is not checked yet: it may name any file.
            if not _SNAPSHOT.fullmatch(info.file) or not is_plain(self._folder / info.file):
                return None
            seal = file_seal(self._folder / info.file, repr(replace(info, seal="")))
            return info if is_equal(str(info.seal), seal) else None
        except (OSError, ValueError, TypeError):
            return None

    def _write_snapshot(self, folder: Path) -> None:
        former = self._read_info()
        index, last_id = self._former_graph(folder, former)
        for ids, vectors in self._rows.newer_than(self.model, last_id):
            if index is None:
                index = _index_class()(
                    ndim=vectors.shape[1],
                    metric="cos",
                    dtype="i8",
                    connectivity=self._hnsw.m,
                    expansion_add=self._hnsw.ef_construction,
                )
            for start in range(0, len(ids), _MAX_ADDED):
                if self._closed.is_set():
                    return
                end = start + _MAX_ADDED
                index.add(ids[start:end], vectors[start:end], threads=1)
            last_id = int(ids[-1])
        if index is None:
            return
        name = f"{self._name}-{_digest(self.model)}-{last_id}.usearch"
        temporary = folder / f"{name}.{uuid.uuid4().hex}.tmp"
        index.save(str(temporary))
        info = _SnapshotInfo(
            file=name,
            model=self.model,
            index_id=self._rows.index_id(),
            last_id=last_id,
            count=len(index),
            dimensions=index.ndim,
            seal="",
        )
        info = replace(info, seal=file_seal(temporary, repr(info)))
        temporary.chmod(0o600)
        replace_file(temporary, folder / name)
        with whole_file(self._info_file(folder)) as file:
            json.dump(asdict(info), file)
        if former and former.file != name:
            # Another process may still map the file: on POSIX its mapping stays valid, on Windows deleting fails.
            try:
                (folder / former.file).unlink(missing_ok=True)
            except OSError:
                return

    def _former_graph(self, folder: Path, former: _SnapshotInfo | None) -> tuple[Any, int]:
        """The last snapshot's graph, for adding to it, and the last id that it covers; (None, 0) if there is none."""
        if former is None:
            return None, 0
        index = _index_class().restore(str(folder / former.file), view=False)
        if index is None or len(index) != former.count:
            return None, 0
        index.expansion_add = self._hnsw.ef_construction
        return index, former.last_id

    def _info_file(self, folder: Path) -> Path:
        return folder / f"{self._name}-{_digest(self.model)}.json"


def _index_class() -> Any:
    # Load onnxruntime first: loaded after usearch, it crashes the process.
    with contextlib.suppress(ImportError):
        import_onnxruntime()
    from usearch.index import Index

    return Index


def stack_vectors(blobs: Sequence[bytes]) -> Vectors:
    """Stored vectors, converted at once: shape (len(blobs), dimensions), or (0, 0) for none."""
    if not blobs:
        return np.empty((0, 0), np.float32)
    return np.frombuffer(b"".join(blobs), np.float16).reshape(len(blobs), -1).astype(np.float32)


def _exact(query: NDArray[np.float32], ids: NDArray[np.int64], vectors: Vectors, k: int) -> list[NearId]:
    if not len(ids):
        return []
    similarities = vectors @ query
    count = min(k, len(ids))
    best = np.argpartition(-similarities, count - 1)[:count]
    return [NearId(int(ids[i]), float(similarities[i])) for i in best]


def _digest(model: str) -> str:
    return hashlib.sha256(model.encode()).hexdigest()[:12]
