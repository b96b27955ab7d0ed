"""One client in one project: its settings, its unsaved documents, its questions, the project as it sees it."""

from __future__ import annotations

import functools
import os
import threading
import time
import unicodedata
import uuid
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from rag_ls import memory
from rag_ls.config import Settings, off_branch
from rag_ls.engine.code.hits import Reranking, find_hits, take_hits
from rag_ls.engine.code.places import describe_other_checkout
from rag_ls.engine.code.project_rules import ProjectChecks
from rag_ls.engine.open_project import OpenProject
from rag_ls.engine.project_status import (
    count_left_out,
    count_secret_lines,
    describe_left_out,
    describe_model,
    read_status,
)
from rag_ls.engine.requests import ProjectStatus, SearchRequest, read_k
from rag_ls.errors import PathOutsideProject, RagLsError
from rag_ls.indexing import MAX_AWAITED_FILES, Buffer, IndexingService, is_all_known
from rag_ls.memory import Memories
from rag_ls.model import Closeness, Coverage, Freshness, Hit, Scope, SearchAnswer, SearchStats, StoredChunk
from rag_ls.project import current_branch, is_guest
from rag_ls.rules import RuleFinder
from rag_ls.search import NO_FILTERS, Filters, Found, Query, explain_filters
from rag_ls.storage import DISK, CheckoutIndex, DocumentRecord, IndexCounts, MemoryStore
from rag_ls.util.paths import WrittenPlace, meanings_of, read_lines, spelled_as_there
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.secret_texts import Blanked, blank_secrets, describe_secret_lines
from rag_ls.util.text import without_surrogates

_WORDS_ALONE = "the embedding model is not ready: these are matches by words alone"
_NOTHING_EMBEDDED = "no embeddings are there yet: these are matches by words alone"
_NEAREST = "these are the nearest in meaning, near or not"
_NO_WORDS = f"no file holds these words: {_NEAREST}"
_NO_WORDS_YET = f"no file that was read holds these words, and others are still to be read: {_NEAREST}"
_NO_INDEXED_WORDS = f"no indexed file holds these words: {_NEAREST}"
_MAX_ABSENT = 3
# A question waits this long for what its own client has typed: longer only where the machine is busy.
_OWN_TEXT_S = 3.0
_UNREAD = "of the files that are not read yet, those that hold a question's words are read first"
# Words that the index lacks in some of the files that hold them: single letters of scripts without spaces, and parts of blobs.
_NOT_INDEXED = lazy_pattern(r"(?<![^\W_])[^\W\d\x00-\x7f](?![^\W_])|\w{65}")


