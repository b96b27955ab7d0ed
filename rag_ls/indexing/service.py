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
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, closing
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from rag_ls.embedding import ModelHost
from rag_ls.indexing.comparison import Comparison
from rag_ls.indexing.documents import DocumentIndexer
from rag_ls.indexing.embedder import EmbeddingQueue
from rag_ls.indexing.inbox import Buffer, Inbox
from rag_ls.indexing.intake import MANY_FILES, Intake
from rag_ls.indexing.order import ReadingOrder
from rag_ls.indexing.progress import Depth, Phase, Progress
from rag_ls.indexing.sessions import EditingSessions
from rag_ls.indexing.wanted import imported_by
from rag_ls.storage import IndexStore, Priority

_log = logging.getLogger(__name__)

# How often a process asks whether the one that indexes is done, or gone.
_TAKE_OVER_S = 1.0
_RETRY_S = 5.0
# With nothing to do: how often to look whether another process wrote, and how often to look at everything.
_GLANCE_S = 10.0
_LONG_REST_S = 60.0
_LONGEST_LOOK_S = 0.25
# Between two files of a queue, so long is given to questions that are being answered.
_GIVE_WAY_S = 0.05
# So long, somebody who asks may take to say which files of a long queue go first.
_CHOICE_S = 1.0
# What somebody types in is cut again after so many times what cutting it took, at most so long; small documents thus at once.
# A core that cuts a large document after every key is one that the editor lacks.
_PAUSE = 4
_LONGEST_PAUSE_S = 2.0
# More files than these that changed at once are a batch: it goes through the queue, behind what is typed.
FEW_FILES = 20

Listener = Callable[[Progress], None]


class _Stopped(Exception):
    """The service is to end."""


