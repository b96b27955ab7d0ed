"""The memories of an open project: opened at their first use, embedded, consolidated, exchanged with their copy, and watched for moves."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING

from rag_ls import memory
from rag_ls.engine.events import MemoryChange, MemoryChanged
from rag_ls.engine.memory_folder import ProjectMemoryFolder
from rag_ls.errors import InvalidRequest, StoreError
from rag_ls.memory import MemoryInbox, ProjectMemories, consolidation, embed_missing, open_inbox
from rag_ls.model import Anchor, Scope
from rag_ls.storage import CheckoutIndex, MemoryStore, open_memories

if TYPE_CHECKING:
    from rag_ls.engine.open_project import OpenProject

_log = logging.getLogger(__name__)


class OpenMemories:
    """The memories of one open project. Safe from several threads."""

    def __init__(self, project: OpenProject, *, scratch: bool) -> None:
        """A project without a folder (`scratch`) remembers nothing."""
        self._project = project
        self._engine = project.engine
        self.files = ProjectMemoryFolder(project)
        self._lock = threading.Lock()
        self._memories: ProjectMemories | None = None
        self._none = open_memories(None, Scope.PROJECT, project.settings) if scratch else None
        self._consolidated_at: tuple[int, str, int] | None = None

    @property
    def opened(self) -> MemoryStore | None:
        """The store, if it was opened: while it never was, no client shows a memory."""
        return self._memories.store if self._memories is not None else None

    def store(self) -> MemoryStore:
        """The store, opened when it is first used. Raises `StoreUnavailable`."""
        if self._none is not None:
            return self._none
        with self._lock:
            if self._memories is not None and not self._project.is_closed:
                is_lost = self._memories.is_lost
                if is_lost or self._memories.is_elsewhere:
                    self._memories.close(is_lost=is_lost)
                    self._memories = None
            if self._memories is None:
                self._memories = ProjectMemories(
                    self._project.folder, self._project.settings, self._engine.memory_homes, self._engine.connections
                )
            self._memories.take_in_trusted()
            return self._memories.store

    def open_inbox(self) -> AbstractContextManager[MemoryInbox]:
        """The proposals that wait beside the memories, as long as they are used. Raises `StoreUnavailable`."""
        store = self.store()
        if self._memories is None:
            raise InvalidRequest("no project is open here, so nothing is proposed: name one with project")
        return open_inbox(self._memories.folder, store, self._project.settings, memory.utc_now())

    def take_note(self) -> str:
        """The events of the project's memories, in words for the user; told once."""
        return self._memories.take_note() if self._memories is not None else ""

    def exchange_files(self) -> None:
        """Keep the memories' files up to date, where the settings name a folder for them."""
        if self.files.is_wanted and not self._project.is_closed and self._none is None:
            self.files.exchange(self.store(), self.open_inbox)

    def exchange(self, *, at_once: bool = False) -> None:
        """Keep the memories' files and their copy in the project up to date; the copy not too often, unless `at_once`."""
        self.exchange_files()
        with self._lock:
            if self._memories is not None and not self._project.is_closed and not self._project.index.file.is_lost:
                self._memories.exchange() if at_once else self._memories.exchange_if_due()

    def embed(self) -> None:
        """Embed a batch of memories that have no vectors yet; an import or a new model leaves many.

        Those of a model that is to take over are made before it does, so that no memory is found by its words alone then.
        """
        store = self.opened
        if store is None or (model := self._project.model()) is None:
            return
        if not model.has_failed:
            embed_missing(store, model)
        for successor in self._engine.models.loaded():
            if not successor.has_failed and successor.model_id == self._engine.models.configured_id != model.model_id:
                embed_missing(store, successor)

    def consolidate_if_wanted(self, now: Callable[[], datetime]) -> None:
        """Merge memories that say the same, if the settings ask for it and a memory changed since the last time."""
        settings = self._project.settings.consolidation
        if not settings.auto_consolidate or (model := self._project.model()) is None:
            return
        store = self.store()
        # Read the number first, so that memories stored meanwhile are merged the next time.
        newest = store.vectors.newest()
        if newest == self._consolidated_at:
            return
        plan, _ = consolidation.consolidate(store, model, settings.similarity_threshold, now())
        if plan.merges:
            _log.info("%s: %d groups of memories were merged", self._project.root, len(plan.merges))
            self._engine.events.tell(MemoryChanged(MemoryChange.CHANGED, "engine", self._project.root))
        self._consolidated_at = newest

    def close(self, *, is_lost: bool) -> None:
        """Close the store. Where the project `is_lost`, nothing is written to its folder any more."""
        if self.files.is_wanted and self._memories is not None and not is_lost:
            self.files.exchange(self._memories.store, self.open_inbox)
        self.files.close()
        with self._lock:
            if self._memories is not None:
                self._memories.close(is_lost=is_lost)
            if self._none is not None:
                self._none.close()


_Place = tuple[str, int, str]


class AnchorWatch:
    """Compares the present places of memory anchors with their former ones. Safe from several threads."""

    def __init__(self, checkout: CheckoutIndex) -> None:
        self._checkout = checkout
        self._cache = memory.CodeCache()
        self._lock = threading.Lock()
        self._places: dict[str, _Place] = {}

    def find_moved(self, memories: MemoryStore, path: str) -> tuple[str, ...]:
        """The ids of the memories about a document whose code has moved or changed since the last call."""
        moved, anchoring = [], memory.Anchoring(self._checkout, cache=self._cache)
        for item in memories.about(path, (), ()):
            if item.anchor is None:
                continue
            # Resolve in the saved file, which all clients share; the lenses of each editor follow its own text.
            now = _find_place(item.anchor, anchoring)
            with self._lock:
                before = self._places.get(item.id, _place_of(item.anchor))
                self._places[item.id] = now
            if now != before:
                moved.append(item.id)
        return tuple(moved)


def _find_place(anchor: Anchor, anchoring: memory.Anchoring) -> _Place:
    try:
        return _place_of(anchoring.resolve(anchor))
    except StoreError:
        raise
    except Exception as error:
        # A damaged anchor must not keep those of other memories from being followed.
        _log.info("the place of a memory, %s, cannot be told: %r", anchor.path[:200], error)
        return _place_of(anchor)


def _place_of(anchor: Anchor) -> _Place:
    return anchor.path, anchor.start_line, anchor.state.value


# Longer than an agent thinks between two questions. The first question after a rest takes some milliseconds more.
REST_S = 15.0


def close_unused(store: MemoryStore) -> bool:
    """Close the files of a store that was not used for a while; whether it rests now.

    A store that rests has no memories to embed. One that another process wrote meanwhile may have some, and does not rest.
    """
    return store.unused_s >= REST_S and not store.was_written and store.let_go()
