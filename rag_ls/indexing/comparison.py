"""When the tree is compared with the index: what was asked for, what is due, and when it was last done."""

from __future__ import annotations

import time
from datetime import UTC, datetime

# No answer is given on a comparison with the files that is older than this, or than so many times what one takes.
_REST_S = 2.0
_REST = 20
# A check that was asked for does not rest longer than this after a comparison, or than so many times what that took: it
# may have been other work that slowed it down.
_LONGEST_CHECK_REST_S = 20.0
_CHECK_REST = 4


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
        # In this order: whoever reads without the lock must never see neither of the two.
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
        longest_s = max(_LONGEST_CHECK_REST_S, _CHECK_REST * self._took_s)
        rests = [min(self._rest_s, longest_s)] * self._check_asked + [self.sweep_s] * (self.sweep_s > 0)
        return self._done_at + min(rests) - time.monotonic() if rests else None

    @property
    def _rest_s(self) -> float:
        return max(_REST_S, _REST * self._took_s)