class IndexingService:
    """Keeps one project's index up to date in the background."""

    def __init__(
        self,
        documents: DocumentIndexer,
        store: IndexStore,
        sessions: EditingSessions,
        models: ModelHost,
        lock: FileLock,
        scan_tree: Callable[[Callable[[], None]], None],
        admitted: Callable[[list[str]], set[str]],
        questions_wait: Callable[[], bool] = lambda: False,
        *,
        sweep_s: float = 0.0,
        reason_to_wait: Callable[[], str] = lambda: "",
        other_indexes: Callable[[], Sequence[Path]] = lambda: (),
    ) -> None:
        """`scan_tree` compares the tree with the store, calling its argument between files; `admitted` gives those of
        some paths that may be indexed; `questions_wait` tells whether somebody waits for an answer. The tree is
        compared again every `sweep_s` seconds, where that is not 0; `reason_to_wait` says why embedding had better wait."""
        self._documents = documents
        self._intake = Intake(documents, store, admitted)
        self._store = store
        self._sessions = sessions
        self._questions_wait = questions_wait
        self._lock = lock
        self._scan_tree = scan_tree
        self._wake = threading.Condition()
        self._inbox = Inbox(self._wake)
        self._order = ReadingOrder()
        self._comparison = Comparison(sweep_s)
        # Documents that an editor has open, whose imports were asked for.
        self._followed: set[tuple[str, str]] = set()
        self._cancelled = False
        # A queue that was left to this process is finished without being asked.
        self._depth = Depth.EMBEDDINGS
        self._asked = False
        # Somebody asked for something between a look for work and the rest after it.
        self._woken = False
        self._stopping = False
        # The last step ended in an error.
        self._failing = False
        self._progress = Progress(Phase.IDLE)
        self._listeners: list[Listener] = []
        self._embeddings = EmbeddingQueue(store, models, self._report, documents.spent, reason_to_wait, other_indexes)
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

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` from a background thread with each step of progress, until what this returns is called."""
        with self._wake:
            self._listeners = [*self._listeners, listener]

        def stop() -> None:
            with self._wake:
                self._listeners = [kept for kept in self._listeners if kept is not listener]

        return stop

    def rescan(self) -> None:
        """Compare the tree with the index again, as far as indexing goes now."""
        with self._wake:
            self._comparison.wanted = True
            self._wake.notify_all()

    def compare(self) -> None:
        """Compare the tree with the index again; go on with what was asked for before, or cancelled, and nothing more."""
        with self._wake:
            if not self._asked and not self._cancelled:
                self._depth = Depth.COMPARE
            self._comparison.wanted = True
            self._woken = True
            self._wake.notify_all()

    def check_soon(self) -> None:
        """Make sure, when nothing else is to do, that no change of the files was missed; answers do not wait for it."""
        with self._wake:
            self._comparison.check_soon()
            self._wake.notify_all()

    def sweep_every(self, seconds: float) -> None:
        """Make sure of it every so many seconds, or never for 0."""
        with self._wake:
            self._comparison.sweep_s = seconds
            self._wake.notify_all()

    def index_tree(self, depth: Depth = Depth.EMBEDDINGS) -> None:
        """Compare the tree with the index and work through what changed, in the background, as far as `depth`."""
        with self._wake:
            # One client that asks for less takes nothing away from another that asked for more.
            self._depth = max(depth, self._depth) if self._asked else depth
            self._asked, self._comparison.wanted, self._cancelled = True, True, False
            self._woken = True
            self._wake.notify_all()

    def resume(self) -> None:
        """Somebody waits again: go on with what is queued, without another comparison."""
        with self._wake:
            self._asked, self._depth, self._cancelled = True, Depth.EMBEDDINGS, False
            self._woken = True
            self._wake.notify_all()

    def pause(self) -> None:
        """Nobody waits for this project now: leave what is queued until `index_tree` is called again."""
        with self._wake:
            self._asked, self._depth = False, Depth.COMPARE
        self._embeddings.bulk = False

    def cancel(self) -> None:
        """Put background indexing off until `index_tree` is called again; typed documents still go on."""
        with self._wake:
            self._cancelled = True
        self._embeddings.bulk = False
        self._report(Progress(Phase.CANCELLED))

    def buffer_changed(self, session: str, buffer: Buffer) -> None:
        """An editor holds this text of a document now; only the latest text of each is indexed."""
        self._inbox.put_buffer(session, buffer)

    def buffer_closed(self, session: str, path: str) -> None:
        """The editor let go of a document: its file's own text counts again."""
        self._inbox.close_buffer(session, path)

    def session_closed(self, session: str) -> None:
        """An editor left, and lets go of all its documents."""
        self._inbox.close_session(session)

    def files_changed(self, paths: Iterable[str]) -> None:
        """Files were written, created or deleted by somebody."""
        self._inbox.put_files(paths)

    def embed_first(self, documents: Collection[int]) -> None:
        """Somebody was given these documents: embed them before the rest."""
        self._embeddings.prefer(documents, Priority.RETURNED)

    def read_first(self, paths: Iterable[str]) -> None:
        """Somebody asked about these files of the queue: read them before the rest."""
        self._order.put_first(paths)
        with self._wake:
            self._woken = True
            self._wake.notify_all()

    def choosing(self) -> AbstractContextManager[None]:
        """Somebody is about to say what to read first."""
        return self._order.choosing()

    def hold_files(self, held: bool) -> None:
        """Somebody is in the middle of writing files: what changes is one batch, read when it is no longer held."""
        self._inbox.hold_files(held)

    # --- what can be asked

    @property
    def progress(self) -> Progress:
        """What goes on now."""
        return self._progress

    @property
    def waits_for(self) -> str:
        """Why embedding all that is pending waits; empty where it does not."""
        return self._embeddings.waits_for

    @property
    def scanned(self) -> bool:
        """Whether the tree was compared with the index by this process, and no comparison is wanted again."""
        return self._comparison.is_current

    @property
    def reads(self) -> bool:
        """Whether this process reads what is queued, now or as soon as it can, and no error keeps it from that."""
        is_wanted = self._depth >= Depth.WORDS and not (self._cancelled or self._stopping)
        return is_wanted and not self._failing and self._progress.phase is not Phase.WAITING

    @property
    def is_comparing(self) -> bool:
        """Whether a comparison of the tree with the index, which answers wait for, is under way or to come."""
        return self._comparison.is_awaited

    @property
    def rescanning(self) -> bool:
        """Whether the tree is being compared again, after a first time."""
        return not self._comparison.is_first and not self.scanned

    @property
    def scan_is_old(self) -> bool:
        """Whether files that nobody watches may have changed since the tree was compared, so that an answer should
        wait for another look."""
        return self._comparison.is_old

    @property
    def synced_at(self) -> datetime | None:
        """When the last comparison, or the last batch of changed files, was taken in."""
        return self._comparison.synced_at

    @property
    def is_held(self) -> bool:
        """Whether changed files are kept back until somebody has written them all."""
        return self._inbox.is_held

    def is_open(self, session: str, path: str) -> bool:
        """Whether an editor holds this document."""
        return self._inbox.holds(session, path)

    def wait_for_scan(self, timeout_s: float) -> bool:
        """Wait until the tree was compared with the index; False on time-out."""
        deadline = time.monotonic() + timeout_s
        while self._comparison.is_pending and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.scanned

    def hurry(self) -> None:
        """Somebody asks: index what is typed now, however large the document."""
        self._inbox.hurry()

    @property
    def is_put_off(self) -> bool:
        """Whether what is typed in a large document rests until it is due."""
        return bool(self._inbox.due_in_s)

    def unseen(self) -> frozenset[str]:
        """Documents that were handed in and are not in the index yet, by path."""
        return self._inbox.paths()

    def wait_until_idle(self, timeout_s: float | None = None, *, embeddings: bool = True) -> bool:
        """Wait until all that is known to be needed is indexed (and embedded); False on time-out or cancellation."""
        deadline, pause = None if timeout_s is None else time.monotonic() + timeout_s, 0.01
        self.hurry()
        while not self._is_idle(embeddings):
            if self._cancelled or self._stopping or (deadline is not None and time.monotonic() > deadline):
                return False
            # A look counts rows: whoever waits for long looks less often.
            time.sleep(pause)
            pause = min(_LONGEST_LOOK_S, 1.5 * pause)
        return True

    def _is_idle(self, embeddings: bool) -> bool:
        with self._wake:
            if not self._inbox.is_empty or self._comparison.is_pending:
                return False
        if self._store.has_queued():
            return False
        return not embeddings or bool(self.waits_for) or (self._embeddings.idle and not self._embeddings.has_work())

    # --- the documents thread

    def _run(self) -> None:
        try:
            self._work()
        finally:
            self._intake.close()

    def _work(self) -> None:
        while not self._stopping:
            try:
                changes = self._store.changes()
                has_more = self._step()
                self._failing = False
                if not has_more:
                    self._rest(changes)
            except sqlite3.Error as error:
                if self._stopping:
                    return
                self._store.note_error(error)
                _log.exception("indexing failed; trying again")
                self._failing = True
                self._pause(_RETRY_S)
            except Exception:
                _log.exception("indexing failed unexpectedly; trying again")
                self._failing = True
                self._pause(_RETRY_S)

    def _step(self) -> bool:
        """Do the most urgent thing; False when there is nothing to do."""
        return self._typed_step() or self._changed_step() or self._background_step()

    def _typed_step(self) -> bool:
        """Index the document that waits longest of those that an editor holds or let go of."""
        taken = self._inbox.take_typed()
        if taken is None:
            return False
        key, buffer = taken
        session, path = key
        started = time.monotonic()
        try:
            self._intake.take_buffer(session, path, buffer)
            if buffer is not None and (session, path) not in self._followed:
                self._followed.add((session, path))
                self._embeddings.prefer(imported_by(self._store, path), Priority.IMPORTED)
            self._embeddings.wake()
        except sqlite3.Error:
            self._inbox.put_back(key)
            raise
        except Exception:
            _log.exception("the unsaved text of %s cannot be indexed", path)
        finally:
            self._inbox.put_off(key, min(_PAUSE * (time.monotonic() - started), _LONGEST_PAUSE_S))
            self._inbox.done([path])
        return True

    def _changed_step(self) -> bool:
        """Read the files again that are known to have changed."""
        changed = self._inbox.take_files()
        if not changed:
            return False
        try:
            self._index_changed(changed)
        except sqlite3.Error:
            self._inbox.put_files(changed)
            raise
        finally:
            self._inbox.done(changed)
        return True

    def _index_changed(self, paths: list[str]) -> None:
        """Read a few files again at once; many are a batch for the queue. A crash forgets none either way."""
        wanted = self._intake.wanted(paths)
        if len(wanted) > 1:
            self._store.enqueue(wanted)
        if len(wanted) > FEW_FILES:
            self._order.add(wanted)
            return
        for path in wanted:
            self._intake.take_file(path, Priority.INTERACTIVE)
            if self._inbox.has_typed or self._stopping:
                self.files_changed(left for left in wanted if left > path)
                break
        else:
            self._comparison.note_sync()
        self._embeddings.wake()

    def _background_step(self) -> bool:
        if self._comparison.wanted:
            # A scan only fills the queue: any process may do it, whoever works through it.
            self._scan()
            return True
        if self._cancelled:
            self._intake.close()
            self._release_lock(Phase.CANCELLED)
            return False
        queued = self._store.queued() if self._depth >= Depth.WORDS else []
        if not queued and self._asked and (due_in_s := self._comparison.due_in_s()) is not None and due_in_s <= 0:
            self._scan()
            return True
        pending = self._depth >= Depth.EMBEDDINGS and self._embeddings.has_work()
        if not (queued or pending):
            self._intake.close()
            self._release_lock()
            return False
        if not self._hold_lock():
            return False
        if queued:
            self._read_queue(queued)
            return True
        self._intake.close()
        self._embeddings.bulk = True
        self._embeddings.wake()
        return False

    def _scan(self) -> None:
        with self._wake:
            self._comparison.begin()
        if self._comparison.is_first:
            self._report(Progress(Phase.SCANNING))
        done = False
        try:
            self._scan_tree(self._give_way)
            self._sessions.clear_dead(self._store)
            done = True
        except _Stopped:
            return
        finally:
            with self._wake:
                self._comparison.finish(done=done)

    def _give_way(self) -> None:
        """Let what is typed go before the rest of a scan. Raises `_Stopped` when there is to be no rest."""
        if self._stopping:
            raise _Stopped
        while self._inbox.has_typed:
            self._typed_step()

    def _read_queue(self, queued: list[str]) -> None:
        """Work through the queue; what is more urgent goes in between."""
        self._report(Progress(Phase.READING, 0, len(queued)))
        done, many, fingerprint = 0, len(queued) >= MANY_FILES, self._documents.fingerprint
        if many:
            self._intake.start_cutters()
            self._order.wait_until_chosen(_CHOICE_S)
        with closing(self._intake.take_all(self._order.of(queued), many=many)) as batches:
            for count in batches:
                done += count
                self._report(Progress(Phase.READING, done, len(queued)))
                if self._comparison.wanted and not self._stopping:
                    self._scan()
                    self._order.add(self._store.queued())
                if self._documents.fingerprint != fingerprint:
                    # What is on its way was cut as the former settings say.
                    self._intake.close()
                    return
                if self._stopping or self._cancelled:
                    return
                # A few documents go in between; many processes are at work on what comes next.
                while self._typed_step() or self._changed_step():
                    pass
                self._let_questions_pass()
        self._comparison.note_sync()

    def _has_urgent(self) -> bool:
        """Whether something waits that goes before the queue."""
        return self._inbox.has_typed or self._inbox.has_files or self._comparison.wanted

    def _let_questions_pass(self) -> None:
        """Leave the processor to questions for a moment; not for ever, or indexing would starve."""
        deadline = time.monotonic() + _GIVE_WAY_S
        while self._questions_wait() and time.monotonic() < deadline and not self._stopping:
            time.sleep(0.005)

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

    def _rest(self, changes: int) -> None:
        with self._wake:
            if self._stopping or self._has_urgent() or self._woken:
                self._woken = False
                return
            # A lock that another process holds, or embeddings that another thread makes, are looked for again soon.
            is_waiting = self._lock.is_locked or self._progress.phase is Phase.WAITING
            due_in_s = self._comparison.due_in_s() if self._asked and not self._cancelled else None
            typed_in_s = self._inbox.due_in_s
            if is_waiting or typed_in_s is not None:
                self._wake.wait(_TAKE_OVER_S if typed_in_s is None else min(typed_in_s, _TAKE_OVER_S))
                return
            # What is overdue waits for something else.
            longest_s = due_in_s if due_in_s and due_in_s > 0 else _LONG_REST_S
            self._rest_until_change(changes, min(longest_s, _LONG_REST_S if self._is_done() else _RETRY_S))

    def _rest_until_change(self, changes: int, longest_s: float) -> None:
        """Rest until something arrives, or another process wrote to the store since it had made so many `changes`."""
        deadline = time.monotonic() + longest_s
        while (left_s := deadline - time.monotonic()) > 0:
            if self._wake.wait(min(_GLANCE_S, left_s)) or self._store.changes() != changes:
                return

    def _is_done(self) -> bool:
        is_put_off = self._cancelled or self._depth is Depth.COMPARE
        return is_put_off or self._store.queue_lengths() == (0, 0)

    def _pause(self, seconds: float) -> None:
        with self._wake:
            if not self._stopping:
                self._wake.wait(seconds)

    def _report(self, progress: Progress) -> None:
        self._progress = progress
        for listener in self._listeners:
            listener(progress)
