"""Vectors on a Qdrant server: a collection for each model, in which the payload tells projects apart."""

from __future__ import annotations

import hashlib
import threading
import uuid
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_ls.errors import NotFound, StoreUnavailable
from rag_ls.storage.api import Vector
from rag_ls.storage.qdrant.server import QdrantServer
from rag_ls.storage.records import Neighbour, StoredProject, Vectors
from rag_ls.storage.served import MAX_SENT, WriteRights, check_usable, find_nearest_among, is_usable, measure

if TYPE_CHECKING:
    from qdrant_client import QdrantClient
    from qdrant_client import models as qdrant

STORE = "vectors"
# The server answers after it has written a batch, so it never gets more than it can take.
_MAX_TEXTS = 500
PREFIX = "rag_ls_"
_MIN_EF = 400
# Distances of quantised vectors are rough: this many times the wanted vectors are measured exactly.
_OVERSAMPLING_RATIO = 3.0
_MAX_COUNTED = 100_000


class QdrantVectors:
    """See `ServerVectors`. A point's id is made from its project and text hash; distances are cosines."""

    def __init__(self, url: str, project: str, *, quantization: str = "none", on_disk: bool = False) -> None:
        """Connects when it is first asked. `project` is its name for all who share it; empty for vectors of all projects.

        `quantization` and `on_disk` are for collections that are made here. Raises `StoreUnavailable` for a URL that is none.
        """
        self._server = QdrantServer(url, STORE, hashlib.sha256(project.encode()).hexdigest()[:16])
        self.place = self._server.place
        self._project = project
        self._quantization = quantization
        self._on_disk = on_disk
        self._lock = threading.Lock()
        self._sizes: dict[str, int] = {}
        self._rights = WriteRights()

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        found: dict[bytes, Vector] = {}
        for name, size, part in self._parts(model, text_hashes):
            with self._server.client() as client:
                points = client.retrieve(name, list(part), with_payload=False, with_vectors=True)
            for point in points:
                vector = np.asarray(point.vector, np.float32)
                # Other users may write to the collection, so check every value.
                if is_usable(vector, size):
                    found[part[str(point.id)]] = vector
        return found

    def similarities(self, model: str, query: Vector, text_hashes: Collection[bytes]) -> dict[bytes, float]:
        return measure(self.get(model, text_hashes), query)

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        missing = set(text_hashes)
        for name, _, part in self._parts(model, text_hashes):
            with self._server.client() as client:
                points = client.retrieve(name, list(part), with_payload=False, with_vectors=False)
            missing.difference_update(part[str(point.id)] for point in points)
        return missing

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        if not len(text_hashes):
            return
        check_usable(vectors)
        self._rights.use(lambda: self._write(model, text_hashes, vectors))

    def nearest(self, model: str, query: Vector, count: int, among: Collection[bytes] | None = None) -> list[Neighbour]:
        """See `VectorStore`. Filters by project and text run in the server."""
        if self._size_of(model) != len(query):
            return []
        name = _name_of(model)
        if among is None:
            return self._nearest(name, query, count, None)
        if len(among) <= MAX_SENT:
            return self._nearest(name, query, count, [self._id_of(text_hash) for text_hash in among]) if among else []
        return find_nearest_among(lambda wanted: self._nearest(name, query, wanted, None), count, among)

    def maintain(self) -> None:
        """Nothing: the server optimises by itself."""

    def close(self) -> None:
        self._server.close()

    def _nearest(self, name: str, query: Vector, count: int, ids: Sequence[str] | None) -> list[Neighbour]:
        from qdrant_client import models as qdrant

        only = [qdrant.HasIdCondition(has_id=list(ids))] if ids is not None else []
        with self._server.client() as client:
            found = client.query_points(
                name, query=query.tolist(), limit=count, with_payload=["chunk_hash"],
                query_filter=self._mine(*only),
                search_params=None if self._server.is_local else _thorough(count, is_exact=ids is not None),
            ).points  # fmt: skip
        hashes = [(self._hash_of(point), point.score) for point in found]
        near = [Neighbour(text_hash, float(score)) for text_hash, score in hashes if text_hash is not None]
        return sorted(near, key=lambda each: (-each.similarity, each.text_hash))

    def _write(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        self._prepare(model, int(vectors.shape[1]))
        missing = self.missing(model, text_hashes)
        new = dict(item for item in zip(text_hashes, vectors, strict=True) if item[0] in missing)
        items = list(new.items())
        for start in range(0, len(items), _MAX_TEXTS):
            with self._server.client() as client:
                self._upsert(client, model, items[start : start + _MAX_TEXTS])

    def _upsert(self, client: QdrantClient, model: str, items: Sequence[tuple[bytes, Vector]]) -> None:
        from qdrant_client import models as qdrant

        points = [
            qdrant.PointStruct(
                id=self._id_of(text_hash),
                vector=vector.tolist(),
                payload={"project_id": self._project, "chunk_hash": text_hash.hex(), "model": model},
            )
            for text_hash, vector in items
        ]
        client.upsert(_name_of(model), points, wait=True)

    def _mine(self, *conditions: qdrant.Condition) -> qdrant.Filter:
        from qdrant_client import models as qdrant

        project = qdrant.FieldCondition(key="project_id", match=qdrant.MatchValue(value=self._project))
        return qdrant.Filter(must=[project, *conditions])

    def _hash_of(self, point: qdrant.ScoredPoint | qdrant.Record) -> bytes | None:
        """The text that a point is of; None for a point that nobody of us made."""
        try:
            text_hash = bytes.fromhex(str((point.payload or {}).get("chunk_hash", "")))
        except ValueError:
            return None
        return text_hash if self._id_of(text_hash) == str(point.id) else None

    def _id_of(self, text_hash: bytes) -> str:
        return str(uuid.UUID(bytes=hashlib.sha256(self._project.encode() + b"\0" + text_hash).digest()[:16]))

    def _parts(self, model: str, text_hashes: Collection[bytes]) -> list[tuple[str, int, dict[str, bytes]]]:
        """The collection, the size of its vectors, and parts of the texts by the ids of their points."""
        if not text_hashes or not (size := self._size_of(model)):
            return []
        wanted = [(self._id_of(text_hash), text_hash) for text_hash in text_hashes]
        parts = [dict(wanted[start : start + _MAX_TEXTS]) for start in range(0, len(wanted), _MAX_TEXTS)]
        return [(_name_of(model), size, part) for part in parts]

    def _size_of(self, model: str) -> int:
        """The dimensions of a model's vectors; 0 while there is no collection."""
        with self._lock:
            if model in self._sizes:
                return self._sizes[model]
        with self._server.client() as client:
            if not client.collection_exists(_name_of(model)):
                return 0
            parameters: Any = client.get_collection(_name_of(model)).config.params.vectors
        with self._lock:
            self._sizes[model] = int(parameters.size)
        return int(parameters.size)

    def _prepare(self, model: str, dimensions: int) -> None:
        """Make a model's collection, if there is none yet. Raises `StoreUnavailable` for other dimensions."""
        if not self._size_of(model):
            with self._server.client() as client:
                self._make(client, _name_of(model), dimensions)
        if (size := self._size_of(model)) != dimensions:
            raise StoreUnavailable(
                f"{self.place} holds vectors of {size} numbers for {model}, this machine makes {dimensions}: nothing is "
                "stored there",
                STORE,
            )

    def _make(self, client: QdrantClient, name: str, dimensions: int) -> None:
        from qdrant_client import models as qdrant

        try:
            client.create_collection(
                name,
                vectors_config=qdrant.VectorParams(
                    size=dimensions, distance=qdrant.Distance.COSINE, on_disk=self._on_disk or None
                ),
                quantization_config=_make_quantization(self._quantization),
            )
        except Exception:
            # Another client created it a moment ago.
            if not client.collection_exists(name):
                raise
        if not self._server.is_local:
            tenant = qdrant.KeywordIndexParams(type=qdrant.KeywordIndexType.KEYWORD, is_tenant=True)
            client.create_payload_index(name, "project_id", tenant, wait=True)
            client.create_payload_index(name, "chunk_hash", qdrant.PayloadSchemaType.KEYWORD, wait=True)


def _name_of(model: str) -> str:
    return f"{PREFIX}{hashlib.sha256(model.encode()).hexdigest()[:16]}"


def _thorough(count: int, *, is_exact: bool) -> qdrant.SearchParams:
    from qdrant_client import models as qdrant

    measured = qdrant.QuantizationSearchParams(rescore=True, oversampling=_OVERSAMPLING_RATIO)
    return qdrant.SearchParams(hnsw_ef=max(_MIN_EF, 2 * count), exact=is_exact, quantization=measured)


def _make_quantization(kind: str) -> qdrant.QuantizationConfig | None:
    from qdrant_client import models as qdrant

    if kind == "scalar":
        return qdrant.ScalarQuantization(
            scalar=qdrant.ScalarQuantizationConfig(type=qdrant.ScalarType.INT8, quantile=0.99, always_ram=True)
        )
    if kind == "binary":
        return qdrant.BinaryQuantization(binary=qdrant.BinaryQuantizationConfig(always_ram=True))
    return None


class QdrantProjects:
    """See `StoredProjects`. Qdrant does not tell how much a project takes."""

    def __init__(self, url: str) -> None:
        """Connects when it is first asked. Raises `StoreUnavailable` for a URL that is none."""
        whole = QdrantServer(url, STORE)
        # The local mode has a folder for each project.
        folders = sorted(each for each in Path(whole.place.removeprefix("qdrant://")).glob("*") if each.is_dir())
        self._servers = [QdrantServer(url, STORE, each.name) for each in folders] if whole.is_local else [whole]
        self.place = whole.place

    def all(self) -> list[StoredProject]:
        counts: Counter[str] = Counter()
        for server in self._servers:
            with server.client() as client:
                for name in _collections(client):
                    hits = client.facet(name, "project_id", limit=_MAX_COUNTED, exact=True).hits
                    counts.update({str(hit.value): hit.count for hit in hits if hit.value})
        return [StoredProject(name, 0, count) for name, count in sorted(counts.items())]

    def drop(self, project: str) -> None:
        if project not in (each.name for each in self.all()):
            raise NotFound(f"{self.place} has no project {project!r}; `rag-ls store projects` lists them")
        for server in self._servers:
            with server.client() as client:
                for name in _collections(client):
                    client.delete(name, _of(project), wait=True)

    def close(self) -> None:
        for server in self._servers:
            server.close()


def _collections(client: QdrantClient) -> list[str]:
    return [each.name for each in client.get_collections().collections if each.name.startswith(PREFIX)]


def _of(project: str) -> qdrant.FilterSelector:
    from qdrant_client import models as qdrant

    condition = qdrant.FieldCondition(key="project_id", match=qdrant.MatchValue(value=project))
    return qdrant.FilterSelector(filter=qdrant.Filter(must=[condition]))
