"""The background work of one open project: documents in one thread, embeddings in another."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable

from filelock import FileLock

from rag_ls.embedding import ModelHost
from rag_ls.indexing.agenda import Agenda, Comparison
from rag_ls.indexing.documents_thread import MAX_AWAITED_FILES, DocumentsThread
from rag_ls.indexing.embedder import EmbeddingQueue
from rag_ls.indexing.intake import IndexedProject
from rag_ls.indexing.progress import Depth, Phase, Progress, ProgressBoard

# Polled, because another process may do the work, and gives no signal.
_LOOK_S = 0.25
# Longer than a model takes to load. Without any step for this time, the work is stuck.
_GIVES_UP_AFTER_S = 30.0


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
        """The process that holds `lock` works through the queue. `sweep_s` is the time in seconds between two checks of
        the tree; 0 for none."""
        self._store = project.index.checkout
        self._agenda = Agenda(Comparison(sweep_s))
        self.comparison = self._agenda.comparison
        """Tells when the tree was compared with the index."""
        self.inbox = self._agenda.inbox
        """Takes typed texts and changed files."""
        self._board = ProgressBoard()
        self._lock = lock
        self.embeddings = EmbeddingQueue(project, models, self._board)
        self.documents = DocumentsThread(project, self._agenda, self.embeddings, lock, self._board)

    # --- what the engine says

    def start(self) -> None:
        self.documents.start()
        self.embeddings.start()

    def begin_stop(self) -> None:
        """Tell the threads to end after their current step, without waiting for them."""
        self._agenda.is_stopping = True
        self._agenda.wake.close()
        self.embeddings.begin_stop()
        self._board.note_step()

    def stop(self) -> None:
        """Stop after the current step; unfinished work stays queued in the database."""
        self.begin_stop()
        self.embeddings.stop()
        self.documents.join()
        self._lock.release(force=True)
        self._board.report(Progress(Phase.IDLE))

    # --- rest

    @property
    def idle_s(self) -> float:
        """For how many seconds there was nothing to do; 0 while work goes on."""
        return min(self.documents.idle_s, self.embeddings.idle_s)

    def end_threads(self) -> bool:
        """Let the threads end while there is nothing to do; new work starts them again. Whether none runs now."""
        with self._agenda.wake.condition:
            has_ended = self._agenda.wake.let_end()
        return self.embeddings.let_end() and has_ended

    @property
    def has_due_work(self) -> bool:
        """Whether a check of the tree is due, or the model that texts wait for can be had now. Asks no store."""
        due_in_s = self.comparison.due_in_s() if self.is_asked else None
        return (due_in_s is not None and due_in_s <= 0) or self.embeddings.can_go_on

    def look_again(self) -> None:
        """Have the threads look for work, because another process may have left some."""
        with self._agenda.wake.news():
            self._agenda.is_woken = True
        self.embeddings.wake()

    def listen(self, listener: Callable[[Progress], None]) -> Callable[[], None]:
        """Call `listener` from a background thread with each step of progress. Call the returned function to stop."""
        return self._board.listeners.listen(listener)

    def rescan(self) -> None:
        """Compare the tree with the index again, without changing how far indexing goes."""
        with self._agenda.wake.news():
            self.comparison.wanted = True

    def compare(self) -> None:
        """Compare the tree with the index again. This starts no reading or embedding, and undoes no `cancel`."""
        with self._agenda.wake.news():
            if not self._agenda.is_asked and not self._agenda.is_cancelled:
                self._agenda.depth = Depth.COMPARE
            self.comparison.wanted = True
            self._agenda.is_woken = True

    def sweep_every(self, seconds: float) -> None:
        """Compare the tree as a check every `seconds` seconds; never for 0."""
        with self._agenda.wake.news():
            self.comparison.sweep_s = seconds

    def index_tree(self, depth: Depth = Depth.EMBEDDINGS) -> None:
        """Compare the tree with the index and work through what changed, in the background, as far as `depth`."""
        # Forget former problems: the disk may have room by now.
        self.documents.problem = self.embeddings.problem = ""
        with self._agenda.wake.news():
            # A client that asks for less must not undo what another client asked for.
            self._agenda.depth = max(depth, self._agenda.depth) if self._agenda.is_asked else depth
            self._agenda.is_asked, self.comparison.wanted, self._agenda.is_cancelled = True, True, False
            self._agenda.is_woken = True

    def resume(self) -> None:
        """Go on with the queue, without another comparison, because a client opened the project again."""
        with self._agenda.wake.news():
            self._agenda.is_asked, self._agenda.depth, self._agenda.is_cancelled = True, Depth.EMBEDDINGS, False
            self._agenda.is_woken = True

    def go_on_alone(self) -> None:
        """Work through the queue and embed all of it, though the client that asked for it may leave at once."""
        # Set before the threads look for work: if they find none, they take it back.
        self._agenda.outlasts_clients_since = time.monotonic()
        self.resume()

    def pause(self) -> None:
        """Leave the queue alone until `index_tree` or `resume`, because no client has the project open."""
        with self._agenda.wake.condition:
            self._agenda.is_asked, self._agenda.depth = False, Depth.COMPARE
            self._agenda.outlasts_clients_since = None
        self.embeddings.bulk = False

    def cancel(self) -> None:
        """Stop background indexing until `index_tree` or `resume`; typed documents are still indexed."""
        with self._agenda.wake.condition:
            self._agenda.is_cancelled = True
        self.embeddings.bulk = False
        self._board.report(Progress(Phase.CANCELLED))

    def read_first(self, paths: Iterable[str]) -> None:
        """Read these queued files before the rest, because a question is about them."""
        self._agenda.order.put_first(paths)
        with self._agenda.wake.news():
            self._agenda.is_woken = True

    # --- what can be asked

    @property
    def progress(self) -> Progress:
        return self._board.now

    @property
    def activity(self) -> Progress:
        """The activity as people are told it: the present progress, the loading of a model that work waits for, or that
        another process does what is left.
        """
        now = self._board.now
        if now.phase is not Phase.IDLE or self.embeddings.waits_for or self._has_embedded_all():
            return now
        if self.embeds:
            return Progress(Phase.LOADING)
        return Progress(Phase.WAITING) if self.documents.is_locked_elsewhere else now

    @property
    def is_left_over(self) -> bool:
        """Whether no client has the project indexed now, and files wait to be read or chunks to be embedded."""
        if self.is_asked or self._board.now.phase is Phase.CANCELLED:
            return False
        return self._store.queue.has_any() or self.embeddings.has_work()

    @property
    def outlasts_clients(self) -> bool:
        """Whether work that `go_on_alone` asked for is left. Asks no store."""
        since = self._agenda.outlasts_clients_since
        if since is None or not self.is_asked or self.embeddings.waits_for or self.embeddings.is_bulk_elsewhere:
            return False
        return min(self.idle_s, time.monotonic() - since) < _GIVES_UP_AFTER_S

    @property
    def problem(self) -> str:
        """The reason why indexing cannot go on until the user makes room on a disk or lets processes start; empty otherwise."""
        return self.documents.problem or self.embeddings.problem

    @property
    def scanned(self) -> bool:
        """Whether this process compared the tree with the index, and no further comparison is wanted."""
        return self.comparison.is_current

    @property
    def reads(self) -> bool:
        """Whether this process reads the queue, now or as soon as it can, and no error prevents that."""
        is_wanted = self._agenda.depth >= Depth.WORDS and not (self._agenda.is_cancelled or self._agenda.is_stopping)
        return is_wanted and not self.documents.is_failing and self._board.now.phase is not Phase.WAITING

    @property
    def embeds(self) -> bool:
        """Whether this process embeds what is left, now or as soon as it can."""
        return self.reads and self._agenda.depth >= Depth.EMBEDDINGS

    @property
    def is_asked(self) -> bool:
        """Whether a client wants the project indexed, and none cancelled it. Without one, bulk work ends when the last client leaves."""
        return self._agenda.is_asked and not self._agenda.is_cancelled

    def settle(self, deadline: float, *, reads_queue: bool) -> None:
        """Wait until typed texts and changed files are in the index; `reads_queue`: and what the last comparison queued.

        Waits until `deadline` (monotonic clock) at most, and for no more files than a moment is enough for.
        """
        self.wait_until(self._has_taken_in, deadline - time.monotonic())
        if reads_queue:
            self.wait_until(lambda: not _are_few(self._store.queue.count()), deadline - time.monotonic())

    def settle_text_of(self, session: str, longest_s: float) -> None:
        """Wait until the texts that an editor holds are in the index, unless no text can be written there now."""

        def is_taken_in() -> bool:
            if self.documents.is_failing or not self.inbox.has_text_of(session):
                return True
            self.inbox.end_delays()
            return False

        self.wait_until(is_taken_in, longest_s)

    def _has_taken_in(self) -> bool:
        is_compared_again = not self.comparison.is_first and not self.scanned
        if not (is_compared_again or _are_few(len(self.inbox.paths()))):
            return True
        # Asked repeatedly: a document is postponed again when it is cut, though a newer text of it may wait.
        self.inbox.end_delays()
        return False

    def wait_until(self, is_reached: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until `is_reached`, which is asked after each step of the background threads; False on time-out."""
        return any(is_reached() for _ in self._board.follow_steps(timeout_s, _LOOK_S))

    def wait_for_scan(self, timeout_s: float) -> bool:
        """Wait until the tree was compared with the index; False on time-out."""
        for _ in self._board.follow_steps(timeout_s):
            if not self.comparison.is_pending or self._agenda.is_stopping:
                break
        return self.scanned

    def wait_until_idle(self, timeout_s: float | None = None, *, embeddings: bool = True) -> bool:
        """Wait until all known work is done, embedding included if asked for; False on time-out or cancellation."""
        self.inbox.end_delays()
        for _ in self._board.follow_steps(math.inf if timeout_s is None else timeout_s, _LOOK_S):
            if self._is_idle(embeddings):
                return True
            if self._agenda.is_cancelled or self._agenda.is_stopping:
                break
        return False

    def _is_idle(self, embeddings: bool) -> bool:
        with self._agenda.wake.condition:
            if not self.inbox.is_empty or self.comparison.is_pending:
                return False
        if self._store.queue.has_any():
            return False
        return not embeddings or bool(self.embeddings.waits_for) or self._has_embedded_all()

    def _has_embedded_all(self) -> bool:
        return self.embeddings.idle and not self.embeddings.has_work()


def _are_few(files: int) -> bool:
    """Whether a question can wait for so many files; False for none."""
    return 0 < files <= MAX_AWAITED_FILES
