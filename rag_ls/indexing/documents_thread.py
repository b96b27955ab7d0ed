"""The thread that brings documents up to date: what is typed first, then changed files, then the queue.

The queue is in the database: whatever is interrupted goes on at the next start. One process at a time works through
it (a file lock says which), while each process indexes its own interactive documents.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import closing

from filelock import FileLock, Timeout

from rag_ls.errors import StoreError
from rag_ls.indexing.agenda import Agenda
from rag_ls.indexing.documents import MIN_FILES_FOR_PROCESSES, Intake
from rag_ls.indexing.embedder import EmbeddingQueue, imported_by
from rag_ls.indexing.indexed_project import IndexedProject
from rag_ls.indexing.progress import Depth, Phase, Progress, ProgressBoard
from rag_ls.storage import Priority

_log = logging.getLogger(__name__)

# How often a process asks whether the one that indexes is done, or gone.
_TAKE_OVER_S = 1.0
_RETRY_S = 5.0
# With nothing to do: how often to look whether another process wrote, and how often to look at everything.
_CHANGES_LOOK_S = 10.0
_LONG_REST_S = 60.0
# Between two files of a queue, so long is given to questions that are being answered.
_MAX_GIVE_WAY_S = 0.05
# A question may take so long to say which files of a long queue go first.
_MAX_CHOICE_S = 1.0
# A document that is typed in is cut again after so many times what cutting it took, at most so long; small documents thus at
# once. A core that cuts a large document after every key is one that the editor lacks.
_PAUSE_FACTOR = 4
_MAX_PAUSE_S = 2.0
# More files than these that changed at once are a batch: it goes through the queue, behind what is typed.
MAX_AWAITED_FILES = 20


class _Stopped(Exception):
    """The service is to end."""


class DocumentsThread:
    """Works through an agenda until it is to stop."""

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
        # Documents that an editor has open, whose imports were asked for.
        self._followed: set[tuple[str, str]] = set()
        self._failing = False
        self._thread = threading.Thread(target=self._run, name="documents", daemon=True)

    def start(self) -> None:
        """Start it."""
        self._thread.start()

    def join(self) -> None:
        """Wait until it has ended, where it was started."""
        if self._thread.is_alive():
            self._thread.join()

    @property
    def is_failing(self) -> bool:
        """Whether the last step ended in an error."""
        return self._failing

    def _run(self) -> None:
        try:
            self._work()
        finally:
            self._intake.close()

    def _work(self) -> None:
        while not self._agenda.is_stopping:
            try:
                changes = self._store.changes()
                has_more = self._step()
                self._failing = False
                if not has_more:
                    self._rest(changes)
            except StoreError as error:
                if self._agenda.is_stopping:
                    return
                _log.warning("indexing failed, trying again: %s", error)
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
        except StoreError:
            self._inbox.put_back(key)
            raise
        except Exception:
            _log.exception("the unsaved text of %s cannot be indexed", path)
        finally:
            self._inbox.put_off(key, min(_PAUSE_FACTOR * (time.monotonic() - started), _MAX_PAUSE_S))
            self._inbox.done([path])
        return True

    def _changed_step(self) -> bool:
        """Read the files again that are known to have changed."""
        changed = self._inbox.take_files()
        if not changed:
            return False
        try:
            self._index_changed(changed)
        except StoreError:
            self._inbox.put_files(changed)
            raise
        finally:
            self._inbox.done(changed)
        return True

    def _index_changed(self, paths: list[str]) -> None:
        """Read a few files again at once; many are a batch for the queue. A crash forgets none either way."""
        wanted = self._intake.wanted(paths)
        if len(wanted) > 1:
            self._store.queue.add(wanted)
        if len(wanted) > MAX_AWAITED_FILES:
            self._order.add(wanted)
            return
        for path in wanted:
            self._intake.take_file(path, Priority.INTERACTIVE)
            if self._inbox.has_typed or self._agenda.is_stopping:
                self._inbox.put_files(left for left in wanted if left > path)
                break
        else:
            self._comparison.note_sync()
        self._embeddings.wake()

    def _background_step(self) -> bool:
        if self._comparison.wanted:
            # A scan only fills the queue: any process may do it, also one that does not work through it.
            self._scan()
            return True
        if self._agenda.is_cancelled:
            self._intake.close()
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
        pending = self._agenda.depth >= Depth.EMBEDDINGS and self._embeddings.has_work()
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
        with self._agenda.wake:
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
            with self._agenda.wake:
                self._comparison.finish(done=done)

    def _give_way(self) -> None:
        """Let what is typed go before the rest of a scan. Raises `_Stopped` when there is to be no rest."""
        if self._agenda.is_stopping:
            raise _Stopped
        while self._inbox.has_typed:
            self._typed_step()

    def _read_queue(self, queued: list[str]) -> None:
        """Work through the queue; what is more urgent goes in between."""
        self._board.report(Progress(Phase.READING, 0, len(queued)))
        done, many, fingerprint = 0, len(queued) >= MIN_FILES_FOR_PROCESSES, self._documents.fingerprint
        if many:
            self._intake.start_cutters()
            self._order.wait_until_chosen(_MAX_CHOICE_S)
        with closing(self._intake.take_all(self._order.of(queued), many=many)) as batches:
            for count in batches:
                done += count
                self._board.report(Progress(Phase.READING, done, len(queued)))
                if self._comparison.wanted and not self._agenda.is_stopping:
                    self._scan()
                    self._order.add(self._store.queue.paths())
                if self._documents.fingerprint != fingerprint:
                    # What is on its way was cut as the former settings say.
                    self._intake.close()
                    return
                if self._agenda.is_stopping or self._agenda.is_cancelled:
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
        deadline = time.monotonic() + _MAX_GIVE_WAY_S
        while self._project.questions_wait() and time.monotonic() < deadline and not self._agenda.is_stopping:
            time.sleep(0.005)

    def _hold_lock(self) -> bool:
        """Whether this process is the one that works through the queue."""
        if self._lock.is_locked:
            return True
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            self._board.report(Progress(Phase.WAITING))
            return False
        return True

    def _release_lock(self, phase: Phase = Phase.IDLE) -> None:
        """Nothing is left to do here: let other processes look for themselves."""
        self._embeddings.bulk = False
        if self._lock.is_locked:
            self._lock.release()
        if self._board.now.phase is not phase:
            self._board.report(Progress(phase))

    def _rest(self, changes: int) -> None:
        with self._agenda.wake:
            if self._agenda.is_stopping or self._has_urgent() or self._agenda.is_woken:
                self._agenda.is_woken = False
                return
            # A lock that another process holds, or embeddings that another thread makes, are looked for again soon.
            is_waiting = self._lock.is_locked or self._board.now.phase is Phase.WAITING
            due_in_s = self._comparison.due_in_s() if self._agenda.is_asked and not self._agenda.is_cancelled else None
            typed_in_s = self._inbox.due_in_s
            if is_waiting or typed_in_s is not None:
                self._agenda.wake.wait(_TAKE_OVER_S if typed_in_s is None else min(typed_in_s, _TAKE_OVER_S))
                return
            # What is overdue waits for something else.
            longest_s = due_in_s if due_in_s and due_in_s > 0 else _LONG_REST_S
            self._rest_until_change(changes, min(longest_s, _LONG_REST_S if self._is_done() else _RETRY_S))

    def _rest_until_change(self, changes: int, longest_s: float) -> None:
        """Rest until something arrives, or another process wrote to the store since it had made so many `changes`."""
        deadline = time.monotonic() + longest_s
        while (left_s := deadline - time.monotonic()) > 0:
            if self._agenda.wake.wait(min(_CHANGES_LOOK_S, left_s)) or self._store.changes() != changes:
                return

    def _is_done(self) -> bool:
        is_put_off = self._agenda.is_cancelled or self._agenda.depth is Depth.COMPARE
        return is_put_off or self._store.queue_lengths() == (0, 0)

    def _pause(self, seconds: float) -> None:
        with self._agenda.wake:
            if not self._agenda.is_stopping:
                self._agenda.wake.wait(seconds)
