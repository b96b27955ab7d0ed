"""From process start to `initialize`, to the first answer by words, to the first answer by meaning."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from tests.benchmarks.measure import percentiles

RAG_LS = str(Path(sys.executable).with_name("rag-ls"))
RUNS = 5
QUERY = "where is the session cookie set"


def startup(folder: Path) -> dict[str, Any]:
    """Both servers on an indexed project, several times, each with an engine of its own."""
    return {name: _many(session, folder) for name, session in (("lsp", lsp_session), ("mcp", mcp_session))}


def _many(session: Callable[..., Session], folder: Path) -> dict[str, Any]:
    rows = [first_answers(session, folder, "--standalone") for _ in range(RUNS)]
    return {step: percentiles([row[step] for row in rows]) for step in rows[0]}


def first_answers(session: Callable[..., Session], folder: Path, *options: str) -> dict[str, float]:
    """Seconds from process start to the first answers of one server."""
    started = time.perf_counter()
    server = session(folder, *options)
    steps = {"initialize": server.initialized_at - started}
    steps |= {step: at - started for step, at in server.until_dense(QUERY).items()}
    server.leave()
    return steps


class Session(Protocol):
    """A server that was initialized."""

    process: subprocess.Popen[bytes]
    initialized_at: float

    def ask(self, method: str, params: Any) -> Any:
        """The result of one request."""
        ...

    def until_dense(self, query: str) -> dict[str, float]:
        """When the first answer came, and the first by meaning."""
        ...

    def leave(self) -> None:
        """End it as clients do."""
        ...


class lsp_session:  # noqa: N801
    """`rag-ls lsp`, as an editor starts it."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        self.process = _start("lsp", folder, options, environment)
        self._number = 0
        folders = [{"uri": folder.as_uri(), "name": folder.name}]
        self.ask("initialize", {"capabilities": {}, "processId": None, "rootUri": None, "workspaceFolders": folders})
        self.initialized_at = time.perf_counter()
        self._send({"method": "initialized", "params": {}})

    def ask(self, method: str, params: Any) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, **({"params": params} if params is not None else {})})
        assert self.process.stdout is not None
        while True:
            length = 0
            while (line := self.process.stdout.readline()).strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            message = json.loads(self.process.stdout.read(length))
            if message.get("id") == self._number and "method" not in message:
                return message["result"]

    def until_dense(self, query: str) -> dict[str, float]:
        params = {"command": "ragLs.searchCode", "arguments": [{"query": query}]}
        return _until_dense(lambda: self.ask("workspace/executeCommand", params))

    def leave(self) -> None:
        self.ask("shutdown", None)
        self._send({"method": "exit"})
        self.process.communicate(timeout=30)

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()


class mcp_session:  # noqa: N801
    """`rag-ls mcp`, as an agent starts it."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        self.process = _start("mcp", folder, options, environment)
        self._number = 0
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.ask("initialize", client)
        self.initialized_at = time.perf_counter()
        self._send({"method": "notifications/initialized"})

    def ask(self, method: str, params: Any) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self.process.stdout is not None
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == self._number and "method" not in message:
                return message["result"]

    def until_dense(self, query: str) -> dict[str, float]:
        params = {"name": "search_code", "arguments": {"query": query, "detail": "full"}}
        return _until_dense(lambda: self.ask("tools/call", params)["structuredContent"])

    def leave(self) -> None:
        self.process.communicate(timeout=30)

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()


def _until_dense(ask: Callable[[], Any]) -> dict[str, float]:
    steps: dict[str, float] = {}
    while "dense" not in steps:
        answer = ask()
        steps.setdefault("first_search", time.perf_counter())
        if answer["stats"]["dense"]:
            steps["dense"] = time.perf_counter()
    return steps


def _start(verb: str, folder: Path, options: tuple[str, ...], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [RAG_LS, verb, *options],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
