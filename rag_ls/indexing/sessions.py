"""Editing sessions: each owns unsaved text in the index, and others can tell whether it is still alive.

A session holds a lock file while its process lives. The operating system releases the lock when the process ends,
however it ends; any process may then clear the session's unsaved text.
"""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path

from filelock import FileLock

from rag_ls.project import SESSIONS_FOLDER, make_private_folder
from rag_ls.storage import DISK, CheckoutIndex
from rag_ls.util.files import clear_way_for_folder, give_to_owner, is_plain

_log = logging.getLogger(__name__)


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

    def own(self) -> list[str]:
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
