"""Bringing a backup of memories back: into the store that is in use, or in the place of a file that is damaged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from rag_ls.model import Scope
from rag_ls.storage import MemoryStore, replace_damaged_memories


@dataclass(frozen=True, slots=True)
class Restored:
    """What bringing a backup back changed."""

    backup: str
    """Where the backup is."""
    inserted: int = 0
    replaced: int = 0
    deleted: int = 0
    moved_aside: str | None = None
    """Where the damaged memories are now."""


def restore_into(store: MemoryStore, name: str, stamp: str) -> Restored:
    """Make a store hold what a backup of it holds, as one transaction; all that goes stays in the history.

    `name` is `latest`, a date or a file. Raises `NotFound` where there is no such good backup.
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
                # It has what this one had; its own turn, in which it gets back what was its own, is still to come.
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
    """Put a backup in the place of damaged memories in a data folder, which are moved aside. Raises `NotFound`."""
    done = replace_damaged_memories(folder, name, scope)
    return Restored(done.place, inserted=done.count, moved_aside=done.moved_aside)
