"""The work that waits for one project's background threads: what the inbox holds, the queued files that go first, and
comparisons of the tree with the index."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from rag_ls.indexing.inbox import Inbox
from rag_ls.indexing.progress import Depth, Wake
from rag_ls.util.records import dataclass, field

# A comparison gets old after this time, or after this many times its own duration, whichever is longer.
_MIN_REST_S = 2.0
_REST_FACTOR = 4
# A question in an unwatched tree waits for a comparison that takes at most so long.
_MAX_QUICK_S = 0.15
# In a process that no other client uses, the first comparison is done for the question itself, and watching begins a second later.
_FIRST_RECENT_S = 1.5


class ReadingOrder:
    """Gives queued files in queue order, but files that a question is about first.

    One thread reads; any thread may call `put_first`.
    """

    def __init__(self) -> None:
        self._asked: tuple[str, ...] = ()
        self._lock = threading.Lock()

    def put_first(self, paths: Iterable[str]) -> None:
        """Read these files before all others, in this order; paths that are not queued are ignored."""
        with self._lock:
            self._asked = tuple(dict.fromkeys((*paths, *self._asked)))

    def of(self, queued: Iterable[str]) -> Iterator[str]:
        """Yield each queued path once; the next one is chosen only when it is asked for.

        `put_first` stays in force for a later queue, because files that were yielded here may not have been read.
        """
        left = dict.fromkeys(queued)
        with self._lock:
            asked = self._asked = tuple(path for path in self._asked if path in left)
        first = deque(asked)
        while left:
            if self._asked is not asked:
                asked = self._asked
                first = deque(path for path in asked if path in left)
            path = first.popleft() if first else next(iter(left))
            del left[path]
            yield path


class Comparison:
    """Tracks when one project's tree is compared with its index. The caller's lock guards it.

    A *wanted* comparison is known to be needed: answers are incomplete until it is done. A *due* one is only a check,
    the periodic sweep; no answer waits for it.
    """

    def __init__(self, sweep_s: float) -> None:
        self.sweep_s = sweep_s
        """Seconds between two sweeps; 0 for none."""
        self.wanted = False
        self.running = False
        self.synced_at: datetime | None = None
        """The time at which the index last took in a comparison or a batch of changed files."""
        self._is_check = False
        self._is_repeated = False
        self._done_at: float | None = None
        self._started_at = 0.0
        self._took_s = 0.0

    def begin(self) -> None:
        """Note that a comparison starts. A request that comes while it runs leads to another one."""
        self._is_check = not self.wanted
        # Keep this order: a thread that reads without the lock must always see one of the two.
        self.running = True
        self.wanted = False
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
        rest_s = max(_MIN_REST_S, _REST_FACTOR * self._took_s)
        return self._done_at is not None and time.monotonic() - self._done_at > rest_s

    @property
    def is_quick(self) -> bool:
        """Whether a question can wait for a comparison of this tree."""
        return self._done_at is not None and self._took_s <= _MAX_QUICK_S

    def is_recent_at(self, moment: float, *, is_alone: bool) -> bool:
        """Whether a comparison has ended since a moment (monotonic clock).

        In a process that `is_alone` with its question, the first comparison counts for it, too.
        """
        recent_s = _FIRST_RECENT_S if is_alone and not self._is_repeated else 0.0
        return self._done_at is not None and self._done_at + recent_s >= moment

    def due_in_s(self) -> float | None:
        """Seconds until the next check, 0 or less when it is due; None where no check is planned."""
        if self._done_at is None or not self.sweep_s:
            return None
        return self._done_at + self.sweep_s - time.monotonic()


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
