"""One project as all its clients share it: its store, background work, searcher and memories."""

from __future__ import annotations

import itertools
import logging
import os
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from filelock import FileLock

from rag_ls.config import Settings, TakesEffect, effects_of
from rag_ls.embedding import Embedding, HostedModel
from rag_ls.engine.code.project_roles import ProjectImports, ProjectRoles
from rag_ls.engine.events import AnchorsMoved, DocumentIndexed
from rag_ls.engine.open_memories import REST_S, AnchorWatch, OpenMemories
from rag_ls.engine.opening import make_cutting, open_project_index
from rag_ls.engine.project_status import Exclusions
from rag_ls.errors import ProjectUnavailable, StoreUnavailable
from rag_ls.history import ProjectHistory
from rag_ls.indexing import (
    MAX_AWAITED_FILES,
    Admissions,
    DocumentIndexer,
    EditingSessions,
    IndexingService,
    PathSet,
    TreeSync,
    is_all_known,
    is_ignore_file,
    reason_to_wait,
    scan_tree,
)
from rag_ls.model import Freshness
from rag_ls.project import Project, is_guest
from rag_ls.search import Roles, Searcher
from rag_ls.storage import (
    SCANNED,
    ChunkRow,
    DocumentRecord,
    IndexCounts,
    SharedVectors,
    VectorLender,
    vector_lenders,
)
from rag_ls.util.files import remedy_for
from rag_ls.util.text import utc_stamp

if TYPE_CHECKING:
    from rag_ls.engine.engine import Engine
    from rag_ls.rules import ProjectSurvey

_log = logging.getLogger(__name__)

# A question waits this long for others' text and files to be cut; hits in what takes longer are marked `changed`.
_SETTLE_S = 0.3
# The longest pause between two batches of commits while questions are being answered.
_HISTORY_GIVES_WAY_S = 0.2
_HISTORY_WAITS_FOR_MODEL_S = 30.0
_UNSEEN = "the files are not watched: what was written in the last seconds may be missing"
_COMPARED_S = 3.0
_MAX_LENDERS = 20


