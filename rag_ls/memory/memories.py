"""Stores and recalls memories in the stores of all scopes."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding import Embedder, Embedding
from rag_ls.errors import InvalidRequest, NotFound, RagLsError, ScopeRefused, StoreUnavailable, VersionConflict
from rag_ls.memory.batches import DELETED
from rag_ls.memory.new_memories import (
    MAX_CONTENT,
    NewMemory,
    Stored,
    check_content,
    check_metadata,
    refuse_secrets,
)
from rag_ls.memory.parts import embed_content, embed_missing, embed_question
from rag_ls.memory.recall import Question, memory_of, recall
from rag_ls.memory.uniting import absorb
from rag_ls.model import (
    Hit,
    Memory,
    MemoryFilters,
    MemoryOrder,
    MemoryVersion,
    Scope,
)
from rag_ls.search import similarity
from rag_ls.storage import ERASED, Batch, MemoryStore, VersionChange
from rag_ls.util.records import replace
from rag_ls.util.text import content_hash, utc_stamp

# Ties go to the nearest scope.
SCOPES = tuple(Scope)
ALL = MemoryFilters()
_MAX_KNOWN = 3
# From this similarity on (see embedding.similarity), storing a memory reports an existing one.
_MIN_KNOWN_SIMILARITY = 0.8
# A question embeds at most this many memories that lack a vector; the background does the rest.
_MAX_EMBEDDED_PER_QUESTION = 8
MIN_PREFIX_CHARACTERS = 4

_log = logging.getLogger(__name__)

Clock = Callable[[], datetime]
Change = Callable[[Memory], Memory]


class Memories:
    """The memories that one project sees: the session's, its own, and the user's.

    `open_stores` opens each scope's store at its first use, so that a damaged store does not affect the others.
    """

    def __init__(
        self,
        open_stores: Mapping[Scope, Callable[[], MemoryStore]],
        now: Clock,
        *,
        max_session: Callable[[], int] = lambda: 1000,
        take_note: Callable[[], str] = str,
    ) -> None:
        """`max_session` returns the maximum number of session memories, `take_note` what happened to the stores, once."""
        self._open_stores = open_stores
        self._now = now
        self._max_session = max_session
        self.take_note = take_note
        """Returns what happened to the opened stores, for the user; each thing once."""

    # --- storing

    def store(self, new: NewMemory, embedder: Embedder | None) -> Stored:
        """Store a memory. If the scope has the same content already, merge the tags instead of storing it twice.

        Raises `InvalidRequest` for content that is empty, trivial, too large, or looks like a secret.
        """
        metadata = check_metadata(new.metadata)
        if not new.force:
            refuse_secrets(new.content[:MAX_CONTENT], metadata, new.source_uri, new.branch, new.summary_key)
        content = check_content(new.content, force=new.force)
        store, stamp = self.of(new.scope), self.stamp()
        memory = Memory(
            id=str(uuid.uuid4()), content=content, scope=new.scope, metadata=metadata, memory_type=new.memory_type,
            created_at=stamp, updated_at=stamp, version=1, content_hash=content_hash(content), source_uri=new.source_uri,
            source_memory_ids=new.source_memory_ids, anchor=new.anchor, branch=new.branch, summary_key=new.summary_key,
            project_id=new.project_id,
        )  # fmt: skip
        vectors = embed_content(memory, embedder)
        known = self._find_known(memory, vectors, embedder)
        store.backup()
        limit = self._limit_of(store)
        with store.transaction():
            former = store.twin(memory)
            stored = self._merge(store, former, memory, stamp) if former else Stored("inserted", memory)
            if not former:
                store.insert(memory)
            if vectors is not None and embedder is not None:
                store.vectors.add(stored.memory.id, embedder.card.id, memory.content_hash, vectors)
            evicted = () if limit is None else tuple(store.evict(limit, stored.memory.id))
        # The very first memory needs no backup before it.
        store.backup()
        store.vectors.maintain()
        others = tuple(hit for hit in known if hit.item.id != stored.memory.id)
        return replace(stored, known=others, is_uncompared=vectors is None and not former, evicted=evicted)

    def update(
        self,
        memory_id: str,
        change: Change,
        embedder: Embedder | None,
        *,
        expected: int | None = None,
        force: bool = False,
    ) -> Stored:
        """Replace a memory by `change(memory)`; the former version stays in the history.

        Raises `NotFound`, `VersionConflict` if the memory is not at version `expected`, and `InvalidRequest` as `store`
        does, or if another memory of the scope has the new content.
        """
        memory = self.get(memory_id)
        store = self.of(memory.scope)
        # Back up the former state: the newest backup must not hold only the mistake.
        store.backup()
        with store.transaction():
            current = store.get(memory.id)
            if current is None:
                raise NotFound(
                    f"the memory {memory.id} was deleted by another client meanwhile; store_memory keeps it anew"
                )
            if expected is not None and current.version != expected:
                raise VersionConflict(
                    f"the memory {current.id} is at version {current.version}, changed {current.updated_at}, not at "
                    f"{expected}; read it with get_memory, then update it with expected_version = {current.version}"
                )
            wanted = change(current)
            updated = self._check_change(store, current, wanted, force=force)
            if updated == current:
                return Stored("unchanged", current)
            store.replace(updated)
        self._embed_new(store, embedder)
        return Stored("updated", updated)

    def delete(self, memory_id: str) -> Memory:
        """Delete a memory and return it as it was; `restore` or an undo brings it back. Raises `NotFound`."""
        memory = self.get(memory_id)
        store = self.of(memory.scope)
        store.backup()
        change = VersionChange(memory.id, memory.version, None)
        with store.transaction():
            store.delete(memory.id)
            store.add_batch(Batch(str(uuid.uuid4()), DELETED, self.stamp(), (change,)))
        return memory

    def restore(self, memory_id: str, version: int | None, embedder: Embedder | None) -> Stored:
        """Restore a former version (without `version`, the last one) as the newest one. Raises `NotFound`."""
        store, versions = self._history(memory_id)
        versions = [item for item in versions if item.reason != ERASED]
        wanted = next((item.memory for item in versions if version in (None, item.memory.version)), None)
        if wanted is None:
            numbers = ", ".join(str(item.memory.version) for item in versions)
            named = "" if version is None else f" {version}"
            raise NotFound(f"there is no former version{named} of {memory_id}; there are {numbers or 'none'}")
        limit = self._limit_of(store)
        with store.transaction():
            current = store.get(wanted.id)
            newest = max(item.memory.version for item in versions) if current is None else current.version
            restored = replace(wanted, version=newest + 1, updated_at=self.stamp())
            if twin := store.twin(wanted):
                raise InvalidRequest(
                    f"the memory {twin.id} says the same already; delete it before you restore this one"
                )
            if current is None:
                store.insert(restored)
            else:
                store.replace(restored, reason="restored")
            evicted = () if limit is None else tuple(store.evict(limit, restored.id))
        self._embed_new(store, embedder)
        return Stored("restored", restored, evicted=evicted)

    # --- reading

    def get(self, memory_id: str) -> Memory:
        """One memory, by its id or at least the first four characters of it.

        Raises `NotFound`, and `InvalidRequest` where several ids begin so.
        """
        memory_id = memory_id.strip()
        stores = list(self.usable(SCOPES))
        # A full id in any scope takes precedence over another id that begins with it.
        for store in stores:
            if memory := store.get(memory_id):
                return memory
        if len(memory_id) >= MIN_PREFIX_CHARACTERS:
            starting = {known_id for store in stores for known_id in store.ids_starting(memory_id)}
            if len(starting) == 1:
                return self.get(starting.pop())
            if starting:
                raise InvalidRequest(
                    f"{len(starting)} memories have ids that begin with {memory_id!r}; give more of it"
                )
        hint = self.damage() or "list_memories shows the ids that exist"
        if len(memory_id) < MIN_PREFIX_CHARACTERS:
            hint = f"give at least its first {MIN_PREFIX_CHARACTERS} characters; {hint}"
        raise NotFound(f"no memory has the id {memory_id!r}; {hint}")

    def history(self, memory_id: str) -> list[MemoryVersion]:
        """The former versions of a memory, the newest first. Raises `NotFound` for an unknown id."""
        return self._history(memory_id)[1]

    def list_page(
        self, filters: MemoryFilters, order: MemoryOrder = MemoryOrder.UPDATED, limit: int = -1, offset: int = 0
    ) -> tuple[list[Memory], int]:
        """A page of the memories that pass the filters, and how many pass."""
        stores = list(self.usable(filters.scopes))
        end = offset + limit if limit >= 0 else -1
        found = [memory for store in stores for memory in store.find(filters, order, end)]
        if len(stores) > 1:
            found = sort_memories(found, order)
        page = found[offset:end] if limit >= 0 else found[offset:]
        return page, sum(store.count(filters) for store in stores)

    def find_about(self, path: str, symbols: Collection[str], content_hashes: Collection[str]) -> list[Memory]:
        """The memories whose anchors may be in a document: by its path, its symbols, or the hashes of its chunks."""
        return [memory for store in self.usable(SCOPES) for memory in store.about(path, symbols, content_hashes)]

    def counts(self) -> dict[str, int]:
        """The number of memories of each scope; 0 for a scope whose file is damaged."""
        counts = {}
        for scope in SCOPES:
            try:
                counts[scope.value] = self.of(scope).count()
            except StoreUnavailable:
                counts[scope.value] = 0
        return counts

    # --- recalling

    def recall(self, question: Question, embedder: Embedder | None) -> list[Hit]:
        """The memories that fit a question best, by words and (with an embedder) by meaning."""
        vector = None
        stores = list(self.usable(question.filters.scopes))
        if embedder is not None and question.text.strip():
            vector = embed_question(embedder, question.text)
            for store in stores if vector is not None else ():
                self._embed_new(store, embedder)
        return recall(stores, question, vector, self._now())

    def note_uses(self, hits: Sequence[Hit]) -> None:
        """Count a use for each memory that was returned as an answer."""
        for scope in {memory_of(hit).scope for hit in hits}:
            self.of(scope).note_uses([hit.item.id for hit in hits if memory_of(hit).scope is scope], self.stamp())

    def near(self, embedding: Embedding, filters: MemoryFilters, *, k: int, min_similarity: float) -> list[Hit]:
        """The memories nearest to an existing vector (by cosine). Calls no model."""
        hits = []
        for store in self.usable(filters.scopes):
            nearest = store.vectors.nearest(embedding.vector, embedding.model.id, filters, k)
            memories = store.by_ids([near_id for near_id, _ in nearest])
            hits += [
                Hit(memories[near_id], cosine, ("dense",), similarity=similarity(embedding.model, cosine))
                for near_id, cosine in nearest
                if cosine >= min_similarity and near_id in memories
            ]
        return sorted(hits, key=lambda hit: -hit.score)[:k]

    # --- for other modules

    def of(self, scope: Scope) -> MemoryStore:
        """A scope's store. Raises `StoreUnavailable`."""
        return self._open_stores[scope]()

    def usable(self, scopes: Sequence[Scope]) -> Iterator[MemoryStore]:
        """The stores of some scopes. Skips a damaged one (see `damage`), but raises if it is the only one asked for."""
        # A collection is one store.
        for scope in filter(self._open_stores.__contains__, scopes):
            try:
                yield self.of(scope)
            except StoreUnavailable:
                if len(scopes) == 1:
                    raise

    def damage(self, scopes: Sequence[Scope] = SCOPES) -> str:
        """The error of the first damaged scope, with the remedy; empty if all are usable."""
        for scope in scopes:
            try:
                self.of(scope)
            except ScopeRefused:
                continue
            except StoreUnavailable as error:
                return str(error)
        return ""

    def now(self) -> datetime:
        """The present time, by the configured clock."""
        return self._now()

    def stamp(self) -> str:
        """The present time in the format of records."""
        return utc_stamp(self._now())

    def _limit_of(self, store: MemoryStore) -> int | None:
        """The largest number of memories; None without limit. Asks the settings, so not within a transaction."""
        return self._max_session() if store.scope is Scope.SESSION else None

    def _merge(self, store: MemoryStore, former: Memory, new: Memory, stamp: str) -> Stored:
        """Store content that exists already, or a summary anew: merge what else is said of it, and set the time to now."""
        updated = replace(
            absorb(former, new),
            content=new.content,
            content_hash=new.content_hash,
            # It may be about the same declaration as it is now.
            anchor=new.anchor or former.anchor,
            source_memory_ids=new.source_memory_ids or former.source_memory_ids,
        )
        if updated == former:
            store.touch(former.id, stamp)
            return Stored("duplicate", replace(former, updated_at=stamp), is_duplicate=True)
        updated = replace(updated, updated_at=stamp, version=former.version + 1)
        store.replace(updated)
        return Stored("updated", updated, is_duplicate=new.content_hash == former.content_hash)

    def _check_change(self, store: MemoryStore, current: Memory, wanted: Memory, *, force: bool) -> Memory:
        # Unchanged content that was stored by `force` does not need `force` again.
        is_kept = wanted.content == current.content
        metadata = check_metadata(wanted.metadata)
        if not force:
            refuse_secrets("" if is_kept else wanted.content[:MAX_CONTENT], metadata, wanted.source_uri, wanted.branch)
        content = check_content(wanted.content, force=force or is_kept)
        updated = replace(wanted, content=content, metadata=metadata, content_hash=content_hash(content))
        if updated == current:
            return current
        if twin := store.twin(updated):
            raise InvalidRequest(
                f"the memory {twin.id} has this very content already; update that one, or delete this one"
            )
        return replace(updated, version=current.version + 1, updated_at=self.stamp())

    def _find_known(self, memory: Memory, vectors: NDArray[np.float32] | None, embedder: Embedder | None) -> list[Hit]:
        if vectors is None or embedder is None:
            return []
        filters = MemoryFilters(branch=memory.branch or "")
        hits = self.near(Embedding(embedder.card, vectors[0]), filters, k=_MAX_KNOWN + 1, min_similarity=0.0)
        return [hit for hit in hits if (hit.similarity or 0.0) >= _MIN_KNOWN_SIMILARITY][:_MAX_KNOWN]

    def _embed_new(self, store: MemoryStore, embedder: Embedder | None) -> None:
        """Embed a few missing memories. A failure is only logged: they are stored, and are embedded later."""
        if embedder is not None:
            try:
                embed_missing(store, embedder, _MAX_EMBEDDED_PER_QUESTION, at_once=True)
            except (RagLsError, ValueError) as error:
                _log.warning("%s", error)

    def _history(self, memory_id: str) -> tuple[MemoryStore, list[MemoryVersion]]:
        memory_id = memory_id.strip()
        for store in self.usable(SCOPES):
            ids = [memory_id]
            if len(memory_id) >= MIN_PREFIX_CHARACTERS:
                ids += sorted({*store.ids_starting(memory_id), *store.ids_starting(memory_id, former=True)})
            for known_id in ids if len(ids) <= 2 else ids[:1]:
                versions = store.history(known_id)
                if versions or store.get(known_id):
                    return store, versions
        raise NotFound(f"no memory has or had the id {memory_id!r}; list_memories shows those that exist")


_ORDER_KEYS: dict[MemoryOrder, Callable[[Memory], tuple[float | str, ...]]] = {
    MemoryOrder.UPDATED: lambda memory: (memory.updated_at,),
    MemoryOrder.CREATED: lambda memory: (memory.created_at,),
    MemoryOrder.IMPORTANCE: lambda memory: (memory.metadata.importance_score, memory.updated_at),
    MemoryOrder.USES: lambda memory: (memory.uses, memory.updated_at),
    MemoryOrder.LEAST_USED: lambda memory: (memory.uses, memory.updated_at),
}


def sort_memories(memories: Iterable[Memory], order: MemoryOrder) -> list[Memory]:
    """Memories of several stores in one order."""
    return sorted(memories, key=_ORDER_KEYS[order], reverse=order is not MemoryOrder.LEAST_USED)


def utc_now() -> datetime:
    """The wall clock in UTC."""
    return datetime.now(UTC)
