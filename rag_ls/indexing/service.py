"""The background work of one open project: documents in one thread, embeddings in another."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from datetime import datetime

from filelock import FileLock

from rag_ls.embedding import ModelHost
from rag_ls.indexing.agenda import Agenda, Buffer, Comparison
from rag_ls.indexing.documents_thread import DocumentsThread
from rag_ls.indexing.embedder import EmbeddingQueue
from rag_ls.indexing.indexed_project import IndexedProject
from rag_ls.indexing.progress import Depth, Listener, Phase, Progress, ProgressBoard
from rag_ls.storage import Priority

_MAX_LOOK_S = 0.25


class IndexingService:
    """Keeps one project's index up to date in the background."""

    def __init__(
        self,
        project: IndexedProject,
        models: ModelHost,
        lock: FileLock,
        *,
        sweep_s: float = 0.0,
    ) -> None:
        """The process that holds `lock` works through the queue. The tree is compared again every `sweep_s` seconds, where that is
        not 0."""
        self._store = project.index.checkout
        self._agenda = Agenda(Comparison(sweep_s))
        self._board = ProgressBoard()
        self._lock = lock
        self._embeddings = EmbeddingQueue(project, models, self._board)
        self._documents = DocumentsThread(project, self._agenda, self._embeddings, lock, self._board)

    # --- what the engine says

    def start(self) -> None:
        """Start the threads."""
        self._documents.start()
        self._embeddings.start()

    def begin_stop(self) -> None:
        """Let the threads end after the step in hand, without waiting for them."""
        with self._agenda.wake:
            self._agenda.is_stopping = True
            self._agenda.wake.notify_all()
        self._embeddings.begin_stop()

    def stop(self) -> None:
        """Stop after the step in hand; what is left stays queued in the database."""
        self.begin_stop()
        self._embeddings.stop()
        self._documents.join()
        self._lock.release(force=True)
        self._board.report(Progress(Phase.IDLE))

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` from a background thread with each step of progress, until what this returns is called."""
        return self._board.listen(listener)

    def rescan(self) -> None:
        """Compare the tree with the index again, as far as indexing goes now."""
        with self._agenda.wake:
            self._agenda.comparison.wanted = True
            self._agenda.wake.notify_all()

    def compare(self) -> None:
        """Compare the tree with the index again; go on with what was asked for before, or cancelled, and nothing more."""
        with self._agenda.wake:
            if not self._agenda.is_asked and not self._agenda.is_cancelled:
                self._agenda.depth = Depth.COMPARE
            self._agenda.comparison.wanted = True
            self._agenda.is_woken = True
            self._agenda.wake.notify_all()

    def check_soon(self) -> None:
        """Make sure, when nothing else is to do, that no change of the files was missed; answers do not wait for it."""
        with self._agenda.wake:
            self._agenda.comparison.check_soon()
            self._agenda.wake.notify_all()

    def sweep_every(self, seconds: float) -> None:
        """Make sure of it every so many seconds, or never for 0."""
        with self._agenda.wake:
            self._agenda.comparison.sweep_s = seconds
            self._agenda.wake.notify_all()

    def index_tree(self, depth: Depth = Depth.EMBEDDINGS) -> None:
        """Compare the tree with the index and work through what changed, in the background, as far as `depth`."""
        with self._agenda.wake:
            # One client that asks for less takes nothing away from another that asked for more.
            self._agenda.depth = max(depth, self._agenda.depth) if self._agenda.is_asked else depth
            self._agenda.is_asked, self._agenda.comparison.wanted, self._agenda.is_cancelled = True, True, False
            self._agenda.is_woken = True
            self._agenda.wake.notify_all()

    def resume(self) -> None:
        """A client has it open again: go on with what is queued, without another comparison."""
        with self._agenda.wake:
            self._agenda.is_asked, self._agenda.depth, self._agenda.is_cancelled = True, Depth.EMBEDDINGS, False
            self._agenda.is_woken = True
            self._agenda.wake.notify_all()

    def pause(self) -> None:
        """No client has this project open: leave what is queued until `index_tree` is called again."""
        with self._agenda.wake:
            self._agenda.is_asked, self._agenda.depth = False, Depth.COMPARE
        self._embeddings.bulk = False

    def cancel(self) -> None:
        """Put background indexing off until `index_tree` is called again; typed documents still go on."""
        with self._agenda.wake:
            self._agenda.is_cancelled = True
        self._embeddings.bulk = False
        self._board.report(Progress(Phase.CANCELLED))

    def buffer_changed(self, session: str, buffer: Buffer) -> None:
        """An editor holds this text of a document now; only the latest text of each is indexed."""
        self._agenda.inbox.put_buffer(session, buffer)

    def buffer_closed(self, session: str, path: str) -> None:
        """The editor let go of a document: its file's own text counts again."""
        self._agenda.inbox.close_buffer(session, path)

    def session_closed(self, session: str) -> None:
        """An editor left, and lets go of all its documents."""
        self._agenda.inbox.close_session(session)

    def files_changed(self, paths: Iterable[str]) -> None:
        """Files were written, created or deleted."""
        self._agenda.inbox.put_files(paths)

    def embed_first(self, documents: Collection[int]) -> None:
        """A search gave these documents: embed them before the rest."""
        self._embeddings.prefer(documents, Priority.RETURNED)

    def read_first(self, paths: Iterable[str]) -> None:
        """A question is about these files of the queue: read them before the rest."""
        self._agenda.order.put_first(paths)
        with self._agenda.wake:
            self._agenda.is_woken = True
            self._agenda.wake.notify_all()

    def choosing(self) -> AbstractContextManager[None]:
        """A question is about to say what to read first."""
        return self._agenda.order.choosing()

    def hold_files(self, held: bool) -> None:
        """A program is in the middle of writing files: what changes is one batch, read when it is no longer held."""
        self._agenda.inbox.hold_files(held)

    # --- what can be asked

    @property
    def progress(self) -> Progress:
        """What goes on now."""
        return self._board.now

    @property
    def waits_for(self) -> str:
        """Why embedding all that is pending waits; empty where it does not."""
        return self._embeddings.waits_for

    @property
    def scanned(self) -> bool:
        """Whether the tree was compared with the index by this process, and no comparison is wanted again."""
        return self._agenda.comparison.is_current

    @property
    def reads(self) -> bool:
        """Whether this process reads what is queued, now or as soon as it can, and no error keeps it from that."""
        is_wanted = self._agenda.depth >= Depth.WORDS and not (self._agenda.is_cancelled or self._agenda.is_stopping)
        return is_wanted and not self._documents.is_failing and self._board.now.phase is not Phase.WAITING

    @property
    def is_comparing(self) -> bool:
        """Whether a comparison of the tree with the index, which answers wait for, is under way or to come."""
        return self._agenda.comparison.is_awaited

    @property
    def rescanning(self) -> bool:
        """Whether the tree is being compared again, after a first time."""
        return not self._agenda.comparison.is_first and not self.scanned

    @property
    def scan_is_old(self) -> bool:
        """Whether files that nobody watches may have changed since the tree was compared, so that an answer should
        wait for another look."""
        return self._agenda.comparison.is_old

    @property
    def synced_at(self) -> datetime | None:
        """When the last comparison, or the last batch of changed files, was taken in."""
        return self._agenda.comparison.synced_at

    @property
    def is_held(self) -> bool:
        """Whether changed files are kept back until a program has written them all."""
        return self._agenda.inbox.is_held

    def is_open(self, session: str, path: str) -> bool:
        """Whether an editor holds this document."""
        return self._agenda.inbox.holds(session, path)

    def wait_for_scan(self, timeout_s: float) -> bool:
        """Wait until the tree was compared with the index; False on time-out."""
        deadline = time.monotonic() + timeout_s
        while self._agenda.comparison.is_pending and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.scanned

    def hurry(self) -> None:
        """A question came: index what is typed now, however large the document."""
        self._agenda.inbox.hurry()

    @property
    def is_put_off(self) -> bool:
        """Whether what is typed in a large document rests until it is due."""
        return bool(self._agenda.inbox.due_in_s)

    def unseen(self) -> frozenset[str]:
        """Documents that were handed in and are not in the index yet, by path."""
        return self._agenda.inbox.paths()

    def wait_until_idle(self, timeout_s: float | None = None, *, embeddings: bool = True) -> bool:
        """Wait until all that is known to be needed is indexed (and embedded); False on time-out or cancellation."""
        deadline, pause = None if timeout_s is None else time.monotonic() + timeout_s, 0.01
        self.hurry()
        while not self._is_idle(embeddings):
            if (
                self._agenda.is_cancelled
                or self._agenda.is_stopping
                or (deadline is not None and time.monotonic() > deadline)
            ):
                return False
            # A look counts rows: a long wait looks less often.
            time.sleep(pause)
            pause = min(_MAX_LOOK_S, 1.5 * pause)
        return True

    def _is_idle(self, embeddings: bool) -> bool:
        with self._agenda.wake:
            if not self._agenda.inbox.is_empty or self._agenda.comparison.is_pending:
                return False
        if self._store.queue.has_any():
            return False
        return not embeddings or bool(self.waits_for) or (self._embeddings.idle and not self._embeddings.has_work())