class ProjectSession:
    """One client's session in a project that clients share. Safe from several threads.

    The functions of `engine/code/` answer its questions. Questions wait at most a moment for text that was just typed.
    """

    def __init__(
        self,
        project: OpenProject,
        load_settings: Callable[[], Settings],
        user_memories: Callable[[Scope], MemoryStore],
        now: memory.Clock,
        *,
        scratch: bool = False,
        sees_all: Callable[[], bool] = lambda: True,
    ) -> None:
        """`scratch` marks a project without a folder, whose data is deleted when it is closed.

        Without `sees_all`, the client learns of no folder outside of its projects.
        """
        self.is_scratch = scratch
        self._sees_all = sees_all
        self._load_settings = load_settings
        self._user_memories = user_memories
        self._now = now
        self._lock = threading.Lock()
        """Held while a disk is waited for only where a document's first text comes, or a lost project was opened anew."""
        self._is_closed = False
        self._attach_project(project, *self._read_settings(project))

    def _read_settings(self, project: OpenProject) -> tuple[Settings, int]:
        version = project.settings_version
        return self._load_settings(), version

    def _attach_project(self, project: OpenProject, settings: Settings, version: int) -> None:
        self.project = project
        self.editing_session = DISK
        """The id of the rows that hold the client's unsaved documents; `DISK` while it has none."""
        self._settings, self._settings_version = settings, version
        self.code_cache = memory.CodeCache()
        self.reranking = Reranking(project.engine.models.reranker)
        self.rule_finder = RuleFinder(project.index)
        self.checks = ProjectChecks(self)
        stores: dict[Scope, Callable[[], MemoryStore]] = {
            Scope.PROJECT: project.memories.store,
            Scope.SESSION: functools.partial(self._user_memories, Scope.SESSION),
            Scope.GLOBAL: functools.partial(self._user_memories, Scope.GLOBAL),
        }
        self.memories = Memories(
            stores,
            self._now,
            max_session=lambda: self.settings.storage.max_session_memories,
            take_note=project.memories.take_note,
        )

    def move_to(self, project: OpenProject) -> None:
        """Switch to `project`, the same project opened anew, and hand the unsaved documents to it."""
        # First: where the settings cannot be read, the session stays where it is, with the texts that it holds.
        settings, version = self._read_settings(project)
        with self._lock:
            buffers = self.indexing.inbox.buffers(self.editing_session)
            self._attach_project(project, settings, version)
            for buffer in buffers:
                self._put_buffer(buffer)

    def close(self) -> None:
        """Drop this client's unsaved documents."""
        with self._lock:
            self._is_closed = True
            session, self.editing_session = self.editing_session, DISK
        if session != DISK:
            self.indexing.inbox.close_session(session)
            self.project.sessions.close(session)

    @property
    def indexing(self) -> IndexingService:
        """Its background work."""
        return self.project.indexing

    @property
    def store(self) -> CheckoutIndex:
        """Its index."""
        return self.project.index.checkout

    @property
    def branch(self) -> str:
        """The git branch that is checked out; empty where there is none."""
        return current_branch(self.project.root)

    # --- settings

    @property
    def settings(self) -> Settings:
        """The settings in force for this client, read again when the project's file changes."""
        if self.project.settings_version != self._settings_version:
            self._settings, self._settings_version = self._read_settings(self.project)
        return self._settings

    def reload_settings(self) -> None:
        """Read the settings again."""
        self._settings = self._load_settings()

    # --- documents

    def buffer_changed(self, buffer: Buffer) -> None:
        """Record the editor's new text of a document. Only the first text of a document may wait for a disk."""
        with self._lock:
            if not self._is_closed:
                self._put_buffer(replace(buffer, text=without_surrogates(buffer.text)))

    def _put_buffer(self, buffer: Buffer) -> None:
        if self.editing_session == DISK:
            self.editing_session = uuid.uuid4().hex
        is_first = self.indexing.inbox.buffer(self.editing_session, buffer.path) is None
        # A text waits in a project that is lost, too, until the client moves to that project opened anew.
        if is_first and not self.project.is_lost:
            self.project.sessions.claim(self.editing_session)
        self.indexing.inbox.put_buffer(self.editing_session, buffer)

    def buffer_closed(self, path: str) -> None:
        """Record that the editor closed a document."""
        with self._lock:
            if self.editing_session != DISK:
                self.indexing.inbox.close_buffer(self.editing_session, path)

    def unsaved_text(self, path: str) -> Blanked | None:
        """The client's own text of a document that it has open, else another client's that the index lacks; None for neither."""
        with self._lock:
            buffer = self.indexing.inbox.buffer(self.editing_session, path)
        text = buffer.text if buffer is not None else self.indexing.inbox.waiting_text(path)
        return None if text is None else blank_secrets(path, text)

    def files_changed(self, paths: list[str]) -> None:
        """Record files or folders that any program wrote, created or deleted."""
        self.project.files_changed(paths)

    def keep_indexed(self) -> None:
        """Index the project, because the client works in it; compare the tree if nothing has watched it."""
        if off_branch(self.settings.index.branch, self.project.root):
            return
        if self.indexing.scanned and not self.project.sync.problem:
            self.indexing.resume()
        else:
            self.indexing.index_tree()

    def relative(self, path: str) -> str:
        """The path of a document inside the project, in whatever form it was written.

        Raises `PathOutsideProject`, which names the checkout that it is in.
        """
        return self.place(path).path

    def place(self, written: str, line: int = 0) -> WrittenPlace:
        """The path of a document inside the project, and the lines written after it; `line` counts before those.

        Raises `PathOutsideProject`, and `InvalidRequest` for a line 0.
        """
        root = self.project.root
        if self.indexing.inbox.buffer(self.editing_session, written):
            return WrittenPlace(written, line)
        for meant in meanings_of(written, root.name):
            if path := self._find_file(meant.path):
                return WrittenPlace(path, line, line) if line else meant._replace(path=path)
        is_uri = is_guest(written, root) and not Path(written).is_absolute()
        return WrittenPlace(written if is_uri else self._path_inside(written), line)

    def _find_file(self, written: str) -> str:
        """The path of a file that is there, or in the index; empty where none is called so."""
        try:
            path = self._spelled_as_known(self.project.folder.relative(written))
        except RagLsError:
            return ""
        is_there = os.path.isfile(self.project.root / path) or self.store.document(path) is not None
        return path if is_there else ""

    def _path_inside(self, path: str) -> str:
        try:
            return self._spelled_as_known(self.project.folder.relative(path))
        except PathOutsideProject as outside:
            if self._sees_all() and (told := describe_other_checkout(self, read_lines(path).path)):
                raise PathOutsideProject(told) from outside
            raise

    def _spelled_as_known(self, path: str) -> str:
        """A path as the index has it, or the file system: macOS decomposes letters that people type composed."""
        if path.isascii() or self.store.document(path) is not None:
            return path
        found = spelled_as_there(self.project.root, path)
        forms = (found, *(unicodedata.normalize(form, path) for form in ("NFC", "NFD")))
        return next((form for form in forms if self.store.document(form) is not None), found)

    def document(self, path: str) -> DocumentRecord | None:
        """The version of a document that the client sees, its own unsaved text before others'; None if there is none."""
        return self.project.searcher.document(path, self.editing_session)

    def hidden_documents(self) -> frozenset[int]:
        """The documents that another version of the same file replaces for this client."""
        return self.project.searcher.hidden_documents(self.editing_session)

    # --- questions

    def catch_up(self) -> frozenset[str]:
        """As of `OpenProject`, but the texts that this client typed itself are waited for longer."""
        self.project.engine.editors.drain()
        self.indexing.settle_text_of(self.editing_session, _OWN_TEXT_S)
        unseen = self.project.catch_up()
        self.store.kept.renew_version()
        return unseen

    def search(self, request: SearchRequest, *, wait_for_model_s: float = 0.0) -> SearchAnswer:
        """The chunks that answer a question best. Raises `InvalidRequest` for arguments out of range."""
        started = time.perf_counter()
        settings = self.settings.search
        k = read_k(request.k, settings.code_k)
        unseen = self.catch_up()
        model = self.project.model(wait_for_model_s)
        with self.store.kept.at_one_version():
            found, note = find_hits(
                request, k, self.project.searcher, settings, model, self.store, self.reranking, self.editing_session
            )
            absences = self._note_unheld(request.asked, found, unseen)
            found = replace(found, hits=take_hits(request, found.hits, k))
        return self.make_answer(request.query, found, started, unseen, note, filters=request.filters, absences=absences)

    def _note_unheld(self, query: Query, found: Found, unseen: Collection[str]) -> tuple[str, ...]:
        """Notes on the words of the query that no file holds, or none that was looked into; empty where hits are close by words,
        or the index may lack a word of the query."""
        if not found.hits or _NOT_INDEXED.search(query.text):
            return ()
        words = " or ".join(map(repr, found.absent[:_MAX_ABSENT]))
        absent = (f"no indexed file has the word {words}",) if words else ()
        is_read = not (self.store.queue.has_any() or unseen)
        if any(hit.matched_by != ("dense",) for hit in found.hits):
            return absent if found.closeness is not Closeness.CLOSE and is_read else ()
        if not is_read:
            return (_NO_WORDS_YET,)
        if len(found.absent) < len(query.parts):
            # Some of the words stand somewhere, perhaps where the filters do not lead.
            return (*absent, _NEAREST)
        left_out = describe_left_out(count_left_out(self.store), self.store)
        return (_NO_INDEXED_WORDS, left_out) if left_out else (_NO_WORDS,)

    def make_answer(
        self,
        query: str,
        found: Found,
        started: float,
        unseen_before: frozenset[str],
        note: str = "",
        why_by_words: str = "",
        filters: Filters = NO_FILTERS,
        absences: tuple[str, ...] = (),
    ) -> SearchAnswer:
        """The answer with these hits, and with how much of the project is indexed now.

        `started` is the question's time by `perf_counter`, `unseen_before` the documents whose newest text was not indexed
        then. `why_by_words` is why the hits were found by words alone; by default what the model's state says.
        """
        scanned, unseen = self.indexing.scanned, self.indexing.inbox.paths() | unseen_before
        with self.store.kept.at_one_version():
            queued, pending = self.count_awaited()
            hits = tuple(mark_changed(hit, unseen) for hit in found.hits)
            notes = [self.indexing.problem]
            if found.is_filtered_out:
                absences = self.explain_filters(filters)
            elif found.dense:
                notes += [note]
            else:
                notes += [why_by_words or self._why_by_words(), note]
            if queued > MAX_AWAITED_FILES:
                notes += [_UNREAD, self.project.index.file.why_remade]
            secrets = describe_secret_lines(count_secret_lines(self.store, filters, self.project.roles))
            notes += [self.project.exclusions.note, self.project.unread_note, secrets]
            is_read = scanned and self.knows_all_files and not (queued or unseen or self.project.is_unseen)
            stats = SearchStats(
                took_ms=round((time.perf_counter() - started) * 1000, 1), dense=found.dense, candidates=found.candidates,
                complete=is_read and not pending, is_read=is_read,
                pending_documents=queued + len(unseen), pending_embeddings=pending, notes=tuple(filter(None, notes)), absences=absences,
                coverage=Coverage() if scanned and not (queued or pending) else self.coverage_of(self.project.counts()),
                closeness=found.closeness, is_idle=bool((queued and not self.indexing.reads) or (pending and not self.indexing.embeds))
                and not self.indexing.documents.is_locked_elsewhere,
            )  # fmt: skip
        return SearchAnswer(query, hits, stats)

    @property
    def knows_all_files(self) -> bool:
        """Whether the last comparison could look at all files that belong into the index."""
        return self.project.exclusions.are_known and is_all_known(self.store)

    def count_awaited(self) -> tuple[int, int]:
        """The numbers of files that are not read yet, and of chunks that will get a vector: none where embedding is off."""
        if self.project.engine.models.is_off:
            return self.store.queue.count(), 0
        return self.store.queue_lengths()

    def explain_filters(self, filters: Filters) -> tuple[str, ...]:
        """The reasons why no document passes the filters, in words that name what would, or where it is."""
        is_told = filters.path_glob and self._sees_all()
        other = describe_other_checkout(self, filters.path_glob) if is_told else ""
        return (other,) if other else explain_filters(filters, {row[1] for row in self.store.document_paths()})

    def _why_by_words(self) -> str:
        model = describe_model(self.project)
        if self.project.engine.models.is_off:
            return model.note
        return model.note or (_NOTHING_EMBEDDED if model.is_ready else _WORDS_ALONE)

    # --- status

    def status(self) -> ProjectStatus:
        """The state of the index: what is done, and what is left to do. Clients ask often, so this does not hurry postponed texts."""
        return read_status(self)

    def coverage_of(self, counts: IndexCounts) -> Coverage:
        """The indexed share; nothing while no file was found yet, though none waits."""
        is_known = self.indexing.scanned or counts.documents
        return counts.coverage if is_known else Coverage(0, 0)


def mark_changed(hit: Hit, unseen: Collection[str]) -> Hit:
    """The hit, marked `changed` if newer text of its document is known but not cut yet."""
    is_unseen = isinstance(hit.item, StoredChunk) and hit.item.chunk.path in unseen
    return replace(hit, freshness=Freshness.CHANGED) if is_unseen else hit
