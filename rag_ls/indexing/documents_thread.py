"""The thread that indexes documents: typed texts first, then changed files, then the queue.

The queue is in the database, so interrupted work goes on at the next start. One process at a time works through
the queue (it holds a file lock), while each process indexes its own interactive documents.
"""

from __future__ import annotations

import logging
import time
from contextlib import closing, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from rag_ls.errors import StoreError, StoreFull
from rag_ls.indexing.agenda import Agenda
from rag_ls.indexing.documents import MIN_FILES_FOR_PROCESSES
from rag_ls.indexing.embedder import EmbeddingQueue
from rag_ls.indexing.intake import IndexedProject, Intake
from rag_ls.indexing.progress import Depth, Phase, Progress, ProgressBoard
from rag_ls.storage import Priority
from rag_ls.util.files import clear_way
from rag_ls.util.guarded_processes import NoProcess

_log = logging.getLogger(__name__)

# How often to check whether the process that indexes has finished or gone.
_TAKE_OVER_S = 1.0
_RETRY_S = 5.0
# How often an idle thread checks whether another process wrote to the store, and how often it compares all files.
_CHANGES_LOOK_S = 10.0
_LONG_REST_S = 60.0
# The longest pause between two batches of the queue while questions are being answered.
_MAX_GIVE_WAY_S = 0.05
# A document that is being typed in is cut again after this many times its last cutting time, at most `_MAX_PAUSE_S`. So a small
# document is cut at once, and a large one does not take a core from the editor at every key.
_PAUSE_FACTOR = 4
_MAX_PAUSE_S = 2.0
# More files than this that change at once go through the queue, behind typed texts.
MAX_AWAITED_FILES = 20


class _Stopped(Exception):
    """Ends a scan because the service stops."""


