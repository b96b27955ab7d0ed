"""Restores a backup of memories: into the store in use, or in place of a damaged file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from rag_ls.model import Scope
from rag_ls.storage import MemoryStore, replace_damaged_memories


@dataclass(frozen=True, slots=True)
class Restored:
    """The changes that a restored backup made."""

    backup: str
    """The backup's file."""
    inserted: int = 0
    replaced: int = 0
    deleted: int = 0
    moved_aside: str | None = None
    """The new place of the damaged file."""


def restore_into(store: MemoryStore, name: str, stamp: str) -> Restored:
    """Make a store's memories equal a backup's, in one transaction. Replaced and deleted memories stay in the history.

    `name` is `latest`, a date or a file. Raises `NotFound` if there is no such undamaged backup.
    """
    backup = store.read_backup(name)
    wanted = {memory.id: memory for memory in backup.memories}
    inserted = replaced = deleted = 0
    with store.transaction():
        present = {memory.id: memory for memory in store.find()}
        for memory_id in present.keys() - wanted.keys():
            deleted += store.delete(memory_id, reason="restored")
        for memory_id, memory in wanted.items():
            known = present.get(memory_id)
            if known is not None and replace(known, version=memory.version, updated_at=memory.updated_at) == memory:
                continue
            if twin := store.twin(memory):
                # The twin now has this memory's former content. Its own turn, which restores it, comes later.
                store.delete(twin.id, reason="restored")
            if known is not None and store.get(memory_id) is not None:
                store.replace(replace(memory, version=known.version + 1, updated_at=stamp), reason="restored")
            else:
                newest = max((item.memory.version for item in store.history(memory_id)), default=0)
                store.insert(replace(memory, version=max(memory.version, newest + 1)))
            inserted += known is None
            replaced += known is not None
    return Restored(backup.place, inserted, replaced, deleted)


def replace_damaged(folder: Path, name: str, scope: Scope) -> Restored:
    """Replace the damaged memories of a data folder by a backup, and move the damaged file aside. Raises `NotFound`."""
    done = replace_damaged_memories(folder, name, scope)
    return Restored(done.place, inserted=done.count, moved_aside=done.moved_aside)
