"""Bringing a backup of memories back: into the store that is in use, or in the place of a file that is damaged."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from rag_ls.model import Scope
from rag_ls.storage import MEMORIES_FILE, MemoryStore, chosen, put_in_place


@dataclass(frozen=True, slots=True)
class Restored:
    """What bringing a backup back changed."""

    backup: Path
    inserted: int = 0
    replaced: int = 0
    deleted: int = 0
    moved_aside: Path | None = None
    """Where the damaged file is now."""


def restore_into(store: MemoryStore, path: Path, name: str, stamp: str) -> Restored:
    """Make a store hold what a backup of `path` holds, as one transaction; all that goes stays in the history.

    `name` is `latest`, a date or a file. Raises `NotFound` where there is no such good backup.
    """
    backup = chosen(path, name)
    with tempfile.TemporaryDirectory() as folder:
        # A copy, because a backup of an older version is brought up to date by opening it.
        former = MemoryStore(Path(shutil.copyfile(backup, Path(folder) / MEMORIES_FILE)), store.scope)
        try:
            wanted = {memory.id: memory for memory in former.find()}
        finally:
            former.close()
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
    return Restored(backup, inserted, replaced, deleted)


def replace_damaged(path: Path, name: str, scope: Scope) -> Restored:
    """Put a backup in the place of a damaged file, which is moved aside. Raises `NotFound`."""
    backup = chosen(path, name)
    aside = put_in_place(backup, path)
    store = MemoryStore(path, scope)
    count = store.count()
    store.close()
    return Restored(backup, inserted=count, moved_aside=aside)
