"""From process start to `initialize`, to the first answer by words, to the first answer by meaning."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.measure import percentiles

RAG_LS = str(Path(sys.executable).with_name("rag-ls"))
RUNS = 5


def startup(folder: Path) -> dict[str, Any]:
    """Both servers on an indexed project, several times."""
    return {name: _many(run, folder) for name, run in (("lsp", _lsp), ("mcp", _mcp))}


def _many(run: Any, folder: Path) -> dict[str, Any]:
    rows = [run(folder) for _ in range(RUNS)]
    return {step: percentiles([row[step] for row in rows]) for step in rows[0]}


def _lsp(folder: Path) -> dict[str, float]:
    started = time.perf_counter()
    server = _start("lsp", folder)
    folders = [{"uri": folder.as_uri(), "name": folder.name}]
    _lsp_ask(
        server, 0, "initialize", {"capabilities": {}, "processId": None, "rootUri": None, "workspaceFolders": folders}
    )
    steps = {"initialize": time.perf_counter() - started}
    _lsp_send(server, {"method": "initialized", "params": {}})
    number = 1
    while "dense" not in steps:
        arguments = {"command": "ragLs.searchCode", "arguments": [{"query": "where is the session cookie set"}]}
        answer = _lsp_ask(server, number, "workspace/executeCommand", arguments)
        steps.setdefault("first_search", time.perf_counter() - started)
        if answer["stats"]["dense"]:
            steps["dense"] = time.perf_counter() - started
        number += 1
    _lsp_ask(server, number, "shutdown", None)
    _lsp_send(server, {"method": "exit"})
    server.wait(30)
    return steps


def _mcp(folder: Path) -> dict[str, float]:
    started = time.perf_counter()
    server = _start("mcp", folder)
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    _mcp_ask(server, 0, "initialize", client)
    steps = {"initialize": time.perf_counter() - started}
    _mcp_send(server, {"method": "notifications/initialized"})
    number = 1
    while "dense" not in steps:
        call = {"name": "search_code", "arguments": {"query": "where is the session cookie set"}}
        answer = _mcp_ask(server, number, "tools/call", call)["structuredContent"]
        steps.setdefault("first_search", time.perf_counter() - started)
        if answer["stats"]["dense"]:
            steps["dense"] = time.perf_counter() - started
        number += 1
    assert server.stdin is not None
    server.stdin.close()
    server.wait(30)
    return steps


def _start(verb: str, folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [RAG_LS, verb],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(os.environ),
    )


def _lsp_send(server: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert server.stdin is not None
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    server.stdin.flush()


def _lsp_ask(server: subprocess.Popen[bytes], number: int, method: str, params: Any) -> Any:
    assert server.stdout is not None
    _lsp_send(server, {"id": number, "method": method, **({"params": params} if params is not None else {})})
    while True:
        length = 0
        while (line := server.stdout.readline()).strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        message = json.loads(server.stdout.read(length))
        if message.get("id") == number and "method" not in message:
            return message["result"]


def _mcp_send(server: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert server.stdin is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


def _mcp_ask(server: subprocess.Popen[bytes], number: int, method: str, params: Any) -> Any:
    assert server.stdout is not None
    _mcp_send(server, {"id": number, "method": method, "params": params})
    while True:
        message = json.loads(server.stdout.readline())
        if message.get("id") == number and "method" not in message:
            return message["result"]
