"""The work that waits for one project's background threads: typed texts, changed files, the queued files that go
first, and comparisons of the tree with the index."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from rag_ls.indexing.progress import Depth
from rag_ls.indexing.rests import Rests
from rag_ls.indexing.wake import Wake
from rag_ls.util.records import dataclass, field

# A comparison gets old after this time, or after this many times its own duration, whichever is longer.
_MIN_REST_S = 2.0
_REST_FACTOR = 20
# As the factor above, where somebody asks who would miss what was written since.
_ASKED_REST_FACTOR = 4
# A question in an unwatched tree waits for a comparison that takes at most so long.
_MAX_QUICK_S = 0.15
# In a process that no other client uses, the first comparison is done for the question itself, and watching begins a second later.
_FIRST_RECENT_S = 1.5
# Between two requested checks lies at most this time, or this many times the last comparison's duration, because other work may
# have slowed that comparison down.
_MAX_CHECK_REST_S = 20.0
_CHECK_REST_FACTOR = 4

_REFUSED = "{} is open in an editor with a text that is not indexed ({}): answers have its saved text"

Key = tuple[str, str]
"""An editing session and the path of a document that it holds."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """An editor's text of a document, as of one version."""

    path: str
    text: str
    language: str | None = None
    guest: bool = False
    """Whether the document is not one of the project's files."""
    notebook: str = ""
    """Of a cell, the path of the project's notebook that it is in."""


