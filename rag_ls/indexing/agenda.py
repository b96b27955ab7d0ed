"""What one project's background work is asked to do: texts that were typed, files that changed, the files of the queue that go
first, and comparisons of the tree with the index."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from rag_ls.indexing.progress import Depth

# No answer is given on a comparison with the files that is older than this, or than so many times what one takes.
_MIN_REST_S = 2.0
_REST_FACTOR = 20
# A check that was asked for does not rest longer than this after a comparison, or than so many times what that took: it
# may have been other work that slowed it down.
_MAX_CHECK_REST_S = 20.0
_CHECK_REST_FACTOR = 4

Key = tuple[str, str]
"""An editing session and the path of a document that it holds."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """An editor's text of a document, as of one version."""

    path: str
    text: str
    language: str | None = None
    guest: bool = False
    """Whether the document is none of the project's files."""


class Inbox:
    """Of each document, only the latest text waits. Every arrival wakes who waits at `wake`."""

    def __init__(self, wake: threading.Condition) -> None:
        self._wake = wake
        self._buffers: dict[Key, Buffer] = {}
        # Documents whose buffer was opened, changed or closed: the latest text is read when their turn comes.
        self._typed: dict[Key, None] = {}
        # When those that are put off may be taken again, on the monotonic clock.
        self._not_before: dict[Key, float] = {}
        self._changed: set[str] = set()
        self._in_hand: set[str] = set()
        self._held = False

    # --- what comes in

    def put_buffer(self, session: str, buffer: Buffer) -> None:
        """An editor holds this text of a document now."""
        with self._wake:
            self._buffers[session, buffer.path] = buffer
            self._typed[session, buffer.path] = None
            self._wake.notify_all()

    def close_buffer(self, session: str, path: str) -> None:
        """The editor let go of a document."""
        with self._wake:
            self._buffers.pop((session, path), None)
            self._typed[session, path] = None
            self._not_before.pop((session, path), None)
            self._wake.notify_all()

    def close_session(self, session: str) -> None:
        """An editor left, and lets go of all its documents."""
        for path in [path for owner, path in self._buffers.copy() if owner == session]:
            self.close_buffer(session, path)

    def put_files(self, paths: Iterable[str]) -> None:
        """Files were written, created or deleted."""
        with self._wake:
            arrived = set(paths)
            self._changed |= arrived
            # What counted as saved may differ from the file now.
            for key in [key for key in self._buffers if key[1] in arrived]:
                self._typed[key] = None
                self._not_before.pop(key, None)
            self._wake.notify_all()

    def put_off(self, key: Key, seconds: float) -> None:
        """Keep what is typed in a document from now on for some seconds, unless it is closed, saved or asked for."""
        with self._wake:
            if key in self._buffers:
                self._not_before[key] = time.monotonic() + seconds

    def hurry(self) -> None:
        """A question came: what is put off may be taken now."""
        if self._not_before:
            with self._wake:
                self._not_before.clear()
                self._wake.notify_all()

    def hold_files(self, held: bool) -> None:
        """Keep changed files back until they are no longer held: a program is in the middle of writing them."""
        if held != self._held:
            with self._wake:
                self._held = held
                self._wake.notify_all()

    # --- what goes out

    @property
    def has_typed(self) -> bool:
        """Whether text that was typed can be taken."""
        return self.due_in_s == 0

    @property
    def due_in_s(self) -> float | None:
        """When the next text that was typed can be taken; None where none waits."""
        if not self._typed:
            return None
        with self._wake:
            due = [self._not_before.get(key, 0.0) for key in self._typed]
        return max(0.0, min(due) - time.monotonic())

    @property
    def has_files(self) -> bool:
        """Whether changed files can be taken."""
        return bool(self._changed) and not self._held

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits, held or not, and nothing is in hand."""
        return not (self._typed or self._changed or self._in_hand)

    @property
    def is_held(self) -> bool:
        """Whether changed files are kept back."""
        return self._held

    def take_typed(self) -> tuple[Key, Buffer | None] | None:
        """The document that waits longest of those that an editor holds or let go of, and that are not put off; call `done` after it."""
        now = time.monotonic()
        with self._wake:
            key = next((key for key in self._typed if self._not_before.get(key, 0.0) <= now), None)
            if key is None:
                return None
            del self._typed[key]
            self._in_hand.add(key[1])
            return key, self._buffers.get(key)

    def take_files(self) -> list[str]:
        """All files that changed; call `done` after them."""
        with self._wake:
            if not self.has_files:
                return []
            taken = sorted(self._changed)
            self._changed.clear()
            self._in_hand.update(taken)
            return taken

    def put_back(self, key: Key) -> None:
        """A typed document that was taken could not be stored now."""
        with self._wake:
            self._typed[key] = None

    def done(self, paths: Iterable[str]) -> None:
        """What was taken is in the index, or in its queue."""
        with self._wake:
            self._in_hand.difference_update(paths)

    # --- what can be asked

    def holds(self, session: str, path: str) -> bool:
        """Whether an editor holds this document."""
        return (session, path) in self._buffers

    def paths(self) -> frozenset[str]:
        """The documents that wait or are in hand."""
        with self._wake:
            return frozenset({*(path for _, path in self._typed), *self._changed, *self._in_hand})


class ReadingOrder:
    """Queued files in the order of the queue, but those first that a question is about.

    One thread reads; `put_first` and `choosing` are for all.
    """

    def __init__(self) -> None:
        self._rest: deque[str] = deque()
        self._left: set[str] = set()
        self._first: deque[str] = deque()
        self._asked: tuple[str, ...] = ()
        self._lock = threading.Lock()
        self._choosing = 0
        self._chosen = threading.Condition(self._lock)

    @contextmanager
    def choosing(self) -> Iterator[None]:
        """A question is about to say what goes first."""
        with self._lock:
            self._choosing += 1
        try:
            yield
        finally:
            with self._lock:
                self._choosing -= 1
                self._chosen.notify_all()

    def wait_until_chosen(self, timeout_s: float) -> None:
        """Wait for those who are about to say what goes first."""
        with self._lock:
            self._chosen.wait_for(lambda: not self._choosing, timeout_s)

    def put_first(self, paths: Iterable[str]) -> None:
        """Read these before all others, in this order; those that are not queued do not matter."""
        with self._lock:
            self._asked = tuple(dict.fromkeys((*paths, *self._asked)))
            self._first = deque(self._asked)

    def of(self, queued: Iterable[str]) -> Iterator[str]:
        """Each queued path once. What comes next is decided when it is asked for.

        What was asked about stays first for another queue: not all that was taken from this one need have been read.
        """
        self._rest.clear()
        self._left.clear()
        self.add(queued)
        with self._lock:
            self._asked = tuple(path for path in self._asked if path in self._left)
        while self._left:
            path = self._next()
            if path in self._left:
                self._left.remove(path)
                yield path

    def add(self, queued: Iterable[str]) -> None:
        """More was queued, or something again that was taken before: it comes, too."""
        new = [path for path in queued if path not in self._left]
        self._rest.extend(new)
        self._left.update(new)
        with self._lock:
            self._first = deque(self._asked)

    def _next(self) -> str:
        with self._lock:
            return self._first.popleft() if self._first else self._rest.popleft()


class Comparison:
    """Keeps the times of one project's comparisons. The caller's lock guards it.

    A comparison that is *wanted* is known to be needed: answers are incomplete until it is done. One that is *due*
    only makes sure (after git wrote its index, or at the periodic sweep), and nobody waits for it.
    """

    def __init__(self, sweep_s: float) -> None:
        self.sweep_s = sweep_s
        """Seconds between two sweeps; 0 for none."""
        self.wanted = False
        self.running = False
        self.synced_at: datetime | None = None
        """When the last comparison, or the last batch of changed files, was taken in."""
        self._is_check = False
        self._check_asked = False
        self._done_at: float | None = None
        self._started_at = 0.0
        self._took_s = 0.0

    def check_soon(self) -> None:
        """Make sure, when there is nothing better to do and the last comparison is not too recent."""
        self._check_asked = True

    def begin(self) -> None:
        """A comparison starts. A wish that comes while it runs means another one."""
        self._is_check = not self.wanted
        # In this order: a thread that reads without the lock must always see one of the two.
        self.running = True
        self.wanted, self._check_asked = False, False
        self._started_at = time.monotonic()

    def finish(self, *, done: bool) -> None:
        """It ended; one that was not `done` is wanted again."""
        self.running = False
        if done:
            self._done_at = time.monotonic()
            self._took_s = self._done_at - self._started_at
            self.note_sync()
        else:
            self.wanted = True

    def note_sync(self) -> None:
        """What was known to have changed is taken in."""
        self.synced_at = datetime.now(UTC)

    @property
    def is_first(self) -> bool:
        """Whether none was done yet."""
        return self._done_at is None

    @property
    def is_current(self) -> bool:
        """Whether one was done, and none is known to be needed."""
        return self._done_at is not None and not self.is_awaited

    @property
    def is_pending(self) -> bool:
        """Whether one is wanted or under way, a check that only makes sure included."""
        return self.wanted or self.running

    @property
    def is_awaited(self) -> bool:
        """Whether one that answers wait for is wanted or under way."""
        return self.wanted or (self.running and not self._is_check)

    @property
    def is_old(self) -> bool:
        """Whether files that nobody watches may have changed since. A tree that takes long is compared less often."""
        return self._done_at is not None and time.monotonic() - self._done_at > self._rest_s

    def due_in_s(self) -> float | None:
        """Seconds until the next check, 0 or less when it is due; None when there is to be none."""
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
    """All that waits to be done, and how far to go with it. It is changed under the lock of `wake`, and read without."""

    comparison: Comparison
    wake: threading.Condition = field(default_factory=threading.Condition)
    """Notified whenever something arrives."""
    inbox: Inbox = field(init=False)
    order: ReadingOrder = field(default_factory=ReadingOrder)
    # A queue that was left to this process is finished without being asked.
    depth: Depth = Depth.EMBEDDINGS
    """How far to go."""
    is_asked: bool = False
    """Whether a client wants this project indexed."""
    is_cancelled: bool = False
    is_stopping: bool = False
    is_woken: bool = False
    """Whether something was asked for between a look for work and the rest after it."""

    def __post_init__(self) -> None:
        self.inbox = Inbox(self.wake)
