"""Runs functions in processes that may crash, hang or swell: only the call ends, and says why.

Code in C that reads foreign bytes (grammars, regular expressions of others) runs here. A process is started when a call
needs one, serves call after call, and ends when it rests, when it has grown, or when a call breaks a limit.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import psutil

from rag_ls.util.guarded_process_main import CALL, RAISED, read_frame, write_frame
from rag_ls.util.processes import command_of
from rag_ls.util.records import dataclass, field

R = TypeVar("R")

# A running call is checked this often: memory grows by at most a gigabyte a second.
_LOOK_S = 0.05
_SILENT = "it did not answer"
_BY_OTHERS = (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM), getattr(signal, "SIGHUP", signal.SIGTERM))


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one call."""

    cpu_s: float = 10.0
    """Processor time, so that a busy machine breaks no limit."""
    memory_bytes: int = 400_000_000
    """Resident memory of the process beyond what it had before the call."""
    wall_s: float = 120.0
    """Time: a process that waits for a drive, or was stopped, uses no processor time."""


class ProcessEnded(Exception):
    """The process did not survive the call; the message says why: it crashed, or the limit that the call broke."""

    def __init__(self, reason: str, *, by_call: bool) -> None:
        """`by_call` says that the call did it: false where somebody else may have ended or stopped the process."""
        super().__init__(reason)
        self.by_call = by_call


class NoProcess(Exception):
    """No process can be had: they were closed, or the system starts none now. It says nothing of the call."""


@dataclass(slots=True, eq=False)
class _Process:
    """One process and the call that it runs."""

    popen: subprocess.Popen[bytes]
    meter: psutil.Process
    limits: Limits | None = None
    """None while it rests."""
    since: float = field(default_factory=time.monotonic)
    cpu_before_s: float = 0.0
    memory_before: int = 0
    broken: str = ""
    """The limit for which the process was ended."""


class GuardedProcesses:
    """Up to `count` processes; safe from several threads. A call waits where all are at work."""

    def __init__(
        self,
        count: int,
        *,
        nice: int = 0,
        rest_s: float = 60.0,
        grown_bytes: int = 200_000_000,
        postponed: Sequence[str] = (),
    ) -> None:
        """A process ends after a rest of `rest_s` seconds, or when it has more than `grown_bytes` after a call.

        `nice` lowers its priority. Of the packages `postponed`, it imports the modules that calls need, and `__init__`
        only where one needs that: most of a process's start is importing.
        """
        self._count = count
        self._nice = nice
        self._rest_s = rest_s
        self._grown_bytes = grown_bytes
        self._postponed = postponed
        self._changed = threading.Condition()
        self._processes: list[_Process] = []
        self._starting = 0
        self._warden: threading.Thread | None = None
        self._closed = False

    def call(self, function: Callable[..., R], *arguments: object, limits: Limits | None = None) -> R:
        """The result of a module's function for some arguments, which are pickled.

        Raises what the function raises, `ProcessEnded` where the process does not survive the call, and
        `NoProcess`.
        """
        request = pickle.dumps((function, arguments), protocol=5)
        process = self._take(limits or Limits())
        try:
            kind, body = self._ask(process, request)
        except BaseException:
            self._discard(process)
            raise
        self._give_back(process)
        answer = pickle.loads(body)
        if kind == RAISED:
            raise answer
        return answer  # type: ignore[no-any-return]

    def close(self) -> None:
        """End all processes; running calls raise `NoProcess`."""
        self._closed = True
        self._end(lambda process: True)

    def _ask(self, process: _Process, request: bytes) -> tuple[bytes, bytes]:
        assert process.popen.stdin is not None
        assert process.popen.stdout is not None
        try:
            write_frame(process.popen.stdin, CALL, request)
            return read_frame(process.popen.stdout)
        except (OSError, EOFError, ValueError) as error:
            if self._closed:
                raise NoProcess("the processes were closed") from error
            if process.broken:
                raise ProcessEnded(process.broken, by_call=process.broken != _SILENT) from error
            raise _crash_of(process.popen) from error

    def _take(self, limits: Limits) -> _Process:
        with self._changed:
            while True:
                if self._closed:
                    raise NoProcess("the processes were closed")
                resting = next((each for each in reversed(self._processes) if each.limits is None), None)
                if resting is not None and resting.popen.poll() is None:
                    return self._begin(resting, limits)
                if resting is not None:
                    # The process was killed while it rested.
                    self._processes.remove(resting)
                    _end(resting.popen)
                    continue
                if len(self._processes) + self._starting < self._count:
                    self._starting += 1
                    break
                self._changed.wait()
        started: _Process | None = None
        try:
            popen = _start(self._nice, limits.memory_bytes, self._postponed)
            started = _Process(popen, psutil.Process(popen.pid))
            return started
        except (OSError, psutil.Error) as error:
            raise NoProcess(f"no process can be started: {error}") from error
        finally:
            # In one step: a thread that came in between would start one process too many.
            with self._changed:
                self._starting -= 1
                if started is not None:
                    self._processes.append(started)
                    self._begin(started, limits)
                    if self._closed:
                        started.popen.kill()
                self._changed.notify_all()

    def _begin(self, process: _Process, limits: Limits) -> _Process:
        process.limits, process.since, process.broken = limits, time.monotonic(), ""
        with contextlib.suppress(psutil.Error):
            process.cpu_before_s, process.memory_before = _use_of(process.meter)
        if self._warden is None:
            self._warden = threading.Thread(target=self._watch, name="process limits", daemon=True)
            self._warden.start()
        self._changed.notify_all()
        return process

    def _give_back(self, process: _Process) -> None:
        with self._changed:
            is_fit = not process.broken and not _has_grown(process, self._grown_bytes)
            if is_fit:
                process.limits, process.since = None, time.monotonic()
                self._changed.notify_all()
        if not is_fit:
            self._discard(process)

    def _discard(self, process: _Process) -> None:
        with self._changed:
            if process in self._processes:
                self._processes.remove(process)
            self._changed.notify_all()
        _end(process.popen)

    def _end(self, is_meant: Callable[[_Process], bool]) -> None:
        with self._changed:
            ended = [process for process in self._processes if is_meant(process)]
            self._processes = [process for process in self._processes if process not in ended]
            self._changed.notify_all()
        for process in ended:
            process.popen.kill()
            if process.limits is None:
                _end(process.popen)

    def _watch(self) -> None:
        """End what breaks a limit or rests for too long, until there is no process left."""
        while True:
            with self._changed:
                if not self._processes:
                    self._warden = None
                    return
                running = [process for process in self._processes if process.limits is not None]
                oldest = min(process.since for process in self._processes)
                self._changed.wait(_LOOK_S if running else max(_LOOK_S, oldest + self._rest_s - time.monotonic()))
                for process in running:
                    _judge(process)
            self._end(self._rests_too_long)

    def _rests_too_long(self, process: _Process) -> bool:
        return process.limits is None and time.monotonic() - process.since >= self._rest_s