class DocumentsThread:
    """Works through an agenda until the agenda says stop."""

    def __init__(
        self,
        project: IndexedProject,
        agenda: Agenda,
        embeddings: EmbeddingQueue,
        lock: FileLock,
        board: ProgressBoard,
    ) -> None:
        self._project = project
        self._documents = project.documents
        self._store = project.index.checkout
        self._intake = Intake(self._documents, self._store, project.admissions)
        self._agenda = agenda
        self._inbox, self._order, self._comparison = agenda.inbox, agenda.order, agenda.comparison
        self._embeddings = embeddings
        self._lock = lock
        self._board = board
        self._failures = 0
        self.problem = ""
        """The reason why it cannot go on until the user makes room on a disk; empty otherwise."""
        self._idle_since: float | None = None

    def start(self) -> None:
        self._agenda.wake.serve(self._run, "documents")

    def join(self) -> None:
        """Wait until it has ended, where it was started."""
        self._agenda.wake.join()

    @property
    def idle_s(self) -> float:
        """For how many seconds it has found nothing to do; 0 while it works, or waits for another process."""
        since = self._idle_since
        return time.monotonic() - since if since is not None else 0.0

    @property
    def is_failing(self) -> bool:
        """Whether the last step ended in an error."""
        return self._failures > 0

    def _run(self) -> None:
        with self._project.index.database.unnoticed():
            self._work()

    def _work(self) -> None:
        while not self._agenda.is_stopping:
            try:
                changes = self._store.changes()
                # The most urgent thing goes first.
                has_more = self._typed_step() or self._changed_step() or self._background_step()
                self._failures = 0
                if not has_more:
                    self.problem = ""
                self._note_idle(has_more)
                self._board.note_step()
                if not has_more and self._rest(changes):
                    return
            except (StoreError, NoProcess) as error:
                if self._agenda.is_stopping:
                    return
                if not self._failures:
                    _log.warning("indexing failed, trying again: %s", error)
                # Most causes may pass in a moment; if one lasts, the status tells of it, and nobody waits any more.
                is_lasting = isinstance(error, StoreFull) or self._failures > 0
                self._retry_later(str(error) if is_lasting else "")
            except Exception:
                _log.exception("indexing failed unexpectedly; trying again")
                self._retry_later()

    def _typed_step(self) -> bool:
        """Index the typed or closed document that waits longest."""
        taken = self._inbox.take_typed()
        if taken is None:
            return False
        key, buffer = taken
        session, path = key
        started = time.monotonic()
        try:
            refused = self._intake.take_buffer(session, path, buffer, self._inbox.cells(session, path))
            self._inbox.note_refused(key, refused)
            self._embeddings.wake()
        except (StoreError, NoProcess):
            self._inbox.put_back(key)
            raise
        except Exception:
            _log.exception("the unsaved text of %s cannot be indexed", path)
        finally:
            self._inbox.delay(key, min(_PAUSE_FACTOR * (time.monotonic() - started), _MAX_PAUSE_S))
            self._inbox.done([path])
        return True

    def _changed_step(self) -> bool:
        """Read the files again that are known to have changed."""
        changed = self._inbox.take_files()
        if not changed:
            return False
        try:
            self._index_changed(changed)
        except (StoreError, NoProcess):
            self._inbox.put_files(changed)
            raise
        finally:
            self._inbox.done(changed)
        return True

    def _index_changed(self, paths: list[str]) -> None:
        """Read a few files at once, but put many into the queue. Either way a crash loses none."""
        wanted = self._intake.find_wanted(paths)
        if len(wanted) > 1:
            self._store.queue.add(wanted)
        if len(wanted) > MAX_AWAITED_FILES:
            return
        for path in wanted:
            started = time.monotonic()
            self._intake.take_file(path, Priority.INTERACTIVE)
            spent_s = time.monotonic() - started
            self._inbox.note_read(path, spent_s)
            _log.info("%r of %s was indexed anew in %.0f ms", path, self._project.root, 1000 * spent_s)
            if self._inbox.has_typed or self._agenda.is_stopping:
                self._inbox.put_files(left for left in wanted if left > path)
                break
        else:
            self._comparison.note_sync()
        self._embeddings.wake()

    def _background_step(self) -> bool:
        if self._comparison.wanted:
            # A scan only fills the queue, so a process may scan without holding the lock.
            self._scan()
            return True
        if self._agenda.is_cancelled:
            self._release_lock(Phase.CANCELLED)
            return False
        queued = self._store.queue.paths() if self._agenda.depth >= Depth.WORDS else []
        if (
            not queued
            and self._agenda.is_asked
            and (due_in_s := self._comparison.due_in_s()) is not None
            and due_in_s <= 0
        ):
            self._scan()
            return True
        pending = self._agenda.depth >= Depth.EMBEDDINGS and (
            self._embeddings.has_work() or self._embeddings.has_to_share()
        )
        if not (queued or pending):
            if self._agenda.depth >= Depth.EMBEDDINGS:
                self._agenda.outlasts_clients_since = None
            self._release_lock()
            return False
        self._embeddings.is_bulk_elsewhere = not self._hold_lock()
        if self._embeddings.is_bulk_elsewhere:
            return False
        if queued:
            self._read_queue(queued)
            return True
        self._embeddings.bulk = True
        self._embeddings.wake()
        return False

    def _scan(self) -> None:
        with self._agenda.wake.condition:
            self._comparison.begin()
        if self._comparison.is_first:
            self._board.report(Progress(Phase.SCANNING))
        done = False
        try:
            self._project.compare_tree(self._give_way)
            done = True
        except _Stopped:
            return
        finally:
            with self._agenda.wake.condition:
                self._comparison.finish(done=done)
            self._board.note_step()

    def _give_way(self) -> None:
        """Index typed texts in the middle of a scan. Raises `_Stopped` when the scan is to end."""
        while not self._agenda.is_stopping:
            if not self._typed_step():
                return
        raise _Stopped

    def _read_queue(self, queued: list[str]) -> None:
        """Work through the queue, with more urgent work in between."""
        self._board.report(Progress(Phase.READING, 0, len(queued)))
        started, done = time.monotonic(), 0
        many, fingerprint = len(queued) >= MIN_FILES_FOR_PROCESSES, self._documents.cutting.fingerprint
        with closing(self._intake.take_all(self._order.of(queued), many=many)) as batches:
            for paths in batches:
                # Only a written batch shows that there is room again: a comparison in between writes nothing.
                self.problem = ""
                done += len(paths)
                self._board.report(Progress(Phase.READING, done, len(queued)))
                if self._comparison.wanted or self._documents.cutting.fingerprint != fingerprint:
                    # The queue may become another one; batches that were begun may be cut by former settings.
                    return
                if self._agenda.is_stopping or self._agenda.is_cancelled:
                    return
                # Meanwhile the cutters work on the next batches.
                while self._typed_step() or self._changed_step():
                    pass
                self._project.let_questions_pass(_MAX_GIVE_WAY_S)
        self._comparison.note_sync()
        _log.info(
            "%d waiting files of %s were read in %.1f s", len(queued), self._project.root, time.monotonic() - started
        )

    def _has_urgent(self) -> bool:
        """Whether work waits that goes before the queue."""
        return self._inbox.has_typed or self._inbox.has_files or self._comparison.wanted

    def _hold_lock(self) -> bool:
        """Take the lock on the queue; whether this process holds it."""
        if self._lock.is_locked:
            return True
        try:
            # git may have brought a link since the scan.
            with suppress(OSError):
                clear_way(Path(self._lock.lock_file))
            self._lock.acquire(timeout=0)
        except Timeout:
            self._board.report(Progress(Phase.WAITING))
            return False
        return True

    @property
    def is_locked_elsewhere(self) -> bool:
        """Whether another process holds the lock on the queue. Safe from several threads."""
        if self._lock.is_locked:
            return False
        try:
            # A second lock object: that of the thread may be used only there.
            with FileLock(self._lock.lock_file, timeout=0, mode=0o600):
                return False
        except Timeout:
            return True
        except OSError:
            return False

    def _release_lock(self, phase: Phase = Phase.IDLE) -> None:
        """Release the lock, because nothing is left to do here; another process may take it."""
        self._embeddings.bulk = False
        if self._lock.is_locked:
            self._lock.release()
        if self._board.now.phase is not phase:
            self._board.report(Progress(phase))

    def _note_idle(self, has_more: bool) -> None:
        if has_more or self._is_waiting:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = time.monotonic()

    @property
    def _is_waiting(self) -> bool:
        """Whether another process holds the lock, or the embedding thread is at work."""
        return self._lock.is_locked or self._board.now.phase is Phase.WAITING

    def _rest(self, changes: int) -> bool:
        """Rest until there may be something to do, or the store's change count differs from `changes` (another process
        wrote); whether the thread has to end instead.

        The store is asked without the lock: threads that bring work need it, and must not wait for a disk.
        """
        ends_at = time.monotonic() + (_LONG_REST_S if self._is_waiting or self._is_done() else _RETRY_S)
        while True:
            with self._agenda.wake.condition:
                if self._agenda.is_stopping or self._has_urgent() or self._agenda.is_woken:
                    self._agenda.is_woken = False
                    return False
                next_in_s = self._inbox.next_in_s
                if self._is_waiting or next_in_s is not None:
                    # Look again soon then.
                    soon_s = _TAKE_OVER_S if next_in_s is None else min(next_in_s, _TAKE_OVER_S)
                    self._agenda.wake.condition.wait(soon_s)
                    return False
                if self._agenda.wake.ends():
                    return True
                is_asked = self._agenda.is_asked and not self._agenda.is_cancelled
                due_in_s = self._comparison.due_in_s() if is_asked else None
                # An overdue comparison waits for other work, so its time does not bound the rest.
                if due_in_s and due_in_s > 0:
                    ends_at = min(ends_at, time.monotonic() + due_in_s)
                left_s = ends_at - time.monotonic()
                if left_s <= 0 or self._agenda.wake.condition.wait(min(_CHANGES_LOOK_S, left_s)):
                    return False
            if self._store.changes() != changes:
                return False

    def _is_done(self) -> bool:
        is_left = self._agenda.is_cancelled or self._agenda.depth is Depth.COMPARE
        return is_left or self._store.queue_lengths() == (0, 0)

    def _retry_later(self, problem: str = "") -> None:
        """Wait after a failed step, each time longer: a disk may be full for hours."""
        former, self.problem = self.problem, problem
        self._failures += 1
        if problem != former:
            self._board.tell_again()
        else:
            self._board.note_step()
        with self._agenda.wake.condition:
            if not self._agenda.is_stopping:
                self._agenda.wake.condition.wait(min(_RETRY_S * self._failures, _LONG_REST_S))
