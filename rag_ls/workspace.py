"""One open project: its store, its background work, its searches and its memories, wired together."""

from __future__ import annotations

import functools
import logging
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from rag_ls import memory
from rag_ls.chunking import Budget, approximate_token_offsets
from rag_ls.config import Settings
from rag_ls.embedding import HostedModel, LocatedModel, ModelHost, token_offsets
from rag_ls.errors import IndexUnavailable, InvalidRequest, ModelMissing, NotFound, ProjectUnavailable, RagLsError
from rag_ls.indexing import (
    SCANNED,
    Buffer,
    Cutting,
    DocumentIndexer,
    EditingSession,
    IndexingService,
    admitted,
    freshness,
    scan,
)
from rag_ls.memory import Memories
from rag_ls.model import Anchor, Freshness, Hit, Memory, Scope, SearchAnswer, SearchStats, StoredChunk
from rag_ls.places import Places
from rag_ls.project import CONFIG_FILE, Project, is_guest
from rag_ls.requests import ProjectStatus, Related, SearchRequest, checked_k
from rag_ls.search import NO_FILTERS, Filters, Found, Searcher
from rag_ls.storage import INDEX_FILE, MEMORIES_FILE, ChunkRow, DocumentRecord, IndexStore, MemoryStore
from rag_ls.text import without_surrogates

_log = logging.getLogger(__name__)

# Room in the model's window for the header that is embedded before a chunk's text.
_HEADER_TOKENS = 32
# A search waits so long for text that was just typed to be cut; longer, and it is marked `changed`.
_SETTLE_S = 0.3
# So many changed files are waited for.
_FEW_FILES = 20
_WORDS_ALONE = "the embedding model is not ready: these are matches by words alone"
_NOTHING_EMBEDDED = "no embeddings are there yet: these are matches by words alone"
# Files that decide which others are indexed.
_RULE_FILES = (".gitignore", ".ragignore", CONFIG_FILE)


