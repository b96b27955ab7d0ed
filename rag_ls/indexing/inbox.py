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
# A file that is read this many times, each time soon after the last, keeps changing. Fewer times suffice for a file that takes
# long.
_MANY_READS, _FEW_READS = 5, 2
_DEAR_S = 1.0
_SOON_S = 3.0
_MIN_REST_S, _MAX_REST_S = 5.0, 60.0
_COST_FACTOR = 2
# A file that is read faster than this is cheap: a question can wait for it.
_CHEAP_S = 0.25
_MAX_KNOWN = 1000
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
        # Changed files that are not read yet, because they keep changing.
        self._resting: set[str] = set()
        self._changing = ChangingFiles()
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
            now = time.monotonic()
            resting = {path for path in arrived if self._changing.due_in_s(path, now) > 0}
            self._resting |= resting
            self._changed |= arrived - resting
            # A buffer whose text equalled the file may differ from it now.
            for (session, _), buffer in self._buffers.items():
                for path in arrived & {buffer.path, buffer.notebook}:
                    self._note_typed(session, path)
                    self._not_before.pop((session, path), None)

    def note_read(self, path: str, cost_s: float) -> None:
        """Note that a changed file was read: one that keeps changing rests before it is read again."""
        with self._wake.condition:
            self._changing.note_read(path, cost_s, time.monotonic())

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

    def end_rests(self) -> None:
        """Release the files that keep changing and are quickly read, because a question wants them as they are."""
        if self._resting:
            with self._wake.news():
                self._end_rests({path for path in self._resting if self._changing.is_cheap(path)})

    def _end_rests(self, paths: set[str]) -> None:
        self._resting -= paths
        self._changed |= paths

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
            waits = [self._changing.due_in_s(path, now) for path in self._resting]
        waits += [typed_in_s] if typed_in_s is not None else []
        return max(0.0, min(waits)) if waits else None

    @property
    def unread_note(self) -> str:
        """The changed files that are not read yet because they keep changing, and the editors' texts that are not indexed, in
        words; empty for none."""
        with self._wake.condition:
            resting = self._changing.describe(self._resting, time.monotonic()) if self._resting else ""
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
                self._end_rests({path for path in self._resting if self._changing.due_in_s(path, now) <= 0})
        return bool(self._changed)

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits (resting files do not) and nothing that was taken is unfinished."""
        # Under the lock, because an entry that is just being taken is in neither collection.
        with self._wake.condition:
            return not (self._typed or self._changed or self._in_hand)

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
            return frozenset({*(path for _, path in self._typed), *self._changed, *self._in_hand})


@dataclass(frozen=True, slots=True)
class _Reads:
    at: float
    """The time of the last one."""
    cost_s: float
    count: int
    """The number of reads, each soon after the one before."""
    rest_s: float = 0.0


class ChangingFiles:
    """Tells when files may be read again. All times are of one clock, in seconds."""

    def __init__(self) -> None:
        self._reads: dict[str, _Reads] = {}

    def note_read(self, path: str, cost_s: float, now: float) -> None:
        """Note that a file was read at `now`, which took `cost_s`."""
        former = self._reads.pop(path, None)
        goes_on = former is not None and now - former.at <= _SOON_S + 2 * former.rest_s + cost_s
        count = former.count + 1 if former is not None and goes_on else 1
        doubled = 2 * former.rest_s if former is not None and goes_on else 0.0
        keeps_changing = count >= (_FEW_READS if cost_s >= _DEAR_S else _MANY_READS)
        rest_s = min(max(_MIN_REST_S, _COST_FACTOR * cost_s, doubled), _MAX_REST_S) if keeps_changing else 0.0
        self._reads[path] = _Reads(now, cost_s, count, rest_s)
        while len(self._reads) > _MAX_KNOWN:
            del self._reads[next(iter(self._reads))]

    def due_in_s(self, path: str, now: float) -> float:
        """Seconds until a file may be read again; 0 or less where it may be now."""
        reads = self._reads.get(path)
        return reads.at + reads.rest_s - now if reads is not None else 0.0

    def is_cheap(self, path: str) -> bool:
        """Whether a question may have a file read before its time."""
        reads = self._reads.get(path)
        return reads is None or reads.cost_s <= _CHEAP_S

    def describe(self, paths: Iterable[str], now: float) -> str:
        """The files among `paths` that keep changing, in words; empty for none."""
        resting = sorted(path for path in paths if self.due_in_s(path, now) > 0)
        if not resting:
            return ""
        rest_s = self._reads[resting[0]].rest_s
        who = f"{resting[0]} keeps changing, so it"
        if len(resting) > 1:
            who = f"{resting[0]} and {len(resting) - 1:,} more keep changing, so the first"
        return f"{who} is read every {rest_s:.0f} s at most; index.exclude leaves out what is no code"


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
