"""Merges incoming memories into a store that may hold some of them already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from rag_ls.memory.content_checks import MAX_TAGS
from rag_ls.memory.portable.records import Incoming
from rag_ls.model import Memory
from rag_ls.storage import MemoryStore

INSERTED = "inserted"
UPDATED = "updated"
UNCHANGED = "unchanged"
DUPLICATE = "duplicate"

# A memory waits at most this many rounds for others to change their content; longer chains are rare.
_MAX_ROUNDS = 10


class ImportMerge:
    """An import into a store. Run it inside a transaction of the store."""

    def __init__(self, store: MemoryStore, now: str) -> None:
        """`now` is the time of changes that the import makes by itself."""
        self._store = store
        self._now = now

    def run(self, incoming: Sequence[Incoming]) -> Counter[str]:
        """Store all incoming memories; returns the number of each outcome.

        An incoming memory waits if its content is still that of another memory that is about to get new content.
        """
        outcomes: Counter[str] = Counter()
        moving = {item.memory.id for item in incoming}
        for turn in range(_MAX_ROUNDS):
            waiting = []
            for item in incoming:
                present, twin = self._store.get(item.memory.id), self._store.twin(item.memory)
                if twin is not None and twin.id in moving and twin.content_hash == item.memory.content_hash:
                    waiting.append(item)
                else:
                    outcomes[self._merge(item, present, twin)] += 1
                    moving.discard(item.memory.id)
            if turn == _MAX_ROUNDS - 2 or len(waiting) == len(incoming):
                # They wait in a circle or in a long chain: stop waiting, and keep the existing memories.
                moving = set()
            # Backwards, because in a chain of memories that wait for each other only the last can begin.
            incoming = waiting[::-1]
        return outcomes

    def _merge(self, item: Incoming, present: Memory | None, twin: Memory | None) -> str:
        if present is None:
            outcome, kept = self._add(item, twin)
        elif "id" in item.missing_fields:
            outcome, kept = self._merge_by_content(item.memory, present)
        else:
            outcome, kept = self._update(item, present, twin)
        for model, vectors in item.embeddings.items():
            if outcome == INSERTED or not self._store.vectors.of(kept.id, model).size:
                self._store.vectors.add(kept.id, model, item.memory.content_hash, vectors)
        return outcome

    def _add(self, item: Incoming, twin: Memory | None) -> tuple[str, Memory]:
        if twin is not None:
            return self._join(item.memory, twin)
        memory = item.memory
        former = self._store.history(memory.id)
        if former and former[0].memory.version >= memory.version:
            # The memory was deleted here: it comes back as a new version, like a restored memory.
            memory = replace(memory, version=former[0].memory.version + 1)
        self._store.insert(memory)
        return INSERTED, memory

    def _merge_by_content(self, memory: Memory, present: Memory) -> tuple[str, Memory]:
        """Merge a memory without an id into the one with its content; changes that were made here since are kept."""
        if memory.content_hash != present.content_hash:
            return UNCHANGED, present
        outcome, joined = self._join(memory, present)
        return (UNCHANGED if joined == present else outcome), joined

    def _update(self, item: Incoming, present: Memory, twin: Memory | None) -> tuple[str, Memory]:
        kept_fields = {name: getattr(present, name) for name in item.missing_fields}
        memory = replace(item.memory, **kept_fields)
        if memory == present:
            return UNCHANGED, present
        if "updated_at" in kept_fields:
            memory = replace(memory, updated_at=self._now)
        if (memory.version, memory.updated_at) <= (present.version, present.updated_at):
            return UNCHANGED, present
        if twin is not None:
            return self._join(memory, twin)
        if replace(memory, updated_at=present.updated_at) == present:
            self._store.touch(memory.id, memory.updated_at)
            return UPDATED, memory
        memory = replace(memory, version=max(memory.version, present.version + 1))
        self._store.replace(memory)
        return UPDATED, memory

    def _join(self, memory: Memory, twin: Memory) -> tuple[str, Memory]:
        """Merge a memory into its twin, which keeps its id; an older summary gets the newer text."""
        joined = twin.absorb(memory, MAX_TAGS)
        if memory.content_hash != twin.content_hash and memory.updated_at > twin.updated_at:
            joined = replace(joined, content=memory.content, content_hash=memory.content_hash)
        if joined == twin:
            return DUPLICATE, twin
        joined = replace(joined, version=twin.version + 1, updated_at=self._now)
        self._store.replace(joined)
        return (DUPLICATE if joined.content == twin.content else UPDATED), joined
