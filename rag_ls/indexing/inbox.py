"""Typed texts and changed files, as they come in; and the editing sessions that own the texts."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock

from rag_ls.indexing.progress import Wake
from rag_ls.project import SESSIONS_FOLDER, make_private_folder
from rag_ls.storage import DISK, CheckoutIndex
from rag_ls.util.files import clear_way_for_folder, give_to_owner, is_plain
from rag_ls.util.records import dataclass

_REFUSED = "{} is open in an editor with a text that is not indexed ({}): answers have its saved text"

Key = tuple[str, str]
"""An editing session and the path of a document that it holds."""
# A file whose reading takes so long is read again after this many times that time, at most after a minute: it may change all the time.
_DEAR_S, _REST_FACTOR, _MAX_REST_S = 0.25, 10, 60.0
_log = logging.getLogger(__name__)


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
        # The time when files whose reading takes long may be read again.
        self._rests_until: dict[str, float] = {}
        # The reasons why texts are not indexed whose files are.
        self._refused: dict[Key, str] = {}
        self._in_hand: set[str] = set()

    def put_buffer(self, session: str, buffer: Buffer) -> None:
        """An editor holds this text of a document now."""
        with self._wake.news():
            self._buffers[session, buffer.path] = buffer
            self._note_typed(session, buffer.path, buffer.notebook)

    def close_buffer(self, session: str, path: str) -> None:
        """Record that an editor closed a document."""
        with self._wake.news():
            closed = self._buffers.pop((session, path), None)
            self._note_typed(session, path, closed.notebook if closed else "")
            self._not_before.pop((session, path), None)

    def _note_typed(self, session: str, *paths: str) -> None:
        """Note documents whose text is another now: a cell, and the notebook that it is in."""
        self._typed.update({(session, path): None for path in paths if path})

    def close_session(self, session: str) -> None:
        """Close all documents of an editor that left."""
        for buffer in self.buffers(session):
            self.close_buffer(session, buffer.path)

    def put_files(self, paths: Iterable[str]) -> None:
        """Record files that were written, created or deleted."""
        with self._wake.news():
            arrived = set(paths)
            self._changed |= arrived
            # A buffer whose text equalled the file may differ from it now.
            for (session, _), buffer in self._buffers.items():
                for path in arrived & {buffer.path, buffer.notebook}:
                    self._note_typed(session, path)
                    self._not_before.pop((session, path), None)

    def note_read(self, path: str, cost_s: float) -> None:
        """Note that a changed file was read: one that takes long rests before it is read again."""
        with self._wake.condition:
            self._rests_until.pop(path, None)
            if cost_s >= _DEAR_S:
                self._rests_until[path] = time.monotonic() + min(_REST_FACTOR * cost_s, _MAX_REST_S)

    def _find_resting(self) -> dict[str, float]:
        """The changed files that are not to be read yet, each with the seconds until it is."""
        now = time.monotonic()
        self._rests_until = {path: until for path, until in self._rests_until.items() if until > now}
        return {path: until - now for path, until in self._rests_until.items() if path in self._changed}

    def note_refused(self, key: Key, reason: str) -> None:
        """Note why an editor's text is not indexed; with an empty reason, that it is."""
        with self._wake.condition:
            self._refused.pop(key, None)
            if reason:
                self._refused[key] = reason

    def delay(self, key: Key, seconds: float) -> None:
        """Postpone a document's further texts by some seconds, unless it is closed or saved, or a question comes."""
        with self._wake.condition:
            if key in self._buffers or self.cells(*key):
                self._not_before[key] = time.monotonic() + seconds

    def end_delays(self) -> None:
        """Release all postponed texts, because a question waits for them."""
        if self._not_before:
            with self._wake.news():
                self._not_before.clear()

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
        typed_in_s = self.due_in_s
        with self._wake.condition:
            waits = list(self._find_resting().values())
        return min(waits + ([typed_in_s] if typed_in_s is not None else []), default=None)

    @property
    def unread_note(self) -> str:
        """The changed files that are not read yet because that takes long, and the editors' texts that are not indexed, in words;
        empty for none."""
        with self._wake.condition:
            resting = [
                f"{path} has changed again and is read in {wait_s:.0f} s"
                for path, wait_s in self._find_resting().items()
            ]
        return "; ".join(filter(None, (*resting[:1], self.describe_refused())))

    def describe_refused(self, path: str = "") -> str:
        """The editors' texts that are not indexed, in words, of one document or of all; empty for none."""
        with self._wake.condition:
            refused = [(held, reason) for (_, held), reason in self._refused.items() if path in ("", held)]
        return "; ".join(_REFUSED.format(held, reason) for held, reason in refused)

    @property
    def has_files(self) -> bool:
        """Whether changed files can be taken."""
        with self._wake.condition:
            return bool(self._changed - self._find_resting().keys())

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits (resting files do not) and nothing that was taken is unfinished."""
        # Under the lock, because an entry that is just being taken is in neither collection.
        with self._wake.condition:
            return not (self._typed or self.has_files or self._in_hand)

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
            taken = sorted(self._changed - self._find_resting().keys())
            self._changed.difference_update(taken)
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

    def buffer(self, session: str, path: str) -> Buffer | None:
        """The text of a document that an editor holds; None if it does not hold it."""
        return self._buffers.get((session, path))

    def cells(self, session: str, notebook: str) -> list[str]:
        """The texts of the cells of a notebook that an editor has open, in the order in which it opened them."""
        return [buffer.text for buffer in self.buffers(session) if buffer.notebook == notebook]

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
            held = {path for buffer in self.buffers(session) for path in (buffer.path, buffer.notebook)}
            return waits or not held.isdisjoint(self._in_hand)

    def paths(self) -> frozenset[str]:
        """The documents that wait, or that were taken and are not done."""
        with self._wake.condition:
            changed = self._changed - self._find_resting().keys()
            return frozenset({*(path for _, path in self._typed), *changed, *self._in_hand})


class EditingSessions:
    """The editing sessions of one project: this process's own, and those of others. Safe from several threads."""

    def __init__(self, data_folder: Path) -> None:
        self._folder = data_folder / SESSIONS_FOLDER
        clear_way_for_folder(self._folder)
        make_private_folder(self._folder)
        self._own: dict[str, FileLock] = {}
        self._unclaimed: set[str] = set()
        """Sessions of this process that others cannot see, because the folder could not be written."""

    def claim(self, session_id: str) -> None:
        """Show to all processes that this one holds a session. Where the folder cannot be written now, a later call does."""
        if session_id in self._own:
            return
        try:
            self._own[session_id] = _lock_file(self._file_of(session_id))
            self._unclaimed.discard(session_id)
        except (OSError, NotImplementedError) as error:
            if session_id not in self._unclaimed:
                self._unclaimed.add(session_id)
                _log.warning("other processes do not see the unsaved text in %s: %s", self._folder, error)

    def close(self, session_id: str) -> None:
        """End a session of this process; its unsaved text no longer counts."""
        self._unclaimed.discard(session_id)
        if lock := self._own.pop(session_id, None):
            lock.release()
            self._file_of(session_id).unlink(missing_ok=True)

    def list_own(self) -> list[str]:
        """The sessions of this process."""
        return [*self._own, *self._unclaimed]

    def is_live(self, session_id: str) -> bool:
        """Whether a session of any process is alive."""
        if session_id == DISK or session_id in self._own or session_id in self._unclaimed:
            return True
        file = self._file_of(session_id)
        if not is_plain(file):
            return False
        lock = FileLock(file)
        try:
            lock.acquire(timeout=0)
        except OSError:
            # Another process holds it (`Timeout`), or it is another user's.
            return True
        lock.release()
        return False

    def clear_dead(self, store: CheckoutIndex) -> None:
        """Drop the unsaved text of sessions that ended without doing so."""
        for session in {document.session for document in store.unsaved_documents()}:
            if not self.is_live(session):
                _log.info("clearing the unsaved text of session %s, which ended", session)
                store.remove_session(session)
        for file in self._folder.glob("*.lock"):
            if not self.is_live(file.stem):
                # Another process may be reading it, and Windows then cannot delete it. The next look will.
                with contextlib.suppress(PermissionError):
                    file.unlink(missing_ok=True)

    def _file_of(self, session_id: str) -> Path:
        return self._folder / f"{session_id}.lock"


def _lock_file(file: Path) -> FileLock:
    """Create a file that this process holds locked."""
    # Lock first, then rename: an unlocked file under the final name would mean an ended session.
    starting = file.with_suffix(".starting") if os.name == "posix" else file
    lock = FileLock(starting, mode=0o600, thread_local=False)
    lock.acquire()
    give_to_owner(starting)
    starting.replace(file)
    return lock
