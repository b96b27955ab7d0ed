"""The lock that an engine holds while it lives and accepts clients."""

from __future__ import annotations

from filelock import FileLock, Timeout

from rag_ls.daemon.channel import Refused
from rag_ls.daemon.paths import EnginePaths, noted_pid

LOOK_S = 0.05


def take_lock(paths: EnginePaths) -> FileLock | None:
    """The engine's lock, which the system lets go of if we die; None while another engine holds it. Raises `Refused`."""
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
    """The running engine's PID and socket, and the verbs that show and end it."""
    pid = noted_pid(paths) or "unknown"
    return f"PID {pid}, at {paths.socket}; `rag-ls status` shows it, `rag-ls stop` ends it"