class OpenProject:
    """Everything of one open project. Safe from several threads; questions wait a moment at most for what was just typed."""

    def __init__(
        self,
        project: Project,
        load_settings: Callable[[], Settings],
        models: ModelHost,
        user_memories: Callable[[Scope], MemoryStore],
        now: memory.Clock,
        *,
        scratch: bool = False,
    ) -> None:
        """`scratch` marks a project of no folder, whose data go when it is closed.

        Raises `ProjectUnavailable` or `IndexUnavailable` where the data folder cannot be used.
        """
        self.project = project
        self._load_settings = load_settings
        self.settings = settings = load_settings()
        self._scratch = scratch
        self._models = models
        folder = project.create_data_folder()
        try:
            self.store = IndexStore(folder / INDEX_FILE)
        except sqlite3.Error as error:
            raise IndexUnavailable(f"{folder / INDEX_FILE} cannot be opened: {error}") from error
        try:
            self._session = EditingSession(folder)
        except OSError as error:
            raise ProjectUnavailable(f"{folder} cannot be written: {error}; make it writable for you") from error
        self._admissions: dict[str, bool] = {}
        cutting = _cutting(settings, models)
        self.documents = DocumentIndexer(project, self.store, cutting, max_file_bytes=settings.index.max_file_bytes)
        self.indexing = IndexingService(
            self.documents,
            self.store,
            self._session,
            models,
            FileLock(folder / "index.lock", mode=0o600, thread_local=False),
            functools.partial(_scan, self, f"{cutting.fingerprint}:{settings.index.max_file_bytes}"),
            self._admitted,
        )
        self._searcher = Searcher(self.store, folder, self._session.id, self._session.is_live, self._freshness)
        self._places = Places(self.store, self._searcher)
        self._project_memories: MemoryStore | None = None
        self._memories_path = folder / MEMORIES_FILE
        stores: dict[Scope, Callable[[], MemoryStore]] = {
            Scope.PROJECT: self._open_memories,
            Scope.SESSION: functools.partial(user_memories, Scope.SESSION),
            Scope.GLOBAL: functools.partial(user_memories, Scope.GLOBAL),
        }
        self.memories = Memories(stores, now)
        self.indexing.start()
        # Loads in the background, so that the first question finds it ready.
        self._model(0.0)

    def close(self) -> None:
        """Stop the background work and close the files; unsaved text goes with its session."""
        self.indexing.stop()
        try:
            self.store.remove_session(self._session.id)
        except sqlite3.Error as error:
            _log.info("unsaved text stays until the next start: %s", error)
        self._session.close()
        self.store.close()
        if self._project_memories is not None:
            self._project_memories.close()

    @property
    def never_indexed(self) -> bool:
        """Whether the index was just made, and its files were never looked at."""
        return self.store.meta(SCANNED) is None

    # --- documents

    def buffer_changed(self, buffer: Buffer) -> None:
        """An editor holds this text of a document."""
        self.indexing.buffer_changed(replace(buffer, text=without_surrogates(buffer.text)))

    def buffer_closed(self, path: str) -> None:
        """An editor let go of a document."""
        self.indexing.buffer_closed(path)

    def files_changed(self, paths: list[str]) -> None:
        """Files or folders were written, created or deleted, by this or another program."""
        files = set(paths)
        for path in paths:
            if (self.project.root / path).is_dir():
                files.discard(path)
                self.indexing.rescan()
        if any(path.rsplit("/", 1)[-1] in _RULE_FILES for path in paths):
            self.settings = self._load_settings()
            self.forget_admissions()
            self.indexing.rescan()
        gone = tuple(path + "/" for path in paths if not (self.project.root / path).exists())
        if gone:
            files.update(path for path in self.store.documents() if path.startswith(gone))
        self.indexing.files_changed(sorted(files))

    # --- questions

    def search(self, request: SearchRequest, *, wait_for_model_s: float = 0.0) -> SearchAnswer:
        """The chunks that answer a question best. Raises `InvalidRequest` for arguments out of range."""
        started = time.perf_counter()
        k = checked_k(request.k, self.settings.search.k)
        unseen = self._catch_up()
        model = self._model(wait_for_model_s)
        vector = _embedded(model, request.query)
        found = self._searcher.search(
            request.query, k=k, settings=self.settings.search, filters=request.filters,
            vector=vector, model_id=model.model_id if model else "",
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
        count = checked_k(k, self.settings.search.k)
        unseen = self._catch_up()
        if snippet:
            model = self._model(10.0)
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
        found = self._searcher.related(
            vector, k=count, model_id=model_id, filters=filters, minimum=minimum, without=without
        )
        return self._answer(asked, found, started, unseen)

    def hover(self, path: str, line: int, word: str = "") -> Related:
        """Memories about the code at a place, and close code of other files; never calls a model."""
        row = self._places.under_cursor(path, line, word)
        if row is None:
            return Related((), ())
        hover = self.settings.hover
        embedding = self.store.embeddings.vector(row.embedding_id)
        memories = self._hover_memories(row, embedding)
        if embedding is None:
            return Related(tuple(memories), ())
        related = self._searcher.related(
            embedding[1], k=hover.max_related, model_id=embedding[0], filters=NO_FILTERS,
            minimum=hover.min_similarity, without=row.stored.chunk.path,
        )  # fmt: skip
        return Related(tuple(memories), related.hits)

    def _hover_memories(self, row: ChunkRow, embedding: tuple[str, NDArray[np.float32]] | None) -> list[Hit]:
        """Memories anchored to a chunk, then those close to it."""
        hover = self.settings.hover
        found = self._memories_about(row)
        if embedding is not None:
            known = {hit.item.id for hit in found}
            near = self.memories.near(
                embedding[1], embedding[0], memory.ALL, k=hover.max_memories, min_similarity=hover.min_similarity
            )
            found += [hit for hit in near if hit.item.id not in known]
        return found[: hover.max_memories]

    def get_chunk(self, chunk_id: str) -> Hit:
        """A chunk by its id, as it is now. Raises `NotFound`."""
        unseen = self._catch_up()
        hit = self._searcher.chunk_hit(chunk_id.strip())
        if hit is None:
            raise NotFound(
                f"no chunk has the id {chunk_id!r} now; its code was edited or removed: search_code finds it again"
            )
        return self._marked(hit, unseen | self.indexing.unseen())

    # --- memories

    def remember(self, new: memory.NewMemory, *, line: int = 0, symbol: str = "") -> memory.Stored:
        """Store a memory, anchored to the code at `line` or to `symbol` of its source file where one is given.

        Raises `InvalidRequest` for the project scope where no project is open, and for a place that the code has not.
        """
        if self._scratch and new.scope is Scope.PROJECT:
            raise InvalidRequest("no project is open, so there is none to remember for; use scope global or session")
        return self.memories.store(
            replace(new, anchor=self._anchor(new.metadata.source_file, line, symbol)), self._model(0.0)
        )

    def recall(
        self, query: str, filters: memory.MemoryFilters, *, k: int | None = None, min_similarity: float | None = None,
        wait_for_model_s: float = 0.0,
    ) -> SearchAnswer:  # fmt: skip
        """The memories that fit a query best."""
        started = time.perf_counter()
        count = checked_k(k, self.settings.memory.k)
        minimum = self.settings.memory.min_similarity if min_similarity is None else min_similarity
        model = self._model(wait_for_model_s)
        hits = self.memories.search(query, filters, model, k=count, min_similarity=minimum)
        hits = [replace(hit, item=self.with_anchor_state(_as_memory(hit))) for hit in hits]
        note = self.memories.damage() or ("" if model else _WORDS_ALONE)
        stats = SearchStats(_milliseconds(started), model is not None, len(hits), complete=True, note=note)
        return SearchAnswer(query, tuple(hits), stats)

    def with_anchor_state(self, item: Memory) -> Memory:
        """The memory with its anchor as the code stands now."""
        if item.anchor is None:
            return item
        return replace(item, anchor=memory.resolved(item.anchor, self.store, self._searcher.hidden_documents()))

    # --- status

    def status(self) -> ProjectStatus:
        """How much is indexed, and what is still to do."""
        self._catch_up()
        # In the order in which work moves on: what moves meanwhile is counted twice rather than not at all.
        scanned, unseen = self.indexing.scanned, self.indexing.unseen()
        counts = self.store.counts()
        model_id, ready, note = self._model_state()
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
            progress=self.indexing.progress, memories=self.memories.counts(),
        )  # fmt: skip

    def forget_admissions(self) -> None:
        """Ask the ignore rules again which files may be indexed."""
        self._admissions.clear()

    def maintain(self) -> None:
        """Background upkeep after indexing: a vector snapshot where one pays."""
        self._searcher.maintain()

    def _answer(
        self, query: str, found: Found, started: float, unseen_before: frozenset[str], note: str = ""
    ) -> SearchAnswer:
        scanned, unseen = self.indexing.scanned, self.indexing.unseen() | unseen_before
        queued, pending = self.store.queue_lengths()
        hits = tuple(self._marked(hit, unseen) for hit in found.hits)
        if not note and not found.dense:
            _, is_ready, problem = self._model_state()
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

    def _freshness(self, document: DocumentRecord) -> Freshness | None:
        found = freshness(document, self.project, self.store, self.documents)
        if found in (None, Freshness.CHANGED):
            self.indexing.files_changed([document.path])
        return found

    def _catch_up(self) -> frozenset[str]:
        """Give what was just typed, and what changed on disk, a moment to be taken in; what is still unseen then."""
        deadline = time.monotonic() + _SETTLE_S
        is_old = self.indexing.scan_is_old
        if is_old:
            # Not every client tells of the files that other programs write.
            self.indexing.rescan()
        while (self.indexing.unseen() or self.indexing.rescanning) and time.monotonic() < deadline:
            time.sleep(0.005)
        while is_old and 0 < self.store.queue_lengths()[0] <= _FEW_FILES and time.monotonic() < deadline:
            time.sleep(0.005)
        return self.indexing.unseen()

    def _model(self, wait_s: float) -> HostedModel | None:
        """The model whose vectors the index answers with, if it is ready."""
        model_id = self.store.embeddings.active_model()
        if not model_id:
            try:
                model_id = self._models.configured().id
            except ModelMissing:
                return None
        return self._models.wait(model_id, wait_s) if wait_s else self._models.get(model_id)

    def _model_state(self) -> tuple[str, bool, str]:
        """The answering model's id, whether it is ready, and what to say about it."""
        try:
            configured = self._models.configured().id
        except ModelMissing as error:
            return "", False, str(error)
        active = self.store.embeddings.active_model() or configured
        state = self._models.state(active)
        if not state.ready and not state.error:
            self._models.get(active)
        note = state.error or (
            f"re-embedding with {configured}; {active} answers until then" if active != configured else ""
        )
        return active, state.ready, note

    def _row_of(self, path: str, line: int, symbol: str) -> ChunkRow:
        if path:
            return self._places.at(self.relative(path), line, symbol)
        if symbol:
            return self._places.of_symbol(symbol)
        raise InvalidRequest("give a path with a line, a symbol, or a snippet")

    def relative(self, path: str) -> str:
        """The path of a document inside the project. Raises `PathOutsideProject`."""
        is_uri = is_guest(path) and not Path(path).is_absolute()
        return path if is_uri or self.indexing.is_open(path) else self.project.relative(path)

    def _memories_about(self, row: ChunkRow) -> list[Hit]:
        """Memories whose anchor is in this chunk."""
        chunk = row.stored.chunk
        hits = []
        for item in map(self.with_anchor_state, self.memories.anchored()):
            anchor = item.anchor
            if anchor is None or anchor.path != chunk.path:
                continue
            if (anchor.symbol and anchor.symbol == chunk.symbol) or anchor.content_hash == row.stored.content_hash:
                hits.append(Hit(item, 1.0, ("anchor",)))
        return hits

    def _anchor(self, source_file: str | None, line: int, symbol: str) -> Anchor | None:
        if not source_file:
            return None
        self._catch_up()
        return self._places.anchor(self.relative(source_file), line, symbol)

    def _admitted(self, paths: list[str]) -> set[str]:
        unknown = [path for path in paths if path not in self._admissions]
        if unknown:
            kept = admitted(self.project.root, unknown, self.settings.index.exclude)
            self._admissions.update((path, path in kept) for path in unknown)
        return {path for path in paths if self._admissions[path]}

    def _open_memories(self) -> MemoryStore:
        if self._project_memories is None:
            self._project_memories = MemoryStore(self._memories_path, Scope.PROJECT)
        return self._project_memories


