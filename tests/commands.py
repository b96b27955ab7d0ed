"""Commands of rag-ls as processes: copies of one that has imported it (`forking.py`), or new ones where that cannot be."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from tests.forking import FRAME

# The variable that names the folder of a run's vectors.
VECTORS = "TESTED_VECTORS"

RAG_LS = str(Path(sys.executable).with_name("rag-ls"))
# With this variable, each command is a new process of the installed program.
COLD = "COLD"
# What Python reads once, when it starts.
_READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_", "OMP_", "OPENBLAS_", "OPENSSL_", "SSL_")


def run_command(
    *arguments: str | os.PathLike[str],
    folder: Path | None = None,
    typed: str = "",
    timeout_s: float = 120.0,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run one command of rag-ls to its end, with `typed` as its input.

    Raises `subprocess.TimeoutExpired` where it takes longer.
    """
    command = start_command(*arguments, folder=folder, environment=environment)
    try:
        printed, complaints = command.communicate(typed, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        command.kill()
        command.communicate()
        raise
    return subprocess.CompletedProcess([RAG_LS, *arguments], command.wait(), printed, complaints)


def start_command(
    *arguments: str | os.PathLike[str], folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str] | Command:
    """Start one command of rag-ls, with pipes as its standard streams."""
    words = [os.fspath(word) for word in arguments]
    variables = dict(os.environ if environment is None else environment)
    if not _can_copy(variables):
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [RAG_LS, *words], cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=variables
        )
    return Command(words, str(folder or Path.cwd()), variables)


def command_line(*words: str) -> list[str]:
    """What another program starts as one command of rag-ls: a copy in a run of tests, which may speak with it for long."""
    if VECTORS not in os.environ or not _can_copy(os.environ):
        return [RAG_LS, *words]
    return [sys.executable, "-I", "-S", str(Path(__file__).with_name("copied_command.py")), _address(), *words]


def _can_copy(variables: Mapping[str, str]) -> bool:
    return sys.platform == "linux" and not variables.get(COLD) and _read_at_start(variables) == _AT_START


def _read_at_start(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name.startswith(_READ_AT_START)}


# What the process that is copied has read.
_AT_START = _read_at_start(os.environ)


class Copy:
    """A copy that runs one command; what tests use of `subprocess.Popen`."""

    def __init__(
        self,
        address: str,
        words: Sequence[str],
        folder: str,
        variables: Mapping[str, str],
        streams: Sequence[int],
        *,
        in_session: bool = False,
    ) -> None:
        self._words = words
        self._waiting = threading.Lock()
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(address)
        request = {
            "arguments": words, "folder": folder, "environment": variables, "umask": _umask(), "in_session": in_session,
        }  # fmt: skip
        body = json.dumps(request).encode()
        socket.send_fds(self._connection, [FRAME.pack(len(body))], streams)
        self._connection.sendall(body)
        self.pid = FRAME.unpack(self._connection.recv(FRAME.size, socket.MSG_WAITALL))[0]
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code, if it has ended; negative where a signal ended it."""
        if self._waiting.acquire(blocking=False):
            try:
                self._wait(0.0)
            except subprocess.TimeoutExpired:
                pass
            finally:
                self._waiting.release()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended. Raises `subprocess.TimeoutExpired`."""
        with self._waiting:
            return self._wait(timeout)

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                code = FRAME.unpack(self._connection.recv(FRAME.size))[0]
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self._words, timeout or 0.0) from None
            self._connection.close()
            self.returncode = int(code - (code >> 31 << 32))
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


class Command(Copy):
    """A copy with pipes as its standard streams."""

    def __init__(self, words: Sequence[str], folder: str, variables: Mapping[str, str]) -> None:
        pipes = [os.pipe() for _ in range(3)]
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
        self.stdin, self.stdout, self.stderr = (
            os.fdopen(end, mode) for end, mode in ((pipes[0][1], "w"), (pipes[1][0], "r"), (pipes[2][0], "r"))
        )
        self._readers: list[_Reader] = []
        try:
            super().__init__(_address(), words, folder, variables, theirs)
        finally:
            for each in theirs:
                os.close(each)

    def communicate(self, typed: str = "", timeout: float | None = None) -> tuple[str, str]:
        """What it printed, once its output and it have ended. Raises `subprocess.TimeoutExpired`."""
        if not self._readers:
            self._readers = [_Reader(stream) for stream in (self.stdout, self.stderr)]
            with contextlib.suppress(BrokenPipeError):
                self.stdin.write(typed)
            with contextlib.suppress(BrokenPipeError):
                self.stdin.close()
        self.wait(timeout)
        printed, complaints = (reader.finish() for reader in self._readers)
        return printed, complaints


class _Reader:
    """Reads a stream to its end, in a thread of its own."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._text = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        self._text = self._stream.read()

    def finish(self) -> str:
        """All that was read."""
        self._thread.join()
        self._stream.close()
        return self._text


def _umask() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("Umask:")[2].split()[0], 8)


@functools.cache
def _address() -> str:
    """Where a process takes commands that has imported rag-ls; it ends with this one."""
    folder = tempfile.TemporaryDirectory(prefix="rag-ls-commands-")
    address = f"{folder.name}/socket"
    # No setting of a test, nor of the shell, is to be in what all share.
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("RAG_LS_", "GIT_"))}
    root = Path(__file__).parents[1]
    # Pipes, as its copies have: Python treats a stream for good as what it was at the start.
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.forking", address],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**variables, "PYTHONPATH": str(root)},
    )  # fmt: skip

    def end() -> None:
        process.communicate(timeout=10)
        folder.cleanup()

    atexit.register(end)
    while not os.path.exists(address):
        assert process.poll() is None, process.communicate()
        threading.Event().wait(0.01)
    return address
