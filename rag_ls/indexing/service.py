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
from rag_ls.indexing.files import Source, reason_by_name
from rag_ls.indexing.progress import Depth, Phase, Progress
from rag_ls.indexing.sessions import EditingSession
from rag_ls.storage import IndexStore

_log = logging.getLogger(__name__)

# How often a process asks whether the one that indexes is done, or gone.
_TAKE_OVER_S = 1.0
_RETRY_S = 5.0
# No answer is given on a comparison with the files that is older than this, or than so many times what one takes.
_SCAN_AGE_S = 2.0
_SCAN_REST = 20
_INTERACTIVE = 1

Listener = Callable[[Progress], None]


_BOM = "\ufeff"


class _Stopped(Exception):
    """The service is to end."""


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
        scan_tree: Callable[[Callable[[], None]], None],
        admitted: Callable[[list[str]], set[str]],
    ) -> None:
        """`scan_tree` compares the tree with the store, calling its argument between files; `admitted` gives those of
        some paths that may be indexed."""
        self._documents = documents
        self._store = store
        self._session = session
        self._lock = lock
        self._scan_tree = scan_tree
        self._admitted = admitted
        self._wake = threading.Condition()
        self._buffers: dict[str, Buffer] = {}
        # Documents whose buffer was opened, changed or closed: the latest text is read when their turn comes.
        self._dirty: dict[str, None] = {}
        self._changed: set[str] = set()
        self._in_hand: set[str] = set()
        self._scan_wanted = False
        self._scanning = False
        self._scanned_at: float | None = None
        self._scan_took_s = 0.0
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
        self._report(Progress(Phase.IDLE))

    def listen(self, listener: Listener) -> None:
        """Call `listener` from a background thread with each step of progress."""
        self._listeners.append(listener)

    def rescan(self) -> None:
        """Compare the tree with the index again, as far as indexing goes now."""
        with self._wake:
            self._scan_wanted = True
            self._wake.notify_all()

    def index_tree(self, depth: Depth = Depth.EMBEDDINGS) -> None:
        """Compare the tree with the index and work through what changed, in the background, as far as `depth`."""
        with self._wake:
            self._scan_wanted, self._cancelled, self._depth = True, False, depth
            self._wake.notify_all()

    def cancel(self) -> None:
        """Put background indexing off until `index_tree` is called again; typed documents still go on."""
        with self._wake:
            self._cancelled = True
        self._embeddings.bulk = False
        self._report(Progress(Phase.CANCELLED))

    def buffer_changed(self, buffer: Buffer) -> None:
        """An editor holds this text of a document now; only the latest text of each is indexed."""
        with self._wake:
            self._buffers[buffer.path] = buffer
            self._dirty[buffer.path] = None
            self._wake.notify_all()

    def buffer_closed(self, path: str) -> None:
        """The editor let go of a document: its file's own text counts again."""
        with self._wake:
            self._buffers.pop(path, None)
            self._dirty[path] = None
            self._wake.notify_all()

    def files_changed(self, paths: list[str]) -> None:
        """Files were written, created or deleted by somebody."""
        with self._wake:
            self._changed.update(paths)
            # What counted as saved may differ from the file now.
            self._dirty.update(dict.fromkeys(path for path in paths if path in self._buffers))
            self._wake.notify_all()

    # --- what can be asked

    @property
    def progress(self) -> Progress:
        """What goes on now."""
        return self._progress

    @property
    def scanned(self) -> bool:
        """Whether the tree was compared with the index by this process, and no comparison is wanted again."""
        return self._scanned_at is not None and not self._scan_wanted and not self._scanning

    @property
    def rescanning(self) -> bool:
        """Whether the tree is being compared again, after a first time."""
        return self._scanned_at is not None and not self.scanned

    @property
    def scan_is_old(self) -> bool:
        """Whether files may have changed since the tree was compared, so that an answer should wait for another look.

        A tree that takes long to compare is compared less often.
        """
        if self._scanned_at is None:
            return False
        return time.monotonic() - self._scanned_at > max(_SCAN_AGE_S, _SCAN_REST * self._scan_took_s)

    def is_open(self, path: str) -> bool:
        """Whether an editor holds this document."""
        return path in self._buffers

    def wait_for_scan(self, timeout_s: float) -> bool:
        """Wait until the tree was compared with the index; False on time-out."""
        deadline = time.monotonic() + timeout_s
        while (self._scan_wanted or self._scanning) and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.scanned

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
        return self._typed_step() or self._changed_step() or self._background_step()

    def _typed_step(self) -> bool:
        """Index the document that waits longest of those that an editor holds or let go of."""
        with self._wake:
            path = next(iter(self._dirty), None)
            if path is None:
                return False
            del self._dirty[path]
            buffer = self._buffers.get(path)
            self._in_hand.add(path)
        try:
            self._index_buffer(path, buffer)
        except sqlite3.Error:
            with self._wake:
                self._dirty[path] = None
            raise
        except Exception:
            _log.exception("the unsaved text of %s cannot be indexed", path)
        finally:
            with self._wake:
                self._in_hand.discard(path)
        return True

    def _changed_step(self) -> bool:
        """Read the files again that are known to have changed."""
        with self._wake:
            changed = sorted(self._changed)
            if not changed:
                return False
            self._changed.clear()
            self._in_hand.update(changed)
        try:
            self._index_changed(changed)
        except sqlite3.Error:
            with self._wake:
                self._changed.update(changed)
            raise
        finally:
            with self._wake:
                self._in_hand.difference_update(changed)
        return True

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
            return not reason_by_name(buffer.path)
        return not self._documents.refuses(buffer.path, buffer.text) and bool(self._admitted([buffer.path]))

    def _equals_file(self, buffer: Buffer) -> bool:
        source = self._documents.read(buffer.path)
        # Some editors show a file without its byte order mark.
        return isinstance(source, Source) and source.text.removeprefix(_BOM) == buffer.text.removeprefix(_BOM)

    def _index_changed(self, paths: list[str]) -> None:
        """Read files again; they are in the queue meanwhile, so that a crash forgets none."""
        known = {path for path in paths if self._store.document(path) is not None}
        unknown = [path for path in paths if path not in known]
        wanted = known | (self._admitted(unknown) if unknown else set())
        if len(wanted) > 1:
            self._store.enqueue(wanted)
        for path in sorted(wanted):
            self._index_queued(path, _INTERACTIVE)
            if self._dirty or self._stopping:
                self.files_changed(sorted(path_ for path_ in wanted if path_ > path))
                break
        self._embeddings.wake()

    def _background_step(self) -> bool:
        if self._scan_wanted:
            # A scan only fills the queue: any process may do it, whoever works through it.
            self._scan()
            return True
        if self._cancelled:
            self._release_lock(Phase.CANCELLED)
            return False
        queued = self._store.queued() if self._depth >= Depth.WORDS else []
        pending = self._depth >= Depth.EMBEDDINGS and self._embeddings.has_work()
        if not (queued or pending):
            self._release_lock()
            return False
        if not self._hold_lock():
            return False
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
        if self._scanned_at is None:
            self._report(Progress(Phase.SCANNING))
        started = time.monotonic()
        try:
            self._scan_tree(self._give_way)
            self._session.clear_dead(self._store)
            self._scanned_at = time.monotonic()
            self._scan_took_s = self._scanned_at - started
        except _Stopped:
            return
        except BaseException:
            self._scan_wanted = True
            raise
        finally:
            self._scanning = False

    def _give_way(self) -> None:
        """Let what is typed go before the rest of a scan. Raises `_Stopped` when there is to be no rest."""
        if self._stopping:
            raise _Stopped
        while self._dirty:
            self._typed_step()

    def _read_queue(self, queued: list[str]) -> None:
        """Work through the queue until something more urgent comes."""
        for done, path in enumerate(queued):
            if self._stopping or self._cancelled or self._dirty or self._changed or self._scan_wanted:
                return
            self._report(Progress(Phase.READING, done, len(queued)))
            self._index_queued(path)
        self._report(Progress(Phase.READING, len(queued), len(queued)))

    def _index_queued(self, path: str, priority: int = 0) -> None:
        try:
            self._documents.index_file(path, priority=priority)
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
            self._report(Progress(Phase.WAITING))
            return False
        return True

    def _release_lock(self, phase: Phase = Phase.IDLE) -> None:
        """Nothing is left to do here: let other processes look for themselves."""
        self._embeddings.bulk = False
        if self._lock.is_locked:
            self._lock.release()
        if self._progress.phase is not phase:
            self._report(Progress(phase))

    def _rest(self) -> None:
        with self._wake:
            if self._dirty or self._changed or self._stopping:
                return
            # A lock that another process holds, or embeddings that another thread makes, are looked for again soon.
            is_waiting = self._lock.is_locked or self._progress.phase is Phase.WAITING
            self._wake.wait(0 if self._scan_wanted else _TAKE_OVER_S if is_waiting else _RETRY_S)

    def _pause(self, seconds: float) -> None:
        with self._wake:
            if not self._stopping:
                self._wake.wait(seconds)

    def _report(self, progress: Progress) -> None:
        self._progress = progress
        for listener in self._listeners:
            listener(progress)
