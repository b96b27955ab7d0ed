"""The memories of an open project: opened when they are first used, embedded, consolidated, exchanged with their copy."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from rag_ls.engine.events import MemoryChange, MemoryChanged
from rag_ls.memory import consolidation
from rag_ls.memory.parts import embed_missing
from rag_ls.memory.project_memories import ProjectMemories
from rag_ls.model import Scope
from rag_ls.storage import MemoryStore, open_memories

if TYPE_CHECKING:
    from rag_ls.engine.open_project import OpenProject

_log = logging.getLogger(__name__)


class OpenMemories:
    """The memories of one open project. Safe from several threads."""

    def __init__(self, project: OpenProject, *, scratch: bool) -> None:
        """A project without a folder (`scratch`) remembers nothing."""
        self._project = project
        self._engine = project.engine
        self.team_problem = ""
        """The reason why the team's memories are not exchanged now; empty if they are, or if none are shared."""
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

    def take_note(self) -> str:
        """The events of the project's memories, in words for the user; told once."""
        return self._memories.take_note() if self._memories is not None else ""

    def exchange(self, *, at_once: bool = False) -> None:
        """Keep the copy of the memories that lies in the project up to date; not too often, unless it is to be `at_once`."""
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
        with self._lock:
            if self._memories is not None:
                self._memories.close(is_lost=is_lost)
            if self._none is not None:
                self._none.close()
