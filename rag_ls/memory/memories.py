"""Remembering and recalling, over the stores of all scopes."""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding import Embedder
from rag_ls.errors import InvalidRequest, MemoriesUnavailable, NotFound, RagLsError
from rag_ls.model import Anchor, Hit, Memory, MemoryMetadata, MemoryType, Scope
from rag_ls.storage import MemoryStore, terms
from rag_ls.text import without_surrogates

# Ties go to the nearest scope.
SCOPES = (Scope.SESSION, Scope.PROJECT, Scope.GLOBAL)
MAX_CONTENT = 100_000
_CANDIDATES = 50
_DENSE_SHARE = 0.7
_EMBED_AT_ONCE = 64


_log = logging.getLogger(__name__)

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class NewMemory:
    """What a caller wants kept. `anchor` is the place in the code that it is about."""

    content: str
    scope: Scope
    metadata: MemoryMetadata = field(default_factory=MemoryMetadata)
    memory_type: MemoryType = MemoryType.SEMANTIC
    source_uri: str | None = None
    anchor: Anchor | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """What storing did: `status` is inserted, updated or duplicate."""

    status: str
    memory: Memory


@dataclass(frozen=True, slots=True)
class MemoryFilters:
    """What memories must be like; empty fields let everything through."""

    scopes: tuple[Scope, ...] = SCOPES
    tags: tuple[str, ...] = ()
    memory_type: MemoryType | None = None
    language: str = ""

    def admit(self, memory: Memory) -> bool:
        """Whether a memory passes; any one of the tags is enough."""
        meta = memory.metadata
        return (
            (not self.tags or bool(set(self.tags) & set(meta.tags)))
            and (self.memory_type is None or memory.memory_type == self.memory_type)
            and (not self.language or meta.language == self.language)
        )


ALL = MemoryFilters()


