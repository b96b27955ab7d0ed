"""`rag-ls stop`: asks the engine to end, waits for its end, and kills one that does not answer."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from types import SimpleNamespace

from rag_ls.daemon import connecting
from rag_ls.daemon.channel import EngineLost, Refused, greet
from rag_ls.daemon.engine_files import LOOK_S, describe_place, take_lock
from rag_ls.daemon.paths import EnginePaths, check_private, engine_paths, noted_pid
from rag_ls.util.files import create_private_file

# An engine that is busy answers within this time; one that hangs is ended.
_ANSWER_S = 10.0
_TERMINATE_S = 5.0
_STOP_S = 30.0


def stop(arguments: SimpleNamespace) -> int:
    """Stop the engine, and wait for its end. One that does not answer is killed, which loses nothing that was stored."""
    paths = engine_paths()
    try:
        if os.path.lexists(paths.folder):
            check_private(paths.folder)
        if not os.path.isdir(paths.folder) or _is_lock_free(paths):
            print("rag-ls: no engine runs", file=sys.stderr)
            return 0
        pid, is_ending = _ask_to_end(paths)
    except PermissionError as error:
        return _fail(str(error))
    except Refused as error:
        if error.reason == "locks":
            raise
        return _fail(f"{error}; {describe_place(paths)}")
    if (is_ending and _has_ended(paths, pid, _STOP_S)) or _is_killed(paths, pid):
        ended = {"stopped": int(pid) if pid.isdigit() else None}
        print(json.dumps(ended) if arguments.json else f"rag-ls: the engine {pid} ended")
        return 0
    return _fail(f"the engine {pid} has not ended yet; its log is {paths.log}")


def _ask_to_end(paths: EnginePaths) -> tuple[str, bool]:
    """Ask the engine that holds the lock to end: its PID, and whether it ends. Raises `Refused`.

    Where nobody listens, it ends already, or has only just begun: the next that listens is asked.
    """
    first = noted_pid(paths)
    deadline = time.monotonic() + _STOP_S
    while not _is_lock_free(paths):
        answered = connecting.connect(paths, _ANSWER_S)
        # Create it only now: an engine that is just starting deletes it before it listens.
        with contextlib.suppress(OSError):
            create_private_file(paths.stopped)
        if answered is not None:
            try:
                channel = greet(*answered, "stop", {}, answer_s=_ANSWER_S)
                channel.hang_up()
                return str(channel.greeting["pid"]), True
            except Refused as error:
                if error.reason != "silent":
                    raise
                return noted_pid(paths), False
            except EngineLost:
                # The engine ended before it answered.
                pass
        if time.monotonic() >= deadline:
            return noted_pid(paths), False
        # Polled, because the engine is another process.
        time.sleep(LOOK_S)
    return first, True


def _is_killed(paths: EnginePaths, pid: str) -> bool:
    """End the process that holds the lock, gently at first; whether it ended."""
    for number, within_s in ((signal.SIGTERM, _TERMINATE_S), (getattr(signal, "SIGKILL", signal.SIGTERM), _STOP_S)):
        if not pid.isdigit() or _has_ended(paths, pid, 0):
            break
        with contextlib.suppress(OSError):
            os.kill(int(pid), number)
        if _has_ended(paths, pid, within_s):
            break
    return _has_ended(paths, pid, 0)


def _has_ended(paths: EnginePaths, pid: str, within_s: float) -> bool:
    """Whether an engine has let go of the lock in time. The next one may hold it already: it has noted a PID of its own."""
    deadline = time.monotonic() + within_s
    while noted_pid(paths) in ("", pid) and not _is_lock_free(paths):
        if time.monotonic() >= deadline:
            return False
        time.sleep(LOOK_S)
    return True


def _is_lock_free(paths: EnginePaths) -> bool:
    lock = take_lock(paths)
    if lock is not None:
        lock.release()
    return lock is not None


def _fail(message: str) -> int:
    print(f"rag-ls: {message}", file=sys.stderr)
    return 1