def _embedded(model: HostedModel | None, text: str) -> NDArray[np.float32] | None:
    """The text's vector; None where words alone must do."""
    if model is None or not text.strip():
        return None
    try:
        return model.embed_query(text)
    except RagLsError as error:
        _log.warning("%s", error)
        return None


def _scan(opened: OpenProject, fingerprint: str, give_way: Callable[[], None]) -> None:
    opened.forget_admissions()
    scan(
        opened.project,
        opened.store,
        exclude=opened.settings.index.exclude,
        fingerprint=fingerprint,
        is_fresh=lambda document: freshness(document, opened.project, opened.store, opened.documents) is Freshness.DISK,
        give_way=give_way,
    )


def _cutting(settings: Settings, models: ModelHost) -> Cutting:
    sizes = settings.chunking
    try:
        model: LocatedModel | None = models.configured()
    except ModelMissing:
        model = None
    largest = min(sizes.max_chunk_size, model.max_tokens - _HEADER_TOKENS) if model else sizes.max_chunk_size
    budget = Budget(largest, min(sizes.min_chunk_size, largest), min(sizes.overlap, largest // 2))
    if model is None:
        return Cutting(budget, approximate_token_offsets, "approximate")
    return Cutting(budget, functools.partial(token_offsets, model.tokenizer_file), model.id)


def _as_memory(hit: Hit) -> Memory:
    assert isinstance(hit.item, Memory)
    return hit.item


def _milliseconds(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
