"""Incoming memories into a store that may hold some of them already."""

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

# Memories that wait for one another to give up a content are rarely entangled deeper.
_ROUNDS = 10


class Merge:
    """One import into one store. To be run inside a transaction of it."""

    def __init__(self, store: MemoryStore, now: str) -> None:
        """`now` is the time of what the import changes by itself."""
        self._store = store
        self._now = now

    def run(self, incoming: Sequence[Incoming]) -> Counter[str]:
        """Put everything in its place; how often each of the four things happened.

        A memory whose content another one still has, which gets a new content itself, waits for that one.
        """
        outcomes: Counter[str] = Counter()
        moving = {item.memory.id for item in incoming}
        for turn in range(_ROUNDS):
            waiting = []
            for item in incoming:
                present, twin = self._store.get(item.memory.id), self._twin(item.memory)
                if twin is not None and twin.id in moving and twin.content_hash == item.memory.content_hash:
                    waiting.append(item)
                else:
                    outcomes[self._place(item, present, twin)] += 1
                    moving.discard(item.memory.id)
            if turn == _ROUNDS - 2 or len(waiting) == len(incoming):
                # They wait in a circle, or are too entangled: those that are there stay as they are.
                moving = set()
            # Backwards: in a row of memories that take over from the next, it is the last that can begin.
            incoming = waiting[::-1]
        return outcomes

    def _place(self, item: Incoming, present: Memory | None, twin: Memory | None) -> str:
        if present is None:
            outcome, kept = self._add(item, twin)
        elif "id" in item.unsaid:
            outcome, kept = self._meet_again(item.memory, present)
        else:
            outcome, kept = self._renew(item, present, twin)
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
            # It was deleted here: it comes back as a version of its own, as a restored one does.
            memory = replace(memory, version=former[0].memory.version + 1)
        self._store.insert(memory)
        return INSERTED, memory

    def _meet_again(self, memory: Memory, present: Memory) -> tuple[str, Memory]:
        """A memory without an id is known by its content; what was made of it here since stays."""
        if memory.content_hash != present.content_hash or not _new_tags(present, memory):
            return UNCHANGED, present
        return self._join(memory, present)

    def _renew(self, item: Incoming, present: Memory, twin: Memory | None) -> tuple[str, Memory]:
        unsaid = {name: getattr(present, name) for name in item.unsaid}
        memory = replace(item.memory, **unsaid)
        if memory == present:
            return UNCHANGED, present
        if "updated_at" in unsaid:
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
        """What is there under another id keeps that; it gets the tags, and a summary the text of a newer one."""
        tags = (*twin.metadata.tags, *_new_tags(twin, memory))
        joined = replace(twin, metadata=replace(twin.metadata, tags=tags))
        if memory.content_hash != twin.content_hash and memory.updated_at > twin.updated_at:
            joined = replace(joined, content=memory.content, content_hash=memory.content_hash)
        if joined == twin:
            return DUPLICATE, twin
        joined = replace(joined, version=twin.version + 1, updated_at=self._now)
        self._store.replace(joined)
        return (DUPLICATE if joined.content == twin.content else UPDATED), joined

    def _twin(self, memory: Memory) -> Memory | None:
        """The memory that is in this one's place already, under another id."""
        if memory.summary_key is not None:
            twin = self._store.summary(memory.summary_key)
        else:
            twin = self._store.with_content(memory.content_hash, memory.branch)
        return None if twin is None or twin.id == memory.id else twin


def _new_tags(present: Memory, memory: Memory) -> tuple[str, ...]:
    tags = present.metadata.tags
    new = dict.fromkeys(tag for tag in memory.metadata.tags if tag not in tags)
    return tuple(new)[: max(0, MAX_TAGS - len(tags))]
