"""One client's open project: its questions, its unsaved documents, the memories that it sees."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable
from dataclasses import replace

from rag_ls import memory
from rag_ls.config import Settings
from rag_ls.embedding import HostedModel
from rag_ls.engine.code.code_memories import CodeMemories
from rag_ls.engine.code.lookup import CodeLookup
from rag_ls.engine.code.places import Places
from rag_ls.engine.code.project_checks import ProjectChecks
from rag_ls.engine.code.project_rules import ProjectRules, SymbolUse
from rag_ls.engine.code.questions import CodeQuestions
from rag_ls.engine.requests import ProjectStatus, Related, SearchRequest
from rag_ls.engine.shared_project import SharedProject
from rag_ls.engine.view_context import ViewContext
from rag_ls.indexing import Buffer, IndexingService
from rag_ls.memory import Memories
from rag_ls.model import Memory, Scope, SearchAnswer
from rag_ls.project import Project
from rag_ls.registry.catalogue import off_branch
from rag_ls.search import NO_FILTERS
from rag_ls.storage import DISK, CheckoutIndex, ChunkRow, MemoryStore
from rag_ls.util.text import without_surrogates

_log = logging.getLogger(__name__)


class ProjectView:
    """One project as one client sees it. Questions wait at most a moment for text that was just typed.

    Safe from several threads.
    """

    def __init__(
        self,
        shared: SharedProject,
        load_settings: Callable[[], Settings],
        user_memories: Callable[[Scope], MemoryStore],
        now: memory.Clock,
        *,
        scratch: bool = False,
    ) -> None:
        """`scratch` marks a project without a folder, whose data is deleted when it is closed."""
        self._load_settings = load_settings
        self._user_memories = user_memories
        self._now = now
        self._scratch = scratch
        self._lock = threading.Lock()
        self._buffers: dict[str, Buffer] = {}
        self._attach(shared)

    def _attach(self, shared: SharedProject) -> None:
        self.shared = shared
        self._context = context = ViewContext(shared, self._load_settings, scratch=self._scratch)
        self._places = Places(context)
        self.code = CodeQuestions(context, self._places)
        self.lookup = CodeLookup(context, self._places, self.code)
        stores: dict[Scope, Callable[[], MemoryStore]] = {
            Scope.PROJECT: shared.memories,
            Scope.SESSION: functools.partial(self._user_memories, Scope.SESSION),
            Scope.GLOBAL: functools.partial(self._user_memories, Scope.GLOBAL),
        }
        self.memories = Memories(
            stores,
            self._now,
            max_session=lambda: self.settings.storage.max_session_memories,
            take_note=shared.take_memory_note,
        )
        self.code_memories = CodeMemories(context, self._places, self.memories)
        self.rules = ProjectRules(context, self._places, self.code_memories, shared.imports)
        self.checks = ProjectChecks(context, shared.imports)

    def move_to(self, shared: SharedProject) -> None:
        """Switch to `shared`, the same project opened anew, and hand the unsaved documents to it."""
        with self._lock:
            self._attach(shared)
            buffers = list(self._buffers.values())
        for buffer in buffers:
            self.buffer_changed(buffer)

    def close(self) -> None:
        """Drop this client's unsaved documents."""
        with self._lock:
            session, self._context.session = self._context.session, DISK
        if session != DISK:
            self.indexing.session_closed(session)
            self.shared.sessions.close(session)

    @property
    def project(self) -> Project:
        """The project's place."""
        return self.shared.project

    @property
    def indexing(self) -> IndexingService:
        """Its background work."""
        return self.shared.indexing

    def model(self, wait_s: float = 0.0) -> HostedModel | None:
        """The model that answers, if it becomes ready within `wait_s` seconds."""
        return self.shared.model(wait_s)

    @property
    def store(self) -> CheckoutIndex:
        """Its index."""
        return self.shared.index.checkout

    @property
    def settings(self) -> Settings:
        """The settings in force for this client."""
        return self._context.settings

    def reload_settings(self) -> None:
        """Read the settings again."""
        self._context.reload_settings()

    # --- documents

    def buffer_changed(self, buffer: Buffer) -> None:
        """Record the editor's new text of a document."""
        buffer = replace(buffer, text=without_surrogates(buffer.text))
        with self._lock:
            self._buffers[buffer.path] = buffer
            if self.shared.is_lost:
                return
            if self._context.session == DISK:
                self._context.session = self.shared.sessions.open().id
            self.indexing.buffer_changed(self._context.session, buffer)

    def buffer_closed(self, path: str) -> None:
        """Record that the editor closed a document."""
        with self._lock:
            self._buffers.pop(path, None)
            if self._context.session != DISK:
                self.indexing.buffer_closed(self._context.session, path)

    def files_changed(self, paths: list[str]) -> None:
        """Record files or folders that any program wrote, created or deleted."""
        self.shared.files_changed(paths)

    def keep_indexed(self) -> None:
        """Index the project, because the client works in it; compare the tree if nothing has watched it."""
        if off_branch(self.settings.index.branch, self.project.root):
            return
        if self.indexing.scanned and not self.shared.sync.problem:
            self.indexing.resume()
        else:
            self.indexing.index_tree()

    # --- questions

    def search(self, request: SearchRequest, *, wait_for_model_s: float = 0.0) -> SearchAnswer:
        """The chunks that answer a question best. Raises `InvalidRequest` for arguments out of range."""
        return self.code.search(request, wait_for_model_s=wait_for_model_s)

    def hover(self, path: str, line: int, word: str = "") -> Related:
        """Memories about the code at a place, and close code of other files; never calls a model."""
        hover = self.settings.hover
        row = self._places.under_cursor(path, line, word) if hover.enabled else None
        if row is None:
            return Related((), ())
        embedding = self.shared.embedding_of(row)
        memories = self.code_memories.near(row, embedding, path, line)
        if embedding is None:
            return Related(tuple(memories), ())
        related = self.shared.searcher.related(
            embedding.vector, k=hover.max_related, model_id=embedding.model.id, filters=NO_FILTERS,
            minimum=hover.min_similarity, without=row.stored.chunk.path, is_saved=row.is_saved, session=self._context.session,
        )  # fmt: skip
        return Related(tuple(memories), related.hits)

    def lenses(self, path: str) -> list[tuple[ChunkRow, list[Memory]]]:
        """The chunks of a document that have memories, with these memories; none if the settings turn lenses off."""
        return self.code_memories.of_document(path) if self.settings.hover.lenses else []

    def use_lenses(self, path: str) -> list[SymbolUse]:
        """How often each exported symbol of a document is used; none if the settings turn lenses off."""
        return self.rules.uses(path) if self.settings.hover.lenses else []

    # --- status

    def status(self) -> ProjectStatus:
        """How much is indexed, and how much is left. Clients ask every second or two: postponed text stays so."""
        if not self.indexing.has_delayed_text:
            self.shared.catch_up()
        # Read in the order in which work moves on, so that work that moves meanwhile is counted twice, not missed.
        scanned, unseen = self.indexing.scanned, self.indexing.unseen()
        counts = self.store.counts()
        model_id, ready, note = self.shared.model_state()
        off = off_branch(self.settings.index.branch, self.project.root)
        # What is told once must not stand in the way of the others, nor be lost behind them.
        notes = (self.shared.exclusions.note, note, self.memories.damage(), self.memories.take_note(), off)
        note = "; ".join(filter(None, notes))
        queued = counts.queued_documents + len(unseen)
        return ProjectStatus(
            root=str(self.project.root), documents=counts.documents, chunks=counts.chunks, queued_documents=queued,
            pending_embeddings=counts.pending_embeddings, coverage=counts.coverage, buffers=counts.buffers,
            skipped=self.store.skipped_counts(),
            complete=scanned and not queued and not counts.pending_embeddings,
            scanned=scanned, model=model_id, model_ready=ready, note=note,
            sync=self.shared.sync_state, last_sync=self.shared.last_sync,
            progress=self.indexing.activity, memories=self.memories.counts(), share_problem=self.shared.share_problem,
        )  # fmt: skip

    def relative(self, path: str) -> str:
        """The path of a document inside the project. Raises `PathOutsideProject`."""
        return self._context.relative(path)
