"""A process that has imported rag-ls, and runs each command in a copy of itself: importing is most of what a command costs.

`python tests/forking.py SOCKET` listens there. A request is a JSON object with the standard streams beside it; its answers are the copy's
process id and, at its end, its exit code. The copy then does what `.venv/bin/rag-ls` does, to the end of the interpreter.
"""

from __future__ import annotations

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
import sys
from typing import Any

FRAME = struct.Struct("!I")
# Rooms that commands import at their first use, some of them with large libraries.
_ROOMS = ("cli", "daemon", "engine", "operations", "lsp", "mcp", "http")


def main() -> None:
    """Import, listen, and run what is asked for in a copy of this process, until the asker is gone."""
    from rag_ls.util.quiet_onnxruntime import import_onnxruntime

    # It comes before usearch: loaded after it, it crashes the process.
    import_onnxruntime()
    importlib.import_module("usearch.index")
    for room in _ROOMS:
        package = importlib.import_module(f"rag_ls.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"rag_ls.{room}."):
            importlib.import_module(module.name)
    # What is imported is no garbage: no copy is to look through it, neither at work nor at its end.
    gc.freeze()
    request = _Copies(sys.argv[1]).serve()
    if request is not None:
        sys.argv = ["rag-ls", *request["arguments"]]
        importlib.import_module("rag_ls.cli.main").main()


class _Copies:
    """The copies that run, by process id, each with the connection that waits for its exit code."""

    def __init__(self, address: str) -> None:
        self._running: dict[int, socket.socket] = {}
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address)
        self._listener.listen(100)
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
        while len(body) < FRAME.unpack(head)[0]:
            body += connection.recv(1 << 16)
        if pid := os.fork():
            self._running[pid] = connection
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
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.umask(request["umask"])
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])


if __name__ == "__main__":
    main()