class Inbox:
    """Holds typed texts, only the latest of each document, and changed files. Every arrival notifies `wake`."""

    def __init__(self, wake: Wake) -> None:
        self._wake = wake
        self._buffers: dict[Key, Buffer] = {}
        # Documents whose buffer was opened, changed or closed: the latest text is read when their turn comes.
        self._typed: dict[Key, None] = {}
        # The time when postponed documents may be taken again (monotonic clock).
        self._not_before: dict[Key, float] = {}
        self._changed: set[str] = set()
        # Changed files that are not read yet, because they keep changing.
        self._resting: set[str] = set()
        self._rests = Rests()
        # The reasons why texts are not indexed whose files are.
        self._refused: dict[Key, str] = {}
        self._in_hand: set[str] = set()
        self._held = False

    # --- what comes in

    def put_buffer(self, session: str, buffer: Buffer) -> None:
        """An editor holds this text of a document now."""
        with self._wake.news():
            self._buffers[session, buffer.path] = buffer
            self._typed[session, buffer.path] = None

    def close_buffer(self, session: str, path: str) -> None:
        """Record that an editor closed a document."""
        with self._wake.news():
            self._buffers.pop((session, path), None)
            self._typed[session, path] = None
            self._not_before.pop((session, path), None)

    def close_session(self, session: str) -> None:
        """Close all documents of an editor that left."""
        for buffer in self.buffers(session):
            self.close_buffer(session, buffer.path)

    def put_files(self, paths: Iterable[str]) -> None:
        """Record files that were written, created or deleted."""
        with self._wake.news():
            arrived = set(paths)
            now = time.monotonic()
            resting = {path for path in arrived if self._rests.due_in_s(path, now) > 0}
            self._resting |= resting
            self._changed |= arrived - resting
            # A buffer whose text equalled the file may differ from it now.
            for key in [key for key in self._buffers if key[1] in arrived]:
                self._typed[key] = None
                self._not_before.pop(key, None)

    def note_read(self, path: str, cost_s: float) -> None:
        """Note that a changed file was read: one that keeps changing rests before it is read again."""
        with self._wake.condition:
            self._rests.note_read(path, cost_s, time.monotonic())

    def note_refused(self, key: Key, reason: str) -> None:
        """Note why an editor's text is not indexed; with an empty reason, that it is."""
        with self._wake.condition:
            self._refused.pop(key, None)
            if reason:
                self._refused[key] = reason

    def delay(self, key: Key, seconds: float) -> None:
        """Postpone a document's further texts by some seconds, unless it is closed or saved, or a question comes."""
        with self._wake.condition:
            if key in self._buffers:
                self._not_before[key] = time.monotonic() + seconds

    def end_delays(self) -> None:
        """Release all postponed texts, because a question waits for them."""
        if self._not_before:
            with self._wake.news():
                self._not_before.clear()

    def end_rests(self) -> None:
        """Release the files that keep changing and are quickly read, because a question wants them as they are."""
        if self._resting:
            with self._wake.news():
                self._end_rests({path for path in self._resting if self._rests.is_cheap(path)})

    def _end_rests(self, paths: set[str]) -> None:
        self._resting -= paths
        self._changed |= paths

    def hold_files(self, held: bool) -> None:
        """Hold changed files back, or release them: a program may be in the middle of writing them."""
        if held != self._held:
            with self._wake.news():
                self._held = held

    # --- what goes out

    @property
    def has_typed(self) -> bool:
        """Whether a typed text can be taken now."""
        return self.due_in_s == 0

    @property
    def due_in_s(self) -> float | None:
        """Seconds until the next typed text can be taken; None where none waits."""
        with self._wake.condition:
            due = min((self._not_before.get(key, 0.0) for key in self._typed), default=None)
        return None if due is None else max(0.0, due - time.monotonic())

    @property
    def next_in_s(self) -> float | None:
        """Seconds until the next typed text or resting file can be taken; None where none waits."""
        typed_in_s, now = self.due_in_s, time.monotonic()
        with self._wake.condition:
            waits = [self._rests.due_in_s(path, now) for path in self._resting]
        waits += [typed_in_s] if typed_in_s is not None else []
        return max(0.0, min(waits)) if waits else None

    @property
    def unread_note(self) -> str:
        """The changed files that are not read yet because they keep changing, and the editors' texts that are not indexed, in
        words; empty for none."""
        with self._wake.condition:
            resting = self._rests.describe(self._resting, time.monotonic()) if self._resting else ""
        return "; ".join(filter(None, (resting, self.describe_refused())))

    def describe_refused(self, path: str = "") -> str:
        """The editors' texts that are not indexed, in words, of one document or of all; empty for none."""
        with self._wake.condition:
            refused = [(held, reason) for (_, held), reason in self._refused.items() if path in ("", held)]
        return "; ".join(_REFUSED.format(held, reason) for held, reason in refused)

    @property
    def has_files(self) -> bool:
        """Whether changed files can be taken."""
        if self._resting:
            now = time.monotonic()
            with self._wake.condition:
                self._end_rests({path for path in self._resting if self._rests.due_in_s(path, now) <= 0})
        return bool(self._changed) and not self._held

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits (held files count, resting ones do not) and nothing that was taken is unfinished."""
        # Under the lock, because an entry that is just being taken is in neither collection.
        with self._wake.condition:
            return not (self._typed or self._changed or self._in_hand)

    @property
    def is_held(self) -> bool:
        """Whether changed files are kept back."""
        return self._held

    def take_typed(self) -> tuple[Key, Buffer | None] | None:
        """Take the typed or closed document that waits longest and is not postponed; call `done` after it."""
        now = time.monotonic()
        with self._wake.condition:
            key = next((key for key in self._typed if self._not_before.get(key, 0.0) <= now), None)
            if key is None:
                return None
            del self._typed[key]
            self._in_hand.add(key[1])
            return key, self._buffers.get(key)

    def take_files(self) -> list[str]:
        """Take all changed files; call `done` after them."""
        with self._wake.condition:
            if not self.has_files:
                return []
            taken = sorted(self._changed)
            self._changed.clear()
            self._in_hand.update(taken)
            return taken

    def put_back(self, key: Key) -> None:
        """A typed document that was taken could not be stored now."""
        with self._wake.condition:
            self._typed[key] = None

    def done(self, paths: Iterable[str]) -> None:
        """Note that taken documents are in the index, or in its queue."""
        with self._wake.condition:
            self._in_hand.difference_update(paths)

    # --- what can be asked

    def buffer(self, session: str, path: str) -> Buffer | None:
        """The text of a document that an editor holds; None if it does not hold it."""
        return self._buffers.get((session, path))

    def waiting_text(self, path: str) -> str | None:
        """The text of a document that an editor holds, and that is not in the index yet; None where none waits."""
        with self._wake.condition:
            waiting = [
                buffer
                for (owner, held), buffer in self._buffers.items()
                if held == path and ((owner, held) in self._typed or held in self._in_hand)
            ]
        return waiting[-1].text if waiting else None

    def buffers(self, session: str) -> list[Buffer]:
        """All texts that an editor holds."""
        with self._wake.condition:
            return [buffer for (owner, _), buffer in self._buffers.items() if owner == session]

    def has_text_of(self, session: str) -> bool:
        """Whether a text that an editor holds waits, or was taken and is not done."""
        with self._wake.condition:
            waits = any(owner == session for owner, _ in self._typed)
            return waits or any((session, path) in self._buffers for path in self._in_hand)

    def paths(self) -> frozenset[str]:
        """The documents that wait, or that were taken and are not done."""
        with self._wake.condition:
            return frozenset({*(path for _, path in self._typed), *self._changed, *self._in_hand})


class ReadingOrder:
    """Gives queued files in queue order, but files that a question is about first.

    One thread reads; any thread may call `put_first` and `choosing`.
    """

    def __init__(self) -> None:
        self._rest: deque[str] = deque()
        self._left: set[str] = set()
        # Files that were yielded and are not stored yet, and files that are stored.
        self._in_hand: set[str] = set()
        self._finished: set[str] = set()
        self._first: deque[str] = deque()
        self._asked: tuple[str, ...] = ()
        self._lock = threading.Lock()
        self._choosing = 0
        self._chosen = threading.Condition(self._lock)

    @contextmanager
    def choosing(self) -> Iterator[None]:
        """Make the reader wait while a question decides which files go first."""
        with self._lock:
            self._choosing += 1
        try:
            yield
        finally:
            with self._lock:
                self._choosing -= 1
                self._chosen.notify_all()

    def wait_until_chosen(self, timeout_s: float) -> None:
        """Wait until no question is inside `choosing`."""
        with self._lock:
            self._chosen.wait_for(lambda: not self._choosing, timeout_s)

    def put_first(self, paths: Iterable[str]) -> None:
        """Read these files before all others, in this order; paths that are not queued are ignored."""
        with self._lock:
            self._asked = tuple(dict.fromkeys((*paths, *self._asked)))
            self._first = deque(self._asked)

    def of(self, queued: Iterable[str]) -> Iterator[str]:
        """Yield each queued path once; the next one is chosen only when it is asked for.

        `put_first` stays in force for a later queue, because files that were yielded here may not have been read.
        """
        self._rest.clear()
        for paths in (self._left, self._in_hand, self._finished):
            paths.clear()
        self.add(queued)
        with self._lock:
            self._asked = tuple(path for path in self._asked if path in self._left)
        while self._left:
            path = self._next()
            if path in self._left:
                self._left.remove(path)
                self._in_hand.add(path)
                yield path

    def add(self, queued: Iterable[str]) -> None:
        """Add files to the queue; one that is finished is yielded again.

        One that is in hand is not: if it changed since it was read, the store keeps it queued for the next time.
        """
        new = [path for path in queued if path not in self._left and path not in self._in_hand]
        self._rest.extend(new)
        self._left.update(new)
        self._finished.difference_update(new)
        with self._lock:
            self._first = deque(self._asked)

    def finish(self, paths: Collection[str]) -> None:
        """Note that yielded files are stored."""
        self._in_hand.difference_update(paths)
        self._finished.update(paths)

    @property
    def done(self) -> int:
        """The number of files that are finished, and were not queued again."""
        return len(self._finished)

    @property
    def total(self) -> int:
        """The number of files that were queued since `of` began; each counts once."""
        return len(self._left) + len(self._in_hand) + len(self._finished)

    def _next(self) -> str:
        with self._lock:
            return self._first.popleft() if self._first else self._rest.popleft()


class Comparison:
    """Tracks when one project's tree is compared with its index. The caller's lock guards it.

    A *wanted* comparison is known to be needed: answers are incomplete until it is done. A *due* one is only a check
    (after git wrote its index, or at the periodic sweep); no answer waits for it.
    """

    def __init__(self, sweep_s: float) -> None:
        self.sweep_s = sweep_s
        """Seconds between two sweeps; 0 for none."""
        self.wanted = False
        self.running = False
        self.synced_at: datetime | None = None
        """The time at which the index last took in a comparison or a batch of changed files."""
        self._is_check = False
        self._check_asked = False
        self._is_repeated = False
        self._done_at: float | None = None
        self._started_at = 0.0
        self._took_s = 0.0

    def check_soon(self) -> None:
        """Ask for a check when nothing else is to do and the last comparison is not too recent."""
        self._check_asked = True

    def begin(self) -> None:
        """Note that a comparison starts. A request that comes while it runs leads to another one."""
        self._is_check = not self.wanted
        # Keep this order: a thread that reads without the lock must always see one of the two.
        self.running = True
        self.wanted, self._check_asked = False, False
        self._started_at = time.monotonic()

    def finish(self, *, done: bool) -> None:
        """Note that the comparison ended; one that was not `done` is wanted again."""
        self.running = False
        if done:
            self._is_repeated = self._done_at is not None
            self._done_at = time.monotonic()
            self._took_s = self._done_at - self._started_at
            self.note_sync()
        else:
            self.wanted = True

    def note_sync(self) -> None:
        """Note that the index now has every known change."""
        self.synced_at = datetime.now(UTC)

    @property
    def is_first(self) -> bool:
        """Whether none was done yet."""
        return self._done_at is None

    @property
    def is_current(self) -> bool:
        """Whether a comparison was done, and no further one is known to be needed."""
        return self._done_at is not None and not self.is_awaited

    @property
    def is_pending(self) -> bool:
        """Whether a comparison is wanted or running, checks included."""
        return self.wanted or self.running

    @property
    def is_awaited(self) -> bool:
        """Whether a comparison that answers wait for is wanted or running."""
        return self.wanted or (self.running and not self._is_check)

    @property
    def is_old(self) -> bool:
        """Whether unwatched files may have changed since. A tree that takes long to compare is compared less often."""
        rest_s = max(_MIN_REST_S, _ASKED_REST_FACTOR * self._took_s)
        return self._done_at is not None and time.monotonic() - self._done_at > rest_s

    @property
    def is_quick(self) -> bool:
        """Whether a question can wait for a comparison of this tree."""
        return self._done_at is not None and self._took_s <= _MAX_QUICK_S

    def is_recent_at(self, moment: float, *, is_alone: bool) -> bool:
        """Whether what was on the disk at a moment (monotonic clock) is compared; `is_alone`: or was, for the process's own question."""
        recent_s = _FIRST_RECENT_S if is_alone and not self._is_repeated else 0.0
        return self._done_at is not None and self._done_at + recent_s >= moment

    def due_in_s(self) -> float | None:
        """Seconds until the next check, 0 or less when it is due; None where no check is planned."""
        if self._done_at is None:
            return None
        longest_s = max(_MAX_CHECK_REST_S, _CHECK_REST_FACTOR * self._took_s)
        rests = [min(self._rest_s, longest_s)] * self._check_asked + [self.sweep_s] * (self.sweep_s > 0)
        return self._done_at + min(rests) - time.monotonic() if rests else None

    @property
    def _rest_s(self) -> float:
        return max(_MIN_REST_S, _REST_FACTOR * self._took_s)


@dataclass(slots=True)
class Agenda:
    """All waiting work, and how far to go with it. Writers hold the lock of `wake`; readers of one flag need not."""

    comparison: Comparison
    wake: Wake = field(default_factory=Wake)
    """Notified whenever something arrives."""
    inbox: Inbox = field(init=False)
    order: ReadingOrder = field(default_factory=ReadingOrder)
    # A queue that an earlier process left is finished without a request.
    depth: Depth = Depth.EMBEDDINGS
    """The last step to take."""
    is_asked: bool = False
    """Whether a client wants this project indexed."""
    outlasts_clients_since: float | None = None
    """Since when the work is to be done though its client may leave (monotonic clock)."""
    is_cancelled: bool = False
    is_stopping: bool = False
    is_woken: bool = False
    """Whether a request came between the last look for work and the rest after it."""

    def __post_init__(self) -> None:
        self.inbox = Inbox(self.wake)
