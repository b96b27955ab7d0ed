"""One run of git whose output is read as it comes: ended beyond its limits, where it waits in vain, and with this process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO

from rag_ls.util.environment import without_git

# Listing a million files with their stamps takes half of it.
_MAX_OUTPUT_BYTES = 500_000_000
_MAX_COMPLAINT_BYTES = 10_000_000
# Listing a million files takes a tenth of it.
_MAX_MEMORY_BYTES = 2_000_000_000
_PIECE_BYTES = 1_000_000
# A git that uses no processor time for so long may wait for a pipe that nobody writes to.
_LOOK_S = 1.0
_VARIABLES = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1",
    "GIT_PAGER": "cat",
    "GIT_ASKPASS": "",
    # git's messages are read, so they must be English.
    "LC_ALL": "C",
}


class GitProcess:
    """A git that runs. Its `pieces` are read once; then `code`, `complaint` and `fault` are known."""

    def __init__(
        self, line: Sequence[str], given: bytes, timeout_s: float, find_obstacle: Callable[[Callable[[], bool]], str]
    ) -> None:
        """Start it, with `given` as its standard input. Raises `OSError`.

        `find_obstacle` looks for what git may wait for without end, until what it is given says that git is done.
        """
        self.complaint = b""
        """Its standard error."""
        self.fault = ""
        """The reason why it was ended; empty where it ended by itself."""
        self.is_late = False
        """Whether it was ended because it took too long."""
        self._find_obstacle = find_obstacle
        self._timeout_s = timeout_s
        self._is_done = threading.Event()
        pipe = subprocess.PIPE
        leash, self._leash_end = os.pipe()
        try:
            self._popen = subprocess.Popen(
                line,
                env={**without_git(os.environ), **_VARIABLES},
                stdin=pipe if given else subprocess.DEVNULL,
                stdout=pipe,
                stderr=pipe,
                pass_fds=(leash,) if _HAS_LEASH else (),
                # `git` may be a script, which is ended together with the git that it runs.
                process_group=0 if _HAS_GROUPS else None,
            )
            _restrain(self._popen.pid, leash)
        except BaseException:
            os.close(self._leash_end)
            raise
        finally:
            os.close(leash)
        work = (self._watch, self._read_complaint, *([lambda: self._feed(given)] if given else []))
        self._threads = [threading.Thread(target=each, name="git", daemon=True) for each in work]
        for thread in self._threads:
            thread.start()

    @property
    def code(self) -> int:
        """Its exit code."""
        return self._popen.wait()

    def pieces(self) -> Iterator[bytes]:
        """Its output, piece by piece. A reader that stops ends it."""
        assert self._popen.stdout is not None
        read_bytes = 0
        try:
            while piece := self._popen.stdout.read1(_PIECE_BYTES):  # type: ignore[attr-defined]
                read_bytes += len(piece)
                if read_bytes > _MAX_OUTPUT_BYTES:
                    self._end(f"it tells more than {_MAX_OUTPUT_BYTES // 1_000_000} MB")
                    return
                yield piece
            # It may close its output first.
            self._popen.wait()
        finally:
            self._close()

    def _close(self) -> None:
        self._kill()
        self._is_done.set()
        for thread in self._threads:
            thread.join()
        self._popen.wait()
        for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        os.close(self._leash_end)

    def _end(self, fault: str, *, is_late: bool = False) -> None:
        self.fault, self.is_late = self.fault or fault, is_late
        self._kill()

    def _kill(self) -> None:
        # Once it was waited for, its number may be another's.
        if _HAS_GROUPS and self._popen.returncode is None:
            with contextlib.suppress(OSError):
                os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.kill()

    def _watch(self) -> None:
        """End git when its time is over, or where it does nothing because of an obstacle."""
        deadline, pause_s, used_s = time.monotonic() + self._timeout_s, _LOOK_S, -1.0
        while not self._is_done.wait(min(pause_s, max(0.0, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                self._end(f"it gave no answer in {self._timeout_s:.0f} s", is_late=True)
                return
            before_s, used_s = used_s, _processor_s(self._popen.pid)
            if used_s == before_s:
                if obstacle := self._find_obstacle(self._is_done.is_set):
                    self._end(obstacle)
                    return
                pause_s *= 2

    def _read_complaint(self) -> None:
        assert self._popen.stderr is not None
        self.complaint = self._popen.stderr.read(_MAX_COMPLAINT_BYTES)
        if self._popen.stderr.read(1):
            self._end(f"it complains in more than {_MAX_COMPLAINT_BYTES // 1_000_000} MB")

    def _feed(self, given: bytes) -> None:
        stream: IO[bytes] | None = self._popen.stdin
        assert stream is not None
        # It may end before it has read all.
        with contextlib.suppress(OSError):
            stream.write(given)
        with contextlib.suppress(OSError):
            stream.close()


def _processor_s(process_id: int) -> float:
    import psutil

    try:
        times = psutil.Process(process_id).cpu_times()
    except psutil.Error:
        return -1.0
    return float(times.user + times.system)


_HAS_GROUPS = os.name == "posix"
_HAS_LEASH = sys.platform == "linux"


def _restrain(process_id: int, leash: int) -> None:
    """Limit a process's memory, and have the system kill it when this one ends, however it ends; on Linux.

    The process holds the reading end of a pipe, this one the other, which is closed at its end at the latest: the kernel
    signals that to the owner of the reading end.
    """
    if sys.platform == "linux":
        import fcntl
        import resource

        with contextlib.suppress(OSError):
            resource.prlimit(process_id, resource.RLIMIT_DATA, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))
        with contextlib.suppress(OSError):
            fcntl.fcntl(leash, fcntl.F_SETOWN, process_id)
            fcntl.fcntl(leash, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(leash, fcntl.F_SETFL, fcntl.fcntl(leash, fcntl.F_GETFL) | os.O_ASYNC)
