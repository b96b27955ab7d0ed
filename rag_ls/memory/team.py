"""Keeps a project's memories the same for all who share them on a server.

Each user keeps all memories in a store of their own, which works without the server too. An exchange compares versions: the
one with the greater stamp counts (`SharedMemory.stamp`), the other stays in the history. So everybody ends with the same
memories, in whichever order people change, delete and exchange them.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator

from rag_ls.errors import InvalidRequest
from rag_ls.memory.new_memories import MAX_CONTENT, refuse_secrets
from rag_ls.memory.portable.formats import dump_json, parse_json
from rag_ls.memory.portable.records import ImportDestination, to_incoming, to_record
from rag_ls.memory.uniting import NOTHING, Stamp, comes_first, place_version, stamp, stamp_of_deleted
from rag_ls.model import PRIVATE, Memory, MemoryVersion
from rag_ls.storage import MemoryStore, SharedMemories, SharedMemory, WriteRights
from rag_ls.util.records import dataclass, replace

_log = logging.getLogger(__name__)

# A higher version is refused, because no other version could follow it. No memory is changed so often.
_MAX_VERSION = 10**9
_MAX_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Exchanged:
    """The outcome of one exchange."""

    taken: int = 0
    """Memories that were stored, changed or deleted here."""
    given: int = 0


class TeamMemories:
    """Exchanges the memories of one store with those on a server. Used by one thread at a time."""

    def __init__(self, shared: SharedMemories) -> None:
        self.shared = shared
        self._epoch = ""
        self._change = 0
        self._stamps: dict[str, Stamp] = {}
        self._superseded: list[SharedMemory] = []
        """Memories of others that said what an older one says."""
        self._given_at: tuple[int, str, int] | None = None
        self._rights = WriteRights()

    def exchange(self, store: MemoryStore, now: str) -> Exchanged:
        """Take what others changed, then give what was changed here. `now` is RFC 3339, UTC.

        Raises `StoreUnavailable`; then the next exchange does the rest.
        """
        taken = self._take(store, now)
        newest = store.vectors.newest()
        if newest == self._given_at or self._rights.are_missing:
            return Exchanged(taken)
        given = self._give(store)
        self._given_at = newest
        return Exchanged(taken, given)

    def _take(self, store: MemoryStore, now: str) -> int:
        changes = self.shared.since(self._change)
        if not changes.epoch or changes.epoch != self._epoch or changes.last < self._change:
            # The server has lost something, or never had anything: exchange everything.
            self._epoch, self._given_at = changes.epoch, None
            self._stamps.clear()
            if self._change:
                changes = self.shared.since(0)
        self._change = changes.last
        if not changes.memories:
            return 0
        deleted = {version.memory.id: stamp_of_deleted(version) for version in _list_deleted(store)}
        store.backup()
        taken = 0
        for item in changes.memories:
            self._stamps[item.id] = item.stamp
            present = store.get(item.id)
            if item.stamp > (stamp(present) if present else deleted.get(item.id, NOTHING)):
                taken += self._take_version(store, item, present, now)
        if taken:
            # A memory that was taken may have been merged with one of ours: others lack the result, so give again.
            self._given_at = None
        return taken

    def _take_version(self, store: MemoryStore, item: SharedMemory, present: Memory | None, now: str) -> bool:
        """Store a version that counts more than what is here; whether that changed anything."""
        if present is not None and PRIVATE in present.metadata.tags:
            # It became private after it was shared: from then on it is this user's alone.
            return False
        if item.version > _MAX_VERSION:
            _log.warning("the team's memory %s is not taken: nobody has changed it that often", item.id[:80])
            return False
        if item.is_deleted:
            return present is not None and _delete(store, present, item.version)
        problems: list[str] = []
        incoming = to_incoming(_parse_record(item.record), ImportDestination(store.scope, now), problems)
        if incoming is None or (incoming.memory.id, incoming.memory.version) != (item.id, item.version):
            # The server's records are untrusted: other clients wrote them.
            _log.warning("the team's memory %s is not taken: %s", item.id[:80], "; ".join(problems) or "it is another")
            return False
        return self._place_version(store, incoming.memory, now)

    def _place_version(self, store: MemoryStore, memory: Memory, now: str) -> bool:
        with store.transaction():
            twin = store.twin(memory)
            if twin is not None and not _may_leave(twin):
                # A private memory here has the same content: it is neither merged with the team's memory nor replaced by it.
                return False
            if twin is not None and comes_first(twin, memory):
                # Both have the same content: all users keep the older one.
                self._superseded.append(SharedMemory(memory.id, memory.version, True, now))
            place_version(store, memory, store.get(memory.id), now)
        return True

    def _give(self, store: MemoryStore) -> int:
        newer = [item for item in _shareable(store) if item.stamp > self._stamps.get(item.id, NOTHING)]
        gone = [
            SharedMemory(version.memory.id, version.memory.version, True, version.replaced_at)
            for version in _list_deleted(store)
            # A memory that was never sent is not deleted there; one that became private stays there as it was.
            if version.memory.id in self._stamps
            and stamp_of_deleted(version) > self._stamps[version.memory.id]
            and PRIVATE not in version.memory.metadata.tags
        ]
        items = [*newer, *gone, *self._superseded]
        for start in range(0, len(items), _MAX_AT_ONCE):
            part = items[start : start + _MAX_AT_ONCE]
            if not self._rights.use(functools.partial(self.shared.put, part)):
                return 0
            self._stamps.update((item.id, item.stamp) for item in part)
        self._superseded.clear()
        return len(items)


def _parse_record(record: str) -> object:
    try:
        return parse_json(record)
    except ValueError:
        return None


def _delete(store: MemoryStore, memory: Memory, version: int) -> bool:
    """Delete a memory as others did. Restoring it makes a later version than theirs."""
    with store.transaction():
        if memory.version < version:
            store.replace(replace(memory, version=version))
        return store.delete(memory.id)


def _list_deleted(store: MemoryStore) -> list[MemoryVersion]:
    return store.deleted(-1)[0]


def _shareable(store: MemoryStore) -> Iterator[SharedMemory]:
    for memory in store.all():
        if _may_leave(memory):
            yield SharedMemory(memory.id, memory.version, False, memory.updated_at, dump_json(to_record(memory)))


def _may_leave(memory: Memory) -> bool:
    """Whether a memory may be shared: none that is private or looks like a secret."""
    if PRIVATE in memory.metadata.tags:
        return False
    try:
        refuse_secrets(memory.content[:MAX_CONTENT], memory.metadata, memory.source_uri, memory.branch)
    except InvalidRequest:
        # The owner stored it with `force`: a decision for the owner, and not for others.
        return False
    return True
