"""Restores a backup of memories: into the store in use, or in place of a damaged file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from rag_ls.memory.batches import RESTORED, BatchResult, carry_out, put_back
from rag_ls.model import Scope
from rag_ls.storage import MemoryStore, replace_damaged_memories


@dataclass(frozen=True, slots=True)
class Restored:
    """The changes that a restored backup made, or would make."""

    backup: str
    """The backup's file."""
    result: BatchResult
    replaced_damaged: int = 0
    """The number of memories that took the place of a damaged file's."""
    moved_aside: str | None = None
    """The new place of the damaged file."""


def restore_into(store: MemoryStore, name: str, stamp: str, *, dry_run: bool = False) -> Restored:
    """Make a store's memories equal a backup's, as a batch. With `dry_run`, only tell what would change.

    `name` is `latest`, a date, a time or a file. Raises `NotFound` if there is no such undamaged backup.
    """
    backup = store.read_backup(name)
    wanted = {memory.id: memory for memory in backup.memories}

    def make_equal() -> None:
        present = {memory.id: memory for memory in store.find()}
        for memory_id in present.keys() - wanted.keys():
            store.delete(memory_id, reason=RESTORED)
        for memory_id, memory in wanted.items():
            known = present.get(memory_id)
            if known is None or replace(known, version=memory.version, updated_at=memory.updated_at) != memory:
                put_back(store, memory, stamp, movable=present, reason=RESTORED)

    _, result = carry_out(store, RESTORED, make_equal, stamp=stamp, dry_run=dry_run)
    return Restored(backup.place, result)


def replace_damaged(folder: Path, name: str, scope: Scope) -> Restored:
    """Replace the damaged memories of a data folder by a backup, and move the damaged file aside. Raises `NotFound`."""
    done = replace_damaged_memories(folder, name, scope)
    return Restored(done.place, BatchResult(), done.count, done.moved_aside)
