"""The background work of one open project: documents in one thread, embeddings in another.

What an editor is typing goes first, then files known to have changed, then the scan of the tree and the
queue it fills. The queue is in the database: whatever is interrupted goes on at the next start. One process
at a time works through it (a file lock says which), while each process indexes its own interactive documents.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from filelock import FileLock, Timeout

from rag_ls.embedding import ModelHost
from rag_ls.indexing.documents import DocumentIndexer
from rag_ls.indexing.embedder import EmbeddingQueue
from rag_ls.indexing.files import reason_by_name
from rag_ls.indexing.progress import Depth, Phase, Progress
from rag_ls.indexing.sessions import EditingSession
from rag_ls.storage import IndexStore

_log = logging.getLogger(__name__)

# How often a process asks whether the one that indexes is done, or gone.
_TAKE_OVER_S = 1.0
_RETRY_S = 5.0
_INTERACTIVE = 1

Listener = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Buffer:
    """An editor's text of a document, as of one version."""

    path: str
    text: str
    language: str | None = None
    guest: bool = False
    """Whether the document is none of the project's files."""


class IndexingService:
    """Keeps one project's index up to date in the background."""

    def __init__(
        self,
        documents: DocumentIndexer,
        store: IndexStore,
        session: EditingSession,
        models: ModelHost,
        lock: FileLock,
        scan_tree: Callable[[], None],
        admitted: Callable[[list[str]], set[str]],
    ) -> None:
        """`scan_tree` compares the tree with the store; `admitted` gives those of some paths that may be indexed."""
        self._documents = documents
        self._store = store
        self._session = session
        self._lock = lock
        self._scan_tree = scan_tree
        self._admitted = admitted
        self._wake = threading.Condition()
        self._dirty: dict[str, Buffer | None] = {}
        self._changed: set[str] = set()
        self._in_hand: set[str] = set()
        self._scan_wanted = False
        self._scanning = False
        self._scanned = False
        self._cancelled = False
        self._depth = Depth.EMBEDDINGS
        self._stopping = False
        self._progress = Progress(Phase.IDLE)
        self._listeners: list[Listener] = []
        self._embeddings = EmbeddingQueue(store, models, self._report, documents.spent)
        self._thread = threading.Thread(target=self._run, name="documents", daemon=True)

    # --- what the engine says

    def start(self) -> None:
        """Start the threads."""
        self._thread.start()
        self._embeddings.start()

    def begin_stop(self) -> None:
        """Let the threads end after the step in hand, without waiting for them."""
        with self._wake:
            self._stopping = True
            self._wake.notify_all()
        self._embeddings.begin_stop()

    def stop(self) -> None:
        """Stop after the step in hand; what is left stays queued in the database."""
        self.begin_stop()
        self._embeddings.stop()
        if self._thread.is_alive():
            self._thread.join()
        self._lock.release(force=True)

    def listen(self, listener: Listener) -> None:
        """Call `listener` from a background thread with each step of progress."""
        self._listeners.append(listener)

    def index_tree(self, depth: Depth = Depth.EMBEDDINGS) -> None:
        """Compare the tree with the index and work through what changed, in the background, as far as `depth`."""
        with self._wake:
            self._scan_wanted, self._cancelled, self._depth = True, False, depth
            self._wake.notify_all()

    def cancel(self) -> None:
        """Put background indexing off until `index_tree` is called again; typed documents still go on."""
        with self._wake:
            self._cancelled, self._scan_wanted = True, False
        self._embeddings.bulk = False
        self._report(Progress(Phase.CANCELLED))

    def buffer_changed(self, buffer: Buffer) -> None:
        """An editor holds this text of a document now; only the latest text of each is indexed."""
        with self._wake:
            self._dirty[buffer.path] = buffer
            self._wake.notify_all()

    def buffer_closed(self, path: str) -> None:
        """The editor let go of a document: its file's own text counts again."""
        with self._wake:
            self._dirty[path] = None
            self._wake.notify_all()

    def files_changed(self, paths: list[str]) -> None:
        """Files were written, created or deleted by somebody."""
        with self._wake:
            self._changed.update(paths)
            self._wake.notify_all()

    def retry_embedding(self) -> None:
        """Look for texts to embed again: a model became ready, or the settings changed."""
        self._embeddings.wake()

    # --- what can be asked

    @property
    def progress(self) -> Progress:
        """What goes on now."""
        return self._progress

    @property
    def scanned(self) -> bool:
        """Whether the tree was compared with the index since this process opened it."""
        return self._scanned

    @property
    def can_embed(self) -> bool:
        """False while the embedding model cannot be had."""
        return self._embeddings.able

    def wait_for_scan(self, timeout_s: float) -> bool:
        """Wait until the tree was compared with the index; False on time-out."""
        deadline = time.monotonic() + timeout_s
        while (self._scan_wanted or self._scanning) and time.monotonic() < deadline:
            time.sleep(0.01)
        return self._scanned

    def unseen(self) -> frozenset[str]:
        """Documents that were handed in and are not in the index yet, by path."""
        with self._wake:
            return frozenset({*self._dirty, *self._changed, *self._in_hand})

    def wait_until_idle(self, timeout_s: float | None = None, *, embeddings: bool = True) -> bool:
        """Wait until all that is known to be needed is indexed (and embedded); False on time-out or cancellation."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._is_idle(embeddings):
            if self._cancelled or self._stopping or (deadline is not None and time.monotonic() > deadline):
                return False
            time.sleep(0.01)
        return True

    def _is_idle(self, embeddings: bool) -> bool:
        with self._wake:
            if self._dirty or self._changed or self._in_hand or self._scan_wanted or self._scanning:
                return False
        if self._store.queue_lengths()[0]:
            return False
        return not embeddings or (self._embeddings.idle and not self._embeddings.has_work())

    # --- the documents thread

    def _run(self) -> None:
        while not self._stopping:
            try:
                if not self._step():
                    self._rest()
            except sqlite3.Error as error:
                if self._stopping:
                    return
                self._store.note_error(error)
                _log.exception("indexing failed; trying again")
                self._pause(_RETRY_S)
            except Exception:
                _log.exception("indexing failed unexpectedly; trying again")
                self._pause(_RETRY_S)

    def _step(self) -> bool:
        """Do the most urgent thing; False when there is nothing to do."""
        with self._wake:
            path = next(iter(self._dirty), None)
            buffer = self._dirty.pop(path) if path is not None else None
            changed = [] if path is not None else sorted(self._changed)
            self._changed.difference_update(changed)
            self._in_hand = {path} if path is not None else set(changed)
        try:
            if path is not None:
                self._index_buffer(path, buffer)
                return True
            if changed:
                self._index_changed(changed)
                return True
        except BaseException:
            with self._wake:
                self._changed.update(changed)
            raise
        finally:
            with self._wake:
                self._in_hand = set()
        return self._background_step()

    def _index_buffer(self, path: str, buffer: Buffer | None) -> None:
        if buffer is None or not self._may_index(buffer):
            self._documents.drop_buffer(path, self._session.id)
        elif not buffer.guest and self._equals_file(buffer):
            self._documents.drop_buffer(path, self._session.id)
            self._documents.index_file(path, priority=_INTERACTIVE)
        else:
            self._documents.index_buffer(
                path, buffer.text, self._session.id, language=buffer.language, priority=_INTERACTIVE
            )
        self._embeddings.wake()

    def _may_index(self, buffer: Buffer) -> bool:
        if buffer.guest:
            return not reason_by_name(buffer.path.rsplit("/", 1)[-1])
        return bool(self._admitted([buffer.path]))

    def _equals_file(self, buffer: Buffer) -> bool:
        source = self._documents.read(buffer.path)
        return getattr(source, "text", None) == buffer.text

    def _index_changed(self, paths: list[str]) -> None:
        """Read files again; they are in the queue meanwhile, so that a crash forgets none."""
        known = {path for path in paths if self._store.document(path) is not None}
        unknown = [path for path in paths if path not in known]
        wanted = known | (self._admitted(unknown) if unknown else set())
        if len(wanted) > 1:
            self._store.enqueue(wanted)
        for path in sorted(wanted):
            self._documents.index_file(path, priority=_INTERACTIVE)
            if self._dirty or self._stopping:
                self.files_changed(sorted(path_ for path_ in wanted if path_ > path))
                break
        self._embeddings.wake()

    def _background_step(self) -> bool:
        if self._cancelled:
            self._release_lock(Phase.CANCELLED)
            return False
        queued = self._store.queued() if self._depth >= Depth.WORDS else []
        pending = self._depth >= Depth.EMBEDDINGS and self._embeddings.able and self._embeddings.has_work()
        if not (self._scan_wanted or queued or pending):
            self._release_lock()
            return False
        if not self._hold_lock():
            return False
        if self._scan_wanted:
            self._report(Progress(Phase.SCANNING))
            self._scan()
            return True
        if queued:
            self._read_queue(queued)
            return True
        self._embeddings.bulk = True
        self._embeddings.wake()
        return False

    def _scan(self) -> None:
        with self._wake:
            # A wish that comes during the scan means another one.
            self._scan_wanted, self._scanning = False, True
        try:
            self._scan_tree()
            self._session.clear_dead(self._store)
            self._scanned = True
        finally:
            self._scanning = False

    def _read_queue(self, queued: list[str]) -> None:
        """Work through the queue until something more urgent comes."""
        for done, path in enumerate(queued):
            if self._stopping or self._cancelled or self._dirty or self._changed or self._scan_wanted:
                return
            self._report(Progress(Phase.READING, done, len(queued)))
            self._index_queued(path)
        self._report(Progress(Phase.READING, len(queued), len(queued)))

    def _index_queued(self, path: str) -> None:
        try:
            self._documents.index_file(path)
        except sqlite3.Error:
            raise
        except Exception as error:
            # One file that cannot be cut must not keep those behind it in the queue.
            _log.exception("%s cannot be indexed", path)
            self._documents.skip_failed(path, f"failed: {type(error).__name__}")

    def _hold_lock(self) -> bool:
        """Whether this process is the one that works through the queue."""
        if self._lock.is_locked:
            return True
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            if self._scan_wanted:
                self._report(Progress(Phase.WAITING))
            return False
        return True

    def _release_lock(self, phase: Phase = Phase.IDLE) -> None:
        """Nothing is left to do here: let other processes look for themselves."""
        self._embeddings.bulk = False
        if self._lock.is_locked:
            self._lock.release()
            self._report(Progress(phase))

    def _rest(self) -> None:
        with self._wake:
            if self._dirty or self._changed or self._stopping:
                return
            # A lock that another process holds, or embeddings that another thread makes, are looked for again soon.
            self._wake.wait(_TAKE_OVER_S if self._scan_wanted or self._lock.is_locked else _RETRY_S)

    def _pause(self, seconds: float) -> None:
        with self._wake:
            if not self._stopping:
                self._wake.wait(seconds)

    def _report(self, progress: Progress) -> None:
        self._progress = progress
        for listener in self._listeners:
            listener(progress)