class OpenProject:
    """One project of an engine, for any number of clients. Safe from several threads."""

    def __init__(
        self, folder: Project, load_settings: Callable[[], Settings], engine: Engine, *, scratch: bool = False
    ) -> None:
        """`scratch` marks a project without a folder, which remembers nothing.

        Raises `ProjectUnavailable` or `StoreUnavailable` where the data folder cannot be used.
        """
        self.folder = folder
        self.root = folder.root
        self.name = folder.name
        self.engine = engine
        self._load_settings = load_settings
        self.settings = settings = load_settings()
        self._versions = itertools.count(1)
        self.settings_version = 0
        self.is_unseen = False
        """Whether nobody watches the files, and the last question came a while after they were compared."""
        self.last_survey: tuple[str, ProjectSurvey] | None = None
        """The survey that set-up has shown, after a digest of the files: it writes the same while they are as they were."""
        self.cutters = engine.cutters
        data_folder, self.index = open_project_index(self.folder, settings, engine)
        try:
            self.sessions = EditingSessions(data_folder)
        except OSError as error:
            self.index.close()
            remedy = remedy_for(error, "make it writable for you")
            raise ProjectUnavailable(f"{data_folder} cannot be written: {error}; {remedy}") from error
        self.exclusions = Exclusions(folder, self.index.checkout)
        self.exclusions.update(settings)
        self.admissions = Admissions(self.root, self.index.checkout, lambda: self.exclusions.patterns)
        cutting = make_cutting(settings, self.engine.models)
        self.documents = DocumentIndexer(folder, self.index.checkout, cutting, self.cutters, self._documents_indexed)
        self._anchor_watch = AnchorWatch(self.index.checkout)
        self.indexing = IndexingService(
            self,
            self.engine.models,
            FileLock(data_folder / "index.lock", mode=0o600, thread_local=False),
            sweep_s=60 * settings.index.sweep_minutes,
        )
        self.sync = TreeSync(self.root, self.indexing, self.admissions, self.files_changed, engine.change_sources)
        self.searcher = Searcher(self.index, self, engine.counts)
        self.imports = ProjectImports(self.root, self.index.checkout)
        self.history = ProjectHistory(
            self.root, self.index.checkout.commits, lambda: self.settings.history.authors,
            lambda: self.let_questions_pass(_HISTORY_GIVES_WAY_S), self._find_history_model,
        )  # fmt: skip
        self._roles = ProjectRoles(self.index.checkout, self.imports)
        self.is_closed = False
        """Whether it was closed, or is being closed."""
        self.memories = OpenMemories(self, scratch=scratch)
        self.indexing.start()
        if not self.never_indexed:
            # Load the model in the background, so that the first question finds it. During a first index, that needs the
            # processor.
            self.model()

    def close(self) -> None:
        """Stop the background work, drop unsaved text with its sessions, and close the files."""
        self.is_closed = True
        self.sync.close()
        self.history.close()
        self.indexing.stop()
        for session in self.sessions.list_own():
            try:
                self.index.checkout.remove_session(session)
            except StoreUnavailable as error:
                _log.info("unsaved text stays until the next start: %s", error)
            self.sessions.close(session)
        is_lost = self.index.file.is_lost
        self.index.close()
        self.memories.close(is_lost=is_lost)

    @property
    def is_lost(self) -> bool:
        """Whether the opened folder or index cannot be used any more: deleted, moved, damaged or closed."""
        return self.is_closed or self.index.file.is_lost

    @property
    def never_indexed(self) -> bool:
        """Whether the index is new and the project's files were never scanned."""
        return self.index.checkout.meta(SCANNED) is None

    def close_unused(self) -> bool:
        """Let go of files, threads and caches if nothing was asked, typed or changed for a while; whether it rests now.

        No call wakes it: the next use opens what it needs.
        """
        memories = self.memories.opened
        stores = (self.index,) if memories is None else (self.index, memories)
        if self.is_closed or min(self.indexing.idle_s, *(store.unused_s for store in stores)) < REST_S:
            return False
        if self.indexing.has_due_work or any(store.was_written for store in stores):
            self.indexing.look_again()
            return False
        if not self.indexing.end_threads():
            return False
        self.searcher.forget()
        self.index.checkout.forget_kept()
        self.imports.forget()
        self.admissions.forget()
        # Call each of them, even if one is still in use.
        return not [store for store in stores if not store.let_go()]

    # --- files and settings

    def use_settings(self, load_settings: Callable[[], Settings]) -> None:
        """Apply settings from another source; documents are cut again if cutting settings differ."""
        self._load_settings = load_settings
        self.settings_changed()

    def settings_changed(self) -> None:
        """Read the settings again and apply them."""
        former, self.settings = self.settings, self._load_settings()
        # Several threads may change settings; each change gets a number of its own.
        self.settings_version = next(self._versions)
        new = self.settings
        effects = effects_of(former, new)
        former_patterns = self.exclusions.patterns
        self.exclusions.update(new)
        if TakesEffect.CUT in effects:
            self.documents.cutting = make_cutting(new, self.engine.models)
            self.indexing.rescan()
        # The patterns come from several files.
        if TakesEffect.COMPARED in effects or self.exclusions.patterns != former_patterns:
            self.admissions.forget()
            self.indexing.rescan()
        self.indexing.sweep_every(60 * new.index.sweep_minutes)

    def files_changed(self, paths: list[str]) -> None:
        """Index files or folders that any program wrote, created or deleted."""
        files: set[str] = set()
        # Read before the documents, because a file that is being indexed may become a document a moment later.
        in_hand = PathSet(self.indexing.inbox.paths())
        for path in paths:
            place = self.root / path
            is_folder = os.path.isdir(place)
            if is_folder:
                self.indexing.rescan()
            # A link to a folder may have taken the place of one: files are known by their real places.
            if not is_folder or place.is_symlink():
                # The path may have been a folder: then its files are meant too.
                files.update((path, *self.index.checkout.files_at(path, with_skipped=True), *in_hand.at(path)))
        if any(is_ignore_file(path) for path in paths):
            self.settings_changed()
            self.admissions.forget()
            self.indexing.rescan()
        self.indexing.inbox.put_files(sorted(files))

    def take_in(self, path: str) -> None:
        """Index one file now if the index does not know it as it is; where nobody watches the tree, all that changed."""
        if is_guest(path, self.root) or ".." in path.split("/"):
            return
        document = self.index.checkout.document(path)
        if document is None:
            if os.path.isfile(self.root / path) and self.admissions.files([path]):
                self.documents.index_file(path)
        elif self.documents.freshness(document) is not Freshness.DISK:
            self.documents.index_file(path)
            if not self.indexing.scanned:
                self._take_in_changes()

    def _take_in_changes(self) -> None:
        """Index the files that changed while no engine ran, unless they are many: what is gone may be in one of them."""
        self.indexing.compare()
        self.indexing.wait_for_scan(_COMPARED_S)
        changed = self.index.checkout.queue.paths()
        for path in changed if len(changed) <= MAX_AWAITED_FILES else ():
            self.documents.index_file(path)

    def catch_up(self) -> frozenset[str]:
        """Wait a moment for typed text and changed files to be indexed; returns the paths that still are not."""
        self.engine.editors.drain()
        asked_at = time.monotonic()
        deadline = asked_at + _SETTLE_S
        is_watched, comparison = self.sync.settle(_SETTLE_S), self.indexing.comparison
        is_unseen = not (is_watched or comparison.is_recent_at(asked_at, is_alone=not self.engine.address))
        is_old = (
            self.exclusions.are_outdated()
            or (is_unseen and comparison.is_quick)
            or (comparison.is_old and (is_unseen or not is_all_known(self.index.checkout)))
        )
        if is_old:
            # Not every client tells of files that other programs write.
            self.indexing.rescan()
        self.indexing.settle(deadline, reads_queue=is_old)
        self.is_unseen = is_unseen and not comparison.is_recent_at(asked_at, is_alone=not self.engine.address)
        return self.indexing.inbox.paths()

    @property
    def unread_note(self) -> str:
        """The changes of files that answers may lack, in words; empty for none."""
        return "; ".join(filter(None, (_UNSEEN if self.is_unseen else "", self.indexing.inbox.unread_note)))

    @property
    def sync_state(self) -> str:
        """The way in which changes of the files are noticed, for `status`."""
        if not self.settings.index.watch:
            return "off"
        return f"scanning: {self.sync.problem}" if self.sync.problem else "watching"

    @property
    def last_sync(self) -> str | None:
        """The time when the index last took in a comparison or a batch of changes, in UTC (RFC 3339)."""
        at = self.indexing.comparison.synced_at
        return utc_stamp(at) if at else None

    def maintain(self) -> None:
        """Maintain the index after indexing: write a vector snapshot if it pays. Raises `StoreUnavailable`."""
        self.history.begin_reading()
        try:
            self.index.vectors.maintain()
        except StoreUnavailable:
            # A project that was closed meanwhile needs no maintenance.
            if not self.is_closed:
                raise

    def _documents_indexed(self, paths: Collection[str]) -> None:
        memories = self.memories.opened
        for path in paths:
            self.engine.events.tell(DocumentIndexed(self.root, path))
            if memories is not None and (moved := self._anchor_watch.find_moved(memories, path)):
                self.engine.events.tell(AnchorsMoved(self.root, path, moved))

    def counts(self) -> IndexCounts:
        """The numbers of items of the index, and of those that wait for something: no text waits where embedding is off."""
        found = self.index.checkout.counts()
        return replace(found, pending_embeddings=self.engine.models.count_awaited(found.pending_embeddings))

    # --- models

    def embedding_of(self, row: ChunkRow) -> Embedding | None:
        """The answering model's vector of a chunk; None if there is none yet."""
        model = self.index.checkout.embeddings.active_model()
        found = self.index.vectors.get(model, [row.text_hash])
        return Embedding(self.engine.models.card(model), found[row.text_hash]) if found else None

    def model(self, wait_s: float = 0.0) -> HostedModel | None:
        """The model whose vectors the index answers with, if it becomes ready within `wait_s` seconds."""
        model_id = self.index.checkout.embeddings.active_model() or self.engine.models.configured_id
        if not model_id:
            return None
        return self.engine.models.wait(model_id, wait_s) if wait_s else self.engine.models.get(model_id)

    def _find_history_model(self) -> HostedModel | None:
        """The model that embeds commits, unless embedding waits."""
        return None if self.reason_to_wait() else self.model(_HISTORY_WAITS_FOR_MODEL_S)

    def model_for_unsaved(self, wait_s: float) -> HostedModel | None:
        """The model for an editor's text, which may be unsaved; None if it would leave the machine."""
        model = self.model(wait_s)
        return None if model is not None and model.sends_away else model

    # --- called by indexing

    def compare_tree(self, give_way: Callable[[], None]) -> None:
        """Queue every difference between the tree and the index, and watch the tree from then on."""
        self.admissions.forget()
        self.exclusions.update(self.settings)
        done = scan_tree(self.folder, self.index.checkout, self.documents, self.exclusions.patterns, give_way=give_way)
        if done.contested:
            self.indexing.rescan()
        index = self.settings.index
        self.sync.follow_tree(index.watch, index.debounce_ms / 1000)
        self.sessions.clear_dead(self.index.checkout)

    def let_questions_pass(self, longest_s: float) -> None:
        """Wait until no client waits for an answer, for `longest_s` seconds at most."""
        self.engine.workers.wait_until_idle(longest_s)

    def reason_to_wait(self) -> str:
        """The reason why only typed text is embedded now; empty where everything is."""
        return reason_to_wait(self.settings.embedding)

    def shared_vectors(self) -> SharedVectors | None:
        """The vectors that a team shares, if the settings name a store: this project's own, if the store searches them."""
        return self.index.served.server if self.index.served else self.engine.shared_vectors

    def vector_lenders(self) -> Sequence[VectorLender]:
        """The vectors of this user's other projects, those opened last first."""
        others = [root for root in self.engine.known_roots() if root != self.root]
        return vector_lenders(others[:_MAX_LENDERS])

    # --- called by a search

    @property
    def roles(self) -> Roles:
        """The roles of its documents, as the index and the settings tell them."""
        return self._roles.find(self.settings.index)

    def is_live(self, session: str) -> bool:
        """Whether an editor still holds an editing session."""
        return self.sessions.is_live(session)

    def note_unembedded(self, documents: Collection[int]) -> None:
        """Embed these documents first, because a search returned them and they have no vectors yet."""
        self.indexing.embeddings.prefer(documents)

    def freshness(self, document: DocumentRecord) -> Freshness | None:
        """Compare a document's indexed text with its file now; None when the file is gone. A changed one is indexed."""
        found = self.documents.freshness(document)
        if found in (None, Freshness.CHANGED):
            self.indexing.inbox.put_files([document.path])
        return found
