"""A process that has imported rag-ls, and runs each command in a copy of itself: importing is most of what a command costs.

`python -m tests.forking SOCKET` listens there. A request is a JSON object with the standard streams beside it; its answers are the copy's
process id and, at its end, its exit code. The copy then does what `.venv/bin/rag-ls` does, to what is called at the interpreter's end.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.lock_order import check_locks

FRAME = struct.Struct("!I")
# The exit code of Python where its last output cannot be written.
_UNWRITTEN = 120
# Rooms that commands import at their first use, some of them with large libraries.
_ROOMS = ("cli", "daemon", "engine", "operations", "lsp", "mcp", "http")


def main() -> None:
    """Import, listen, and run what is asked for in a copy of this process, until the asker is gone."""
    if faults := os.environ.get("RAG_LS_CHECK_LOCKS"):
        check_locks(faults)
    from rag_ls.util.processes import import_onnxruntime

    # It comes before usearch: loaded after it, it crashes the process.
    import_onnxruntime()
    importlib.import_module("usearch.index")
    for room in _ROOMS:
        package = importlib.import_module(f"rag_ls.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"rag_ls.{room}."):
            # Some need an extra, which is not always there.
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
    _remember_vectors()
    # What is imported is no garbage: no copy is to look through it, neither at work nor at its end.
    gc.freeze()
    request = _Copies(sys.argv[1]).serve()
    if request is not None:
        sys.argv, address = ["rag-ls", *request["arguments"]], sys.argv[1]
        _copy_engines(address)
        _run_to_the_end(importlib.import_module("rag_ls.cli.main").main)


def _run_to_the_end(main: Callable[[], None]) -> None:
    """Run a command and end as the interpreter does, but do not take its modules apart: that would copy all their memory."""
    code = 0
    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, str):
            raise
        code = end.code or 0
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except OSError:
            code = _UNWRITTEN
    os._exit(code)


def _remember_vectors() -> None:
    """Have all copies use one model, and embed no text that another one has embedded."""
    from rag_ls.embedding.local import stack
    from rag_ls.embedding.local.catalog import locate
    from tests.commands import VECTORS
    from tests.remembered_vectors import RememberedModels

    models = RememberedModels(Path(os.environ[VECTORS]))
    # With one thread it has none of its own, which a copy would lack.
    models.load(locate("auto"), threads=1)
    stack.OnnxEmbedder = models.load  # type: ignore[assignment, misc]


def _copy_engines(address: str) -> None:
    """Have the engine that a command starts in the background be a copy, too."""
    from tests.commands import Copy

    start = subprocess.Popen
    begin = [sys.executable, "-P", "-m", "rag_ls.cli.main"]

    def start_or_copy(command: Any, *more: Any, **options: Any) -> Any:
        if command[: len(begin)] != begin:
            return start(command, *more, **options)
        with open(os.devnull, "r+b") as nothing:
            streams = [nothing.fileno()] * 3
            return Copy(address, command[len(begin) :], options["cwd"], options["env"], streams, in_session=True)

    subprocess.Popen = start_or_copy  # type: ignore[assignment, misc]


class _Copies:
    """The copies that run, by process id, each with the connection that waits for its exit code."""

    def __init__(self, address: str) -> None:
        self._running: dict[int, socket.socket] = {}
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(f"{address}.new")
        self._listener.listen(100)
        # Whoever sees the name can connect.
        os.rename(f"{address}.new", address)
        self._ended, self._wakes = socket.socketpair()
        for end in (self._ended, self._wakes):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> dict[str, Any] | None:
        """Until standard input ends; in a copy, the request that it is to carry out."""
        with selectors.DefaultSelector() as selector:
            for each in (self._listener, self._ended, sys.stdin):
                selector.register(each, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if sys.stdin in ready:
                    return None
                if self._ended in ready:
                    self._reap()
                if self._listener in ready and (request := self._copy(selector)) is not None:
                    return request

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._ended.recv(1000)
        for pid in list(self._running):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                with contextlib.suppress(OSError), self._running.pop(pid) as connection:
                    connection.sendall(FRAME.pack(os.waitstatus_to_exitcode(status) & 0xFFFFFFFF))

    def _copy(self, selector: selectors.BaseSelector) -> dict[str, Any] | None:
        connection, _ = self._listener.accept()
        head, streams, _, _ = socket.recv_fds(connection, FRAME.size, 3)
        body = b""
        while len(head) == FRAME.size and len(body) < FRAME.unpack(head)[0] and (part := connection.recv(1 << 16)):
            body += part
        if not body or (pid := os.fork()):
            if body:
                self._running[pid] = connection
                with contextlib.suppress(OSError):
                    connection.sendall(FRAME.pack(pid))
            for stream in streams:
                os.close(stream)
            return None
        selector.close()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for each in (connection, self._listener, self._ended, self._wakes, *self._running.values()):
            each.close()
        request: dict[str, Any] = json.loads(body)
        _become(request, streams)
        return request


def _become(request: dict[str, Any], streams: list[int]) -> None:
    if request["in_session"]:
        os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.umask(request["umask"])
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])


if __name__ == "__main__":
    main()
