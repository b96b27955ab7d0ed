"""The engine over HTTP: what it costs beside the socket, what it bears, what idle sessions hold. Loopback only."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from rag_ls.daemon.channel import Channel
from rag_ls.daemon.connecting import Mode, find_engine
from rag_ls.daemon.paths import user_config_file
from tests.benchmarks.answering import sentences
from tests.benchmarks.measure import percentiles, timed
from tests.benchmarks.startup import RAG_LS
from tests.support import until

_QUESTIONS = 300
_WARM = 20
_CLIENTS = (1, 8, 64)
_LOAD_S = 5.0
_SESSIONS = 100
_STARTS = 5
_PAGE_RUNS = 50
_INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}  # fmt: skip


def over_http(folder: Path) -> dict[str, Any]:
    """All of it, on an indexed repository."""
    questions = sentences(folder, 2 * _QUESTIONS + _WARM)
    results: dict[str, Any] = {"start-up": _start_ups()}
    with _served(1) as (address, token, pid):
        web = _Web(address, token, folder)
        assert until(lambda: web.search("warm up")["stats"]["dense"], 120)
        results["search"] = _beside_the_socket(web, folder, questions)
        results["load"] = {f"{count} clients": _load(web, questions, count) for count in _CLIENTS}
        results["idle sessions"] = _idle_sessions(web, pid)
        results["first byte of the page"] = _first_byte(address)
    return results


class _Web:
    """A keep-alive connection to the server."""

    def __init__(self, address: str, token: str, folder: Path) -> None:
        self._address = address
        self._token = token
        self._folder = folder
        self._connection = http.client.HTTPConnection(address, timeout=60)

    def other(self) -> _Web:
        """Another connection."""
        return _Web(self._address, self._token, self._folder)

    def search(self, question: str) -> Any:
        """The answer to a question about code."""
        headers = {"X-RAG-Token": self._token, "X-RAG-Project": str(self._folder), "Content-Type": "application/json"}
        self._connection.request("POST", "/api/search_code", json.dumps({"query": question}), headers)
        answer = self._connection.getresponse()
        body = answer.read()
        assert answer.status == 200, body
        return json.loads(body)

    def open_session(self) -> None:
        """Open an MCP session, and leave it."""
        headers = {"X-RAG-Token": self._token, "Content-Type": "application/json",
                   "Accept": "application/json, text/event-stream"}  # fmt: skip
        self._connection.request("POST", "/mcp", json.dumps(_INITIALIZE), headers)
        answer = self._connection.getresponse()
        answer.read()
        assert answer.status == 200


def _beside_the_socket(web: _Web, folder: Path, questions: list[str]) -> dict[str, Any]:
    """Each question once, by turns over HTTP and over the socket."""
    channel = find_engine("cli", Mode.MANUAL)
    assert channel is not None
    asked: dict[str, Callable[[str], Any]] = {
        "http": web.search,
        "socket": lambda question: _over_socket(channel, folder, question),
    }
    for question in questions[:_WARM]:
        for ask in asked.values():
            ask(question)
    seconds: dict[str, list[float]] = {name: [] for name in asked}
    for number, question in enumerate(questions[_WARM:]):
        name = ("http", "socket")[number % 2]
        seconds[name].append(_seconds(asked[name], question))
    channel.hang_up()
    found = {name: percentiles(values) for name, values in seconds.items()}
    more = round(found["http"]["p50_ms"] - found["socket"]["p50_ms"], 1)
    return {**found, "more_at_p50_ms": more}


def _seconds(ask: Callable[[str], Any], question: str) -> float:
    return timed(lambda: ask(question))


def _over_socket(channel: Channel, folder: Path, question: str) -> Any:
    channel.send({"operation": "search_code", "folder": str(folder), "arguments": {"query": question}})
    while (message := channel.receive()) is not None:
        if "result" in message:
            return message["result"]
    raise AssertionError("the engine ended")


def _load(web: _Web, questions: list[str], count: int) -> dict[str, Any]:
    """Questions as fast as the answers come, by so many clients at once."""
    seconds: list[float] = []
    end = time.monotonic() + _LOAD_S

    def ask(number: int) -> None:
        client = web.other()
        for place in range(number, 10**9, count):
            if time.monotonic() > end:
                return
            seconds.append(_seconds(client.search, questions[place % len(questions)]))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ordered = sorted(seconds)
    p99 = round(1000 * ordered[int(0.99 * (len(ordered) - 1))], 1)
    return {"per_second": round(len(seconds) / _LOAD_S), **percentiles(seconds), "p99_ms": p99}


def _idle_sessions(web: _Web, pid: int) -> dict[str, float]:
    process = psutil.Process(pid)
    web.other().open_session()
    before = process.memory_info().rss
    for _ in range(_SESSIONS):
        web.other().open_session()
    return {"sessions": _SESSIONS, "mb_each": round((process.memory_info().rss - before) / _SESSIONS / 1e6, 2)}


def _first_byte(address: str) -> dict[str, float]:
    """From a new connection to the first byte; signed out, as the same file is read for both."""

    def ask() -> None:
        host, port = address.split(":")
        with socket.create_connection((host, int(port)), 30) as connection:
            connection.sendall(f"GET / HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
            connection.recv(1)

    return percentiles([timed(ask) for _ in range(_PAGE_RUNS)])


def _start_ups() -> dict[str, float]:
    """Seconds from the process's start until an engine takes clients, the median of some, with HTTP and without."""

    def start(port: int) -> float:
        began = time.perf_counter()
        with _served(port):
            return time.perf_counter() - began

    return {
        name: round(sorted(start(port) for _ in range(_STARTS))[_STARTS // 2], 2)
        for name, port in (("off_s", 0), ("on_s", 1))
    }


@contextmanager
def _served(http_on: int) -> Iterator[tuple[str, str, int]]:
    """An engine; with HTTP, its address and a token. It takes clients, and requests."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    file = Path(user_config_file())
    file.parent.mkdir(parents=True, exist_ok=True)
    enabled = "true" if http_on else "false"
    file.write_text(
        f'[http]\nenabled = {enabled}\naddress = "{address}"\nmax_searches = 100\n'
        "max_sessions = 1000\n[index]\non_open = false\n"
    )
    name = f"bench-{time.monotonic_ns()}"
    made = subprocess.run([RAG_LS, "token", "add", name, "--json"], capture_output=True, check=True)
    process = subprocess.Popen([RAG_LS, "serve"], stderr=subprocess.DEVNULL, env=os.environ)
    try:
        assert until(lambda: _takes_clients() and (not http_on or _is_healthy(address)), 60)
        yield address, json.loads(made.stdout)["token"], process.pid
    finally:
        process.terminate()
        process.wait(60)
        file.unlink()


def _takes_clients() -> bool:
    channel = find_engine("cli", Mode.MANUAL)
    if channel is not None:
        channel.hang_up()
    return channel is not None


def _is_healthy(address: str) -> bool:
    connection = http.client.HTTPConnection(address, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