class Memories:
    """The memories that one project sees: the session's, its own, and the user's.

    `open_stores` opens a scope's store when it is first used, so that one that is damaged harms no other.
    """

    def __init__(self, open_stores: Mapping[Scope, Callable[[], MemoryStore]], now: Clock) -> None:
        self._open_stores = open_stores
        self._now = now

    def store(self, new: NewMemory, embedder: Embedder | None) -> Stored:
        """Keep a memory. The same content in the same scope again merges tags instead of making a twin.

        Raises `InvalidRequest` for empty or oversized content.
        """
        content = _checked_content(new.content)
        store = self._store(new.scope)
        stamp = self._now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
        memory = Memory(
            id=str(uuid.uuid4()), content=content, scope=new.scope, metadata=new.metadata, memory_type=new.memory_type,
            created_at=stamp, updated_at=stamp, version=1, content_hash=digest, source_uri=new.source_uri, anchor=new.anchor,
        )  # fmt: skip
        with store.transaction():
            if twin := store.with_content(digest):
                return self._merge(store, twin, new, stamp)
            store.insert(memory)
        store.backup()
        if embedder is not None:
            try:
                self._embed_missing(store, embedder)
            except RagLsError as error:
                # It is stored, and will be embedded when it is next looked for.
                _log.warning("%s", error)
        return Stored("inserted", memory)

    def get(self, memory_id: str) -> Memory:
        """One memory, by its id or the first eight or more characters of it. Raises `NotFound`."""
        memory_id = memory_id.strip()
        for store in self._usable(SCOPES):
            if memory := store.get(memory_id):
                return memory
            if len(memory_id) >= 8 and len(starting := store.ids_starting(memory_id)) == 1:
                return self.get(starting[0])
        hint = self.damage() or "list_memories shows the ids that exist"
        raise NotFound(f"no memory has the id {memory_id!r}; {hint}")

    def delete(self, memory_id: str) -> Memory:
        """Delete a memory and return it as it was. Raises `NotFound`."""
        memory = self.get(memory_id)
        self._store(memory.scope).delete(memory.id)
        return memory

    def matching(self, filters: MemoryFilters) -> list[Memory]:
        """All memories that pass the filters, the newest change first."""
        found = [memory for store in self._usable(filters.scopes) for memory in store.all() if filters.admit(memory)]
        return sorted(found, key=lambda memory: memory.updated_at, reverse=True)

    def anchored(self) -> list[Memory]:
        """All memories that are about a place in the code."""
        return [memory for store in self._usable(SCOPES) for memory in store.all(anchored_only=True)]

    def counts(self) -> dict[str, int]:
        """How many memories each scope holds; a scope whose file is damaged counts as none."""
        counts = {}
        for scope in SCOPES:
            try:
                counts[scope.value] = self._store(scope).count()
            except MemoriesUnavailable:
                counts[scope.value] = 0
        return counts

    def search(
        self, query: str, filters: MemoryFilters, embedder: Embedder | None, *, k: int, min_similarity: float
    ) -> list[Hit]:
        """The `k` memories that fit a query best, by words and (with an embedder) by meaning.

        A memory that shares no word with the query must be `min_similarity` (cosine) close to it.
        """
        vector = embedder.embed_query(query) if embedder is not None and query.strip() else None
        words = list(dict.fromkeys(terms(query)))
        return self._recall(words, vector, embedder, filters, k, min_similarity)

    def near(
        self, vector: NDArray[np.float32], model_id: str, filters: MemoryFilters, *, k: int, min_similarity: float
    ) -> list[Hit]:
        """The memories nearest to a vector that is there already; no model is called."""
        hits = []
        for store in self._usable(filters.scopes):
            ids, vectors = store.vectors(model_id)
            for memory_id, similarity in zip(ids, vectors @ vector if ids else (), strict=True):
                memory = store.get(memory_id) if similarity >= min_similarity else None
                if memory is not None and filters.admit(memory):
                    hits.append(Hit(memory, float(similarity), ("dense",)))
        return sorted(hits, key=lambda hit: -hit.score)[:k]

    def _recall(
        self,
        words: Sequence[str],
        vector: NDArray[np.float32] | None,
        embedder: Embedder | None,
        filters: MemoryFilters,
        k: int,
        min_similarity: float,
    ) -> list[Hit]:
        hits: list[Hit] = []
        for store in self._usable(filters.scopes):
            lexical = store.lexical(words, _CANDIDATES)
            dense: dict[str, float] = {}
            if vector is not None and embedder is not None:
                self._embed_missing(store, embedder)
                ids, vectors = store.vectors(embedder.model_id)
                dense = dict(zip(ids, (vectors @ vector).tolist() if ids else [], strict=True))
            hits += _scored(store, lexical, dense, filters, min_similarity)
        order = {scope: number for number, scope in enumerate(SCOPES)}
        hits.sort(key=lambda hit: (-round(hit.score, 6), order[_memory(hit).scope], _memory(hit).id))
        return hits[:k]

    def _merge(self, store: MemoryStore, twin: Memory, new: NewMemory, stamp: str) -> Stored:
        tags = tuple(dict.fromkeys((*twin.metadata.tags, *new.metadata.tags)))
        if tags == twin.metadata.tags and (new.anchor is None or new.anchor == twin.anchor):
            return Stored("duplicate", twin)
        updated = replace(
            twin,
            metadata=replace(twin.metadata, tags=tags),
            anchor=new.anchor or twin.anchor,
            updated_at=stamp,
            version=twin.version + 1,
        )
        store.replace(updated)
        return Stored("updated", updated)

    def _embed_missing(self, store: MemoryStore, embedder: Embedder) -> None:
        missing = store.without_vector(embedder.model_id, _EMBED_AT_ONCE)
        if missing:
            vectors = embedder.embed_documents([memory.content for memory in missing])
            for memory, vector in zip(missing, vectors, strict=True):
                store.add_vector(memory.id, embedder.model_id, memory.content_hash, vector)

    def damage(self) -> str:
        """What is wrong with a scope's file, and the remedy; empty where all are well."""
        for scope in SCOPES:
            try:
                self._store(scope)
            except MemoriesUnavailable as error:
                return str(error)
        return ""

    def _usable(self, scopes: Sequence[Scope]) -> Iterator[MemoryStore]:
        """The stores of some scopes. A damaged one is passed over (`damage` tells), unless it alone was asked for."""
        for scope in scopes:
            try:
                yield self._store(scope)
            except MemoriesUnavailable:
                if len(scopes) == 1:
                    raise

    def _store(self, scope: Scope) -> MemoryStore:
        return self._open_stores[scope]()


def _scored(
    store: MemoryStore, lexical: Mapping[str, float], dense: Mapping[str, float], filters: MemoryFilters, minimum: float
) -> list[Hit]:
    best = max(lexical.values(), default=0.0)
    hits = []
    for memory_id in {*lexical, *(number for number, similarity in dense.items() if similarity >= minimum)}:
        memory = store.get(memory_id)
        if memory is None or not filters.admit(memory):
            continue
        words = lexical.get(memory_id, 0.0) / best if best > 0 else 0.0
        meaning = max(0.0, dense.get(memory_id, 0.0))
        score = _DENSE_SHARE * meaning + (1 - _DENSE_SHARE) * words if dense else words
        matched = [name for name, values in (("dense", dense), ("lexical", lexical)) if memory_id in values]
        hits.append(Hit(memory, min(1.0, score), tuple(matched)))
    return hits


def _checked_content(content: str) -> str:
    content = without_surrogates(content.strip())
    if not content:
        raise InvalidRequest("content is empty; give the text to remember")
    if len(content) > MAX_CONTENT:
        raise InvalidRequest(
            f"content has {len(content):,} characters, at most {MAX_CONTENT:,} are kept; store a summary and name the source"
        )
    return content


def _memory(hit: Hit) -> Memory:
    assert isinstance(hit.item, Memory)
    return hit.item


def utc_now() -> datetime:
    """The wall clock in UTC."""
    return datetime.now(UTC)
