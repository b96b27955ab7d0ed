"""The files that an engine lives by: its lock, socket and PID file, the user's settings, and the code that it runs."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from rag_ls.daemon import connecting
from rag_ls.daemon.channel import Refused
from rag_ls.daemon.paths import EnginePaths, noted_pid, user_config_file
from rag_ls.util.files import whole_file
from rag_ls.util.paths import file_stamp

if TYPE_CHECKING:
    from rag_ls.config import Settings
    from rag_ls.daemon.connecting import Listening

LOOK_S = 0.05
_NO_FILE = 0, 0
# An installation has written all files of the code after this time.
_INSTALLED_S = 5.0


def take_lock(paths: EnginePaths) -> FileLock | None:
    """Take the engine's lock, which the system lets go of if we die; None while another engine holds it. Raises `Refused`."""
    lock = FileLock(paths.lock, mode=0o600, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return None
    except (OSError, NotImplementedError) as error:
        reason = (
            f"{paths.lock} cannot be locked ({error}): set RAG_LS_HOME to a folder on a file system that gives locks"
        )
        raise Refused("locks", reason) from error
    return lock


def describe_place(paths: EnginePaths) -> str:
    """Return the running engine's PID and socket, and the verbs that show and end it."""
    pid = noted_pid(paths) or "unknown"
    return f"PID {pid}, at {paths.socket}; `rag-ls status` shows it, `rag-ls stop` ends it"


class Mark:
    """The socket and PID file of this engine. Files of another engine are not touched."""

    def __init__(self, paths: EnginePaths) -> None:
        self._paths = paths
        self._socket: tuple[int, int, int] | None = None

    def make(self) -> Listening:
        """Note the PID, and listen. Raises `OSError`."""
        with whole_file(self._paths.pid) as file:
            file.write(f"{os.getpid()}\n")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._paths.stopped)
        listening = connecting.listen(self._paths)
        self._socket = _identity(self._paths.socket)
        return listening

    def is_there(self) -> bool:
        """Whether the socket still exists and is ours: some systems delete old temporary files."""
        # It may have been deleted before it was looked at.
        return self._socket is not None and _identity(self._paths.socket) == self._socket

    def clean_up(self) -> None:
        """Delete the files."""
        is_mine = noted_pid(self._paths) == str(os.getpid())
        for path, mine in ((self._paths.socket, self.is_there()), (self._paths.pid, is_mine)):
            if mine:
                # Windows cannot delete a file that a client reads; the next engine replaces it.
                with contextlib.suppress(FileNotFoundError, PermissionError):
                    os.unlink(path)


class ChangedSettings:
    """Tells whether the user's file changed settings that only a new engine can apply."""

    def __init__(self, load: Callable[[], Settings]) -> None:
        self._load = load
        self._stamp = file_stamp(user_config_file())
        self._own = load()

    def __call__(self) -> bool:
        """Look; the file is read only when it was written."""
        stamp = file_stamp(user_config_file())
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        from rag_ls.config import TakesEffect, effects_of

        return TakesEffect.RESTARTED in effects_of(self._own, self._load())


class ReplacedCode:
    """Tells whether another rag-ls was installed over the one that runs. While it is being installed, parts are missing."""

    def __init__(self, file: str, now: Callable[[], float] = time.monotonic) -> None:
        """`file` is written by each installation, among its first."""
        self._file, self._now = file, now
        self._stamp = self._seen = file_stamp(file)
        self._since = now()

    def __call__(self) -> bool:
        """Look at the file; a change counts once it has been seen for some seconds."""
        stamp = file_stamp(self._file)
        if stamp != self._seen:
            # Keep this order: another thread may read in between.
            self._since, self._seen = self._now(), stamp
        return stamp not in (_NO_FILE, self._stamp) and self._now() - self._since >= _INSTALLED_S


def _identity(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns
