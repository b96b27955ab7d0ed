"""Unites two stores of one project's memories: a work tree's, a clone's or a copy's with the one that all share.

Of two versions of a memory the later one counts (by its number, then its time), and a deletion counts more than what it
deleted. The other one goes to the history: whatever either store held can be read and brought back afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable

from rag_ls.memory.new_memories import MAX_TAGS
from rag_ls.model import Memory, MemoryMetadata, MemoryVersion
from rag_ls.storage import ERASED, MemoryStore
from rag_ls.util.records import dataclass, replace

UNITED = "united"
CONSOLIDATED = "consolidated"
_MAX_PASSES = 5

Stamp = tuple[int, bool, str]
NOTHING: Stamp = (0, False, "")
"""The stamp of a memory that is not there and never was."""


def stamp(memory: Memory) -> Stamp:
    """The stamp that orders the versions of a memory."""
    return (memory.version, False, memory.updated_at)


def stamp_of_deleted(deleted: MemoryVersion) -> Stamp:
    """The stamp of a memory that was deleted."""
    return (deleted.memory.version, True, deleted.replaced_at)


def comes_first(one: Memory, other: Memory) -> bool:
    """The older of two memories with the same content; every client keeps that one."""
    return (one.created_at, one.id) < (other.created_at, other.id)


def absorb(memory: Memory, other: Memory) -> Memory:
    """A memory with what another one that says the same has besides: tags, a place, an importance that was given."""
    mine, theirs = memory.metadata, other.metadata
    is_importance_given = theirs.importance_score != MemoryMetadata().importance_score
    metadata = replace(
        mine,
        tags=tuple(dict.fromkeys((*mine.tags, *theirs.tags)))[: max(MAX_TAGS, len(mine.tags))],
        source_file=mine.source_file or theirs.source_file,
        importance_score=max(mine.importance_score, theirs.importance_score)
        if is_importance_given
        else mine.importance_score,
        custom={**theirs.custom, **mine.custom},
    )
    anchor, source_uri = memory.anchor or other.anchor, memory.source_uri or other.source_uri
    return replace(memory, metadata=metadata, anchor=anchor, source_uri=source_uri)


def _absorb_twin(store: MemoryStore, memory_id: str, twin: Memory, now: str) -> None:
    """Add to a memory what one that said the same had besides."""
    memory = store.get(memory_id)
    if memory is not None and (joined := absorb(memory, twin)) != memory:
        store.replace(replace(joined, version=memory.version + 1, updated_at=now))


@dataclass(frozen=True, slots=True)
class United:
    """The changes that uniting made, as numbers of memories."""

    added: int = 0
    changed: int = 0
    deleted: int = 0


def unite(store: MemoryStore, other: MemoryStore, now: str) -> United:
    """Take into `store` what `other` holds, which stays as it is. Doing it again changes nothing. `now` is RFC 3339, UTC."""
    theirs = {memory.id: memory for memory in other.all()}
    gone = {version.memory.id: version for version in other.deleted(-1)[0]}
    before = store.versions()
    store.backup(always=True)
    with store.transaction():
        for _ in range(_MAX_PASSES):
            former = store.versions()
            for memory_id in [*sorted(theirs, key=lambda each: theirs[each].created_at), *gone]:
                _Meeting(store, memory_id, now).meet(
                    theirs.get(memory_id), gone.get(memory_id), other.history(memory_id)
                )
            # A memory that gave way to a twin comes back if the twin's content is another one by then.
            if store.versions() == former:
                break
        known = {batch.id for batch in store.batches()}
        for batch in reversed(other.batches()):
            if batch.id not in known:
                store.add_batch(batch)
    after = store.versions()
    return United(
        len(after.keys() - before.keys()),
        sum(1 for each in after.keys() & before.keys() if after[each] != before[each]),
        len(before.keys() - after.keys()),
    )


class _Meeting:
    """One memory, as both stores know it. Runs in a transaction of the store that takes."""

    def __init__(self, store: MemoryStore, memory_id: str, now: str) -> None:
        self._store = store
        self._id = memory_id
        self._now = now

    def meet(self, theirs: Memory | None, gone: MemoryVersion | None, former: Iterable[MemoryVersion]) -> None:
        """Take the others' state of a memory: as it is now, or as it was deleted, and its former versions."""
        last = next(iter(self._store.history(self._id)), None)
        if last is not None and last.reason == ERASED:
            return
        ours = self._store.get(self._id)
        if gone is not None and gone.reason == ERASED:
            self._store.erase([max(ours or gone.memory, gone.memory, key=lambda each: each.version)])
            return
        versions = list(former)
        if theirs is not None:
            if self._theirs_counts(theirs, ours) and not (ours and _is_the_same(ours, theirs)):
                place_version(self._store, theirs, ours, self._now)
            else:
                versions.append(MemoryVersion(theirs, self._now, UNITED))
        elif gone is not None and ours is not None and stamp_of_deleted(gone) > stamp(ours):
            self._store.delete(self._id)
        for version in sorted(versions, key=lambda each: each.memory.version):
            _keep_version(self._store, version)

    def _theirs_counts(self, theirs: Memory, ours: Memory | None) -> bool:
        if ours is not None:
            # If two changes have one time, both stores must choose the same one.
            return (stamp(theirs), theirs.content) > (stamp(ours), ours.content)
        last = next(iter(self._store.history(self._id)), None)
        return stamp(theirs) > (stamp_of_deleted(last) if last else NOTHING)


def place_version(store: MemoryStore, theirs: Memory, ours: Memory | None, now: str) -> None:
    """Make theirs the present version, unless an older memory says the same. Call it in a transaction."""
    twin = store.twin(theirs)
    if twin is not None and comes_first(twin, theirs):
        if ours is not None:
            store.delete(ours.id, reason=CONSOLIDATED)
        _keep_version(store, MemoryVersion(theirs, now, CONSOLIDATED))
        _absorb_twin(store, twin.id, theirs, now)
        return
    if twin is not None:
        store.delete(twin.id, reason=CONSOLIDATED)
    taken = [version.memory.version for version in store.history(theirs.id)]
    # Both stores may have changed the same version; the other change keeps its number in the history.
    least = max([*taken, ours.version if ours else 0], default=0) + 1
    placed = replace(theirs, version=max(theirs.version, least))
    if ours is not None:
        store.replace(placed, reason=UNITED)
    else:
        store.insert(placed)
    if twin is not None:
        _absorb_twin(store, theirs.id, twin, now)


def _keep_version(store: MemoryStore, version: MemoryVersion) -> None:
    """Add a former version to the history, unless it is there: under its number, or a new one if that is taken."""
    present, history = store.get(version.memory.id), store.history(version.memory.id)
    known = [each.memory for each in history] + ([present] if present else [])
    if any(_says_the_same(version.memory, each) for each in known):
        return
    taken = {each.version for each in known}
    if version.memory.version not in taken and (present is None or version.memory.version < present.version):
        store.keep_version(version)
        return
    number = max(taken, default=0) + 1
    store.keep_version(replace(version, memory=replace(version.memory, version=number)))
    if present is not None:
        store.replace(replace(present, version=number + 1), reason=UNITED)
    elif history:
        # The deleted version stays the last one.
        last = replace(history[0], memory=replace(history[0].memory, version=number + 1))
        store.keep_version(last)


def _says_the_same(one: Memory, other: Memory) -> bool:
    """Whether two versions differ in nothing but their number and time."""
    return replace(one, version=other.version, updated_at=other.updated_at) == other


def _is_the_same(one: Memory, other: Memory) -> bool:
    return one.version == other.version and _says_the_same(one, other)
