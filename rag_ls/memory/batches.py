"""Operations that change many memories at once: each can be previewed, makes a backup first, and can be undone.

To restore a backup into the store in use is one; a damaged file is replaced as a whole.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TypeVar

from rag_ls.errors import NotFound
from rag_ls.model import Memory, Scope
from rag_ls.storage import ERASED, Batch, MemoryStore, VersionChange, read_backup, replace_damaged_memories
from rag_ls.util.records import dataclass, replace

CONSOLIDATED = "consolidated"
DELETED = "deleted"
IMPORTED = "imported"
RESTORED = "restored"
SUMMARIZED = "summarized"
UNDONE = "undone"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The memories that a batch changed, or would change."""

    batch_id: str = ""
    """For `undo`; empty for a preview, and if nothing changed."""
    inserted: tuple[Memory, ...] = ()
    replaced: tuple[Memory, ...] = ()
    """In their versions before the batch."""
    deleted: tuple[Memory, ...] = ()
    """In their last versions."""

    @property
    def changed_scopes(self) -> tuple[Scope, ...]:
        """The scopes whose memories were changed; none after a preview."""
        memories = (*self.inserted, *self.replaced, *self.deleted) if self.batch_id else ()
        return tuple(dict.fromkeys(memory.scope for memory in memories))


@dataclass(frozen=True, slots=True)
class Undone:
    """The changes that an undo took back."""

    batch: Batch
    scope: Scope
    result: BatchResult
    kept: tuple[str, ...]
    """The ids of memories that stay as they are: changed since, their former version gone, or its content taken."""


class _Preview(Exception):
    """Rolls a transaction back; it is no error."""


def carry_out(
    store: MemoryStore, kind: str, change: Callable[[], T], *, stamp: str, batch_id: str = "", dry_run: bool = False
) -> tuple[T, BatchResult]:
    """Run `change`, which changes memories of `store`, in one transaction, and record it as a batch that can be undone.

    A backup is made first. With `dry_run`, everything is taken back at once: the results tell what would change.
    """
    if not dry_run:
        store.backup(always=True)
    outcome: tuple[T, BatchResult] | None = None
    try:
        with store.transaction():
            before = store.versions()
            answer = change()
            changes = _changes(before, store.versions())
            recorded_id = (batch_id or str(uuid.uuid4())) if changes and not dry_run else ""
            outcome = answer, _result(store, changes, recorded_id)
            if dry_run:
                raise _Preview
            if changes:
                store.add_batch(Batch(recorded_id, kind, stamp, changes))
    except _Preview:
        pass
    assert outcome is not None
    return outcome


def find_batch(store: MemoryStore, batch_id: str = "", kind: str = "") -> Batch | None:
    """A batch that can be undone: that with the id, else the latest (of a kind) that is no undo itself."""
    for batch in store.batches():
        wanted = batch.id == batch_id if batch_id else batch.kind != UNDONE and kind in ("", batch.kind)
        if wanted and batch.undone_at is None:
            return batch
    return None


def undo(store: MemoryStore, batch_id: str, stamp: str, *, dry_run: bool = False) -> Undone:
    """Take a batch (without an id, the latest one) back. Memories that cannot be taken back stay as they are.

    The undo is a batch too: with its id, it can be undone itself. Raises `NotFound`.
    """
    batch = find_batch(store, batch_id)
    if batch is None:
        what = f"no change of many memories has the id {batch_id!r}" if batch_id else "no change of many memories"
        raise NotFound(f"{what} is left to undo in the scope {store.scope}")

    def take_back() -> tuple[str, ...]:
        kept = _take_back(store, batch.changes, stamp)
        store.note_undone(batch.id, stamp)
        return kept

    kept, result = carry_out(store, UNDONE, take_back, stamp=stamp, dry_run=dry_run)
    return Undone(batch, store.scope, result, kept)


def put_back(store: MemoryStore, memory: Memory, stamp: str, *, movable: Collection[str], reason: str) -> bool:
    """Make a former version the present one, with a new version number; whether that was possible.

    Another memory that has its content now is deleted if it is `movable`: its own turn comes later.
    """
    if twin := store.twin(memory):
        if twin.id not in movable:
            return False
        store.delete(twin.id, reason=reason)
    present = store.get(memory.id)
    newest = max((item.memory.version for item in store.history(memory.id)), default=0)
    if present is None:
        store.insert(replace(memory, version=max(memory.version, newest + 1)))
    else:
        store.replace(replace(memory, version=present.version + 1, updated_at=stamp), reason=reason)
    return True


def _changes(before: dict[str, int], after: dict[str, int]) -> tuple[VersionChange, ...]:
    ids = [memory_id for memory_id in before.keys() | after.keys() if before.get(memory_id) != after.get(memory_id)]
    return tuple(VersionChange(memory_id, before.get(memory_id), after.get(memory_id)) for memory_id in sorted(ids))


def _result(store: MemoryStore, changes: Collection[VersionChange], batch_id: str) -> BatchResult:
    present = store.by_ids([change.id for change in changes if change.before is None])
    former = _former(store, changes)
    deleted = {change.id for change in changes if change.after is None}
    return BatchResult(
        batch_id,
        tuple(present.values()),
        tuple(memory for memory in former.values() if memory.id not in deleted),
        tuple(memory for memory in former.values() if memory.id in deleted),
    )


def _former(store: MemoryStore, changes: Collection[VersionChange]) -> dict[str, Memory]:
    """The changed memories in their versions before, as far as the history still has them."""
    return {
        change.id: item.memory
        for change in changes
        if change.before is not None
        for item in store.history(change.id)
        if item.memory.version == change.before and item.reason != ERASED
    }


def _take_back(store: MemoryStore, changes: Collection[VersionChange], stamp: str) -> tuple[str, ...]:
    """Give each memory its version before; returns the ids of those for which that is not possible."""
    former, present = _former(store, changes), store.versions()
    movable = {
        change.id
        for change in changes
        if present.get(change.id) == change.after and (change.before is None or change.id in former)
    }
    # Look before anything moves: if another memory now has a content, the memory that had it before cannot come back, and the
    # other one keeps it.
    while blocked := {
        memory_id for memory_id in movable & former.keys() if _is_taken(store, former[memory_id], movable)
    }:
        movable -= blocked
    for memory_id in movable - former.keys():
        store.delete(memory_id, reason=UNDONE)
    for memory_id in movable & former.keys():
        put_back(store, former[memory_id], stamp, movable=movable, reason=UNDONE)
    return tuple(sorted({change.id for change in changes} - movable))


def _is_taken(store: MemoryStore, memory: Memory, movable: Collection[str]) -> bool:
    twin = store.twin(memory)
    return twin is not None and twin.id not in movable


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
    backup = read_backup(store, name)
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