def _judge(process: _Process) -> None:
    """End a process whose call has broken a limit."""
    limits = process.limits
    if limits is None:
        return
    try:
        cpu_s, memory = _use_of(process.meter)
    except psutil.Error:
        return
    if memory - process.memory_before > limits.memory_bytes:
        process.broken = f"it took more than {limits.memory_bytes // 1_000_000} MB"
    elif cpu_s - process.cpu_before_s > limits.cpu_s:
        process.broken = f"it took more than {limits.cpu_s:g} s"
    elif time.monotonic() - process.since > limits.wall_s:
        process.broken = _SILENT
    if process.broken:
        process.popen.kill()


def _has_grown(process: _Process, grown_bytes: int) -> bool:
    try:
        return process.meter.memory_info().rss > grown_bytes  # type: ignore[no-any-return]
    except psutil.Error:
        return True


def _use_of(meter: psutil.Process) -> tuple[float, int]:
    with meter.oneshot():
        times = meter.cpu_times()
        return times.user + times.system, meter.memory_info().rss


def _start(nice: int, memory_bytes: int, postponed: Sequence[str]) -> subprocess.Popen[bytes]:
    command = command_of("rag_ls.util.guarded_process_main", str(nice), str(memory_bytes), *postponed)
    # Its arrays are small: a numeric library's threads would cost more than they save.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)


def _end(popen: subprocess.Popen[bytes]) -> None:
    popen.kill()
    popen.wait()
    for pipe in (popen.stdin, popen.stdout):
        if pipe is not None:
            # Closing flushes into a pipe that has lost its reader.
            with contextlib.suppress(OSError):
                pipe.close()


def _crash_of(popen: subprocess.Popen[bytes]) -> ProcessEnded:
    try:
        code = popen.wait(timeout=5)
    except subprocess.TimeoutExpired:
        return ProcessEnded(_SILENT, by_call=False)
    if code in (0, 1):
        return ProcessEnded(f"it ended with exit code {code}", by_call=False)
    name = f"exit code {code}"
    with contextlib.suppress(ValueError):
        name = signal.Signals(-code).name
    return ProcessEnded(f"it crashed ({name})", by_call=-code not in _BY_OTHERS)
