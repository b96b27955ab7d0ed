"""What was handed in and waits for the documents thread: typed text first, then files known to have changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

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
        """Somebody asks: what is put off may be taken now."""
        if self._not_before:
            with self._wake:
                self._not_before.clear()
                self._wake.notify_all()

    def hold_files(self, held: bool) -> None:
        """Keep changed files back until they are no longer held: somebody is in the middle of writing them."""
        if held != self._held:
            with self._wake:
                self._held = held
                self._wake.notify_all()

    # --- what goes out

    @property
    def has_typed(self) -> bool:
        """Whether text that somebody typed can be taken."""
        return self.due_in_s == 0

    @property
    def due_in_s(self) -> float | None:
        """When the next text that somebody typed can be taken; None where none waits."""
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
