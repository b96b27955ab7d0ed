"""One client's open project: its questions, its unsaved documents, the memories that it sees."""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_ls import memory
from rag_ls.code_memories import CodeMemories
from rag_ls.config import Settings
from rag_ls.embedding import HostedModel
from rag_ls.errors import InvalidRequest, ModelMissing, NotFound, RagLsError
from rag_ls.hosting import HostedProject
from rag_ls.indexing import Buffer, IndexingService
from rag_ls.memory import Memories
from rag_ls.model import Freshness, Hit, Scope, SearchAnswer, SearchStats, StoredChunk
from rag_ls.places import Places
from rag_ls.project import Project, is_guest
from rag_ls.requests import ProjectStatus, Related, SearchRequest, checked_k
from rag_ls.search import NO_FILTERS, Filters, Found
from rag_ls.storage import DISK, ChunkRow, IndexStore, MemoryStore
from rag_ls.text import without_surrogates

_log = logging.getLogger(__name__)

_WORDS_ALONE = "the embedding model is not ready: these are matches by words alone"
_NOTHING_EMBEDDED = "no embeddings are there yet: these are matches by words alone"


class OpenProject:
    """One project as one client sees it. Safe from several threads; questions wait a moment at most for what was just typed."""

    def __init__(
        self,
        hosted: HostedProject,
        load_settings: Callable[[], Settings],
        user_memories: Callable[[Scope], MemoryStore],
        now: memory.Clock,
        *,
        scratch: bool = False,
    ) -> None:
        """`scratch` marks a project of no folder, whose data go when it is closed."""
        self._load_settings = load_settings
        self._user_memories = user_memories
        self._now = now
        self._scratch = scratch
        self._lock = threading.Lock()
        self._buffers: dict[str, Buffer] = {}
        self._attach(hosted)

    def _attach(self, hosted: HostedProject) -> None:
        self.hosted = hosted
        self._settings, self._settings_version = self._load_settings(), hosted.settings_version
        self._session = DISK
        self._places = Places(hosted.store, hosted.searcher, lambda: self._session)
        stores: dict[Scope, Callable[[], MemoryStore]] = {
            Scope.PROJECT: hosted.memories,
            Scope.SESSION: functools.partial(self._user_memories, Scope.SESSION),
            Scope.GLOBAL: functools.partial(self._user_memories, Scope.GLOBAL),
        }
        self.memories = Memories(stores, self._now, max_session=lambda: self.settings.storage.max_session_memories)
        self.code_memories = CodeMemories(
            self.memories,
            hosted,
            self._places,
            lambda: self.settings,
            self.relative,
            lambda: self._session,
            scratch=self._scratch,
        )

    def move_to(self, hosted: HostedProject) -> None:
        """Go on with the same project opened anew, with the same unsaved documents."""
        with self._lock:
            self._attach(hosted)
            buffers = list(self._buffers.values())
        for buffer in buffers:
            self.buffer_changed(buffer)

    def close(self) -> None:
        """Let go of this client's unsaved documents."""
        with self._lock:
            session, self._session = self._session, DISK
        if session != DISK:
            self.indexing.session_closed(session)
            self.hosted.sessions.close(session)

    @property
    def project(self) -> Project:
        """Where it is."""
        return self.hosted.project

    @property
    def indexing(self) -> IndexingService:
        """Its background work."""
        return self.hosted.indexing

    @property
    def store(self) -> IndexStore:
        """Its index."""
        return self.hosted.store

    @property
    def settings(self) -> Settings:
        """The settings in force for this client, read again when the project's file changes."""
        version = self.hosted.settings_version
        if version != self._settings_version:
            self._settings, self._settings_version = self._load_settings(), version
        return self._settings

    def reload_settings(self) -> None:
        """Read the settings again."""
        self._settings = self._load_settings()

    # --- documents

    def buffer_changed(self, buffer: Buffer) -> None:
        """This client's editor holds this text of a document."""
        buffer = replace(buffer, text=without_surrogates(buffer.text))
        with self._lock:
            self._buffers[buffer.path] = buffer
            if self.hosted.is_lost:
                return
            if self._session == DISK:
                self._session = self.hosted.sessions.open().id
            self.indexing.buffer_changed(self._session, buffer)

    def buffer_closed(self, path: str) -> None:
        """This client's editor let go of a document."""
        with self._lock:
            self._buffers.pop(path, None)
            if self._session != DISK:
                self.indexing.buffer_closed(self._session, path)

    def files_changed(self, paths: list[str]) -> None:
        """Files or folders were written, created or deleted, by this or another program."""
        self.hosted.files_changed(paths)

    def keep_indexed(self) -> None:
        """Somebody works in this project: have it indexed, and compared where nothing has watched it."""
        if self.indexing.scanned and not self.hosted.sync.problem:
            self.indexing.resume()
        else:
            self.indexing.index_tree()

    # --- questions

    def search(self, request: SearchRequest, *, wait_for_model_s: float = 0.0) -> SearchAnswer:
        """The chunks that answer a question best. Raises `InvalidRequest` for arguments out of range."""
        started = time.perf_counter()
        k = checked_k(request.k, self.settings.search.code_k)
        unseen = self.hosted.catch_up()
        model = self.hosted.model(wait_for_model_s)
        vector = _embedded(model, request.query)
        found = self.hosted.searcher.search(
            request.query, k=k, settings=self.settings.search, filters=request.filters,
            vector=vector, model_id=model.model_id if model else "", session=self._session,
        )  # fmt: skip
        found = replace(found, hits=tuple(hit for hit in found.hits if hit.score >= request.min_score))
        return self._answer(request.query, found, started, unseen)

    def find_related(
        self, *, path: str = "", line: int = 0, symbol: str = "", snippet: str = "", k: int | None = None,
        minimum: float = 0.0, filters: Filters = NO_FILTERS,
    ) -> SearchAnswer:  # fmt: skip
        """The code closest to a place, a symbol or a snippet; only a snippet needs the model.

        Raises `InvalidRequest` where none or an impossible place is given, `NotFound` where the index has no such place.
        """
        started = time.perf_counter()
        count = checked_k(k, self.settings.search.code_k)
        unseen = self.hosted.catch_up()
        if snippet:
            model = self.hosted.model(10.0)
            if model is None:
                raise ModelMissing(
                    "a snippet needs the embedding model, which is not ready; give path and line instead"
                )
            model_id, vector, without, asked = model.model_id, model.embed_query(snippet), "", snippet
        else:
            row = self._row_of(path, line, symbol)
            without, asked = row.stored.chunk.path, row.stored.chunk.symbol or f"{row.stored.chunk.path}:{line}"
            embedding = self.store.embeddings.vector(row.embedding_id)
            if embedding is None:
                found = Found((), False, 0, 0.0)
                return self._answer(
                    asked, found, started, unseen, "that place has no embedding yet; ask again in a moment"
                )
            model_id, vector = embedding
        found = self.hosted.searcher.related(
            vector, k=count, model_id=model_id, filters=filters, minimum=minimum, without=without,
            session=self._session,
        )  # fmt: skip
        return self._answer(asked, found, started, unseen)

    def hover(self, path: str, line: int, word: str = "") -> Related:
        """Memories about the code at a place, and close code of other files; never calls a model."""
        row = self._places.under_cursor(path, line, word)
        if row is None:
            return Related((), ())
        hover = self.settings.hover
        embedding = self.store.embeddings.vector(row.embedding_id)
        memories = self.code_memories.near(row, embedding)
        if embedding is None:
            return Related(tuple(memories), ())
        related = self.hosted.searcher.related(
            embedding[1], k=hover.max_related, model_id=embedding[0], filters=NO_FILTERS,
            minimum=hover.min_similarity, without=row.stored.chunk.path, session=self._session,
        )  # fmt: skip
        return Related(tuple(memories), related.hits)

    def get_chunk(self, chunk_id: str) -> Hit:
        """A chunk by its id, as it is now. Raises `NotFound`."""
        unseen = self.hosted.catch_up()
        hit = self.hosted.searcher.chunk_hit(chunk_id.strip(), self._session)
        if hit is None:
            raise NotFound(
                f"no chunk has the id {chunk_id!r} now; its code was edited or removed: search_code finds it again"
            )
        return self._marked(hit, unseen | self.indexing.unseen())

    # --- status

    def status(self) -> ProjectStatus:
        """How much is indexed, and what is still to do."""
        self.hosted.catch_up()
        # In the order in which work moves on: what moves meanwhile is counted twice rather than not at all.
        scanned, unseen = self.indexing.scanned, self.indexing.unseen()
        counts = self.store.counts()
        model_id, ready, note = self.hosted.model_state()
        note = note or self.memories.damage()
        skipped: dict[str, int] = {}
        for item in self.store.skipped().values():
            skipped[item.reason] = skipped.get(item.reason, 0) + 1
        queued = counts.queued_documents + len(unseen)
        return ProjectStatus(
            root=str(self.project.root), documents=counts.documents, chunks=counts.chunks, queued_documents=queued,
            pending_embeddings=counts.pending_embeddings, buffers=counts.buffers, skipped=dict(sorted(skipped.items())),
            complete=scanned and not queued and not counts.pending_embeddings,
            scanned=scanned, model=model_id, model_ready=ready, note=note,
            sync=self.hosted.sync_state, last_sync=self.hosted.last_sync,
            progress=self.indexing.progress, memories=self.memories.counts(),
        )  # fmt: skip

    def _answer(
        self, query: str, found: Found, started: float, unseen_before: frozenset[str], note: str = ""
    ) -> SearchAnswer:
        scanned, unseen = self.indexing.scanned, self.indexing.unseen() | unseen_before
        queued, pending = self.store.queue_lengths()
        hits = tuple(self._marked(hit, unseen) for hit in found.hits)
        if not note and not found.dense:
            _, is_ready, problem = self.hosted.model_state()
            note = problem or (_NOTHING_EMBEDDED if is_ready else _WORDS_ALONE)
        stats = SearchStats(
            took_ms=_milliseconds(started), dense=found.dense, candidates=found.candidates,
            complete=scanned and not (queued or pending or unseen),
            pending_documents=queued + len(unseen), pending_embeddings=pending, note=note,
        )  # fmt: skip
        return SearchAnswer(query, hits, stats)

    def _marked(self, hit: Hit, unseen: frozenset[str]) -> Hit:
        """The hit as `changed` where newer text of its document is known but not cut yet."""
        path = hit.item.chunk.path if isinstance(hit.item, StoredChunk) else ""
        return replace(hit, freshness=Freshness.CHANGED) if path in unseen else hit

    def _row_of(self, path: str, line: int, symbol: str) -> ChunkRow:
        if path:
            return self._places.at(self.relative(path), line, symbol)
        if symbol:
            return self._places.of_symbol(symbol)
        raise InvalidRequest("give a path with a line, a symbol, or a snippet")

    def relative(self, path: str) -> str:
        """The path of a document inside the project. Raises `PathOutsideProject`."""
        is_uri = is_guest(path) and not Path(path).is_absolute()
        return path if is_uri or self.indexing.is_open(self._session, path) else self.project.relative(path)


def _embedded(model: HostedModel | None, text: str) -> NDArray[np.float32] | None:
    """The text's vector; None where words alone must do."""
    if model is None or not text.strip():
        return None
    try:
        return model.embed_query(text)
    except RagLsError as error:
        _log.warning("%s", error)
        return None


def _milliseconds(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
