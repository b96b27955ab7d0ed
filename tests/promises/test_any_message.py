"""Promise: no message of any client ends the engine, nor what it keeps for the others."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psutil
import pytest

from rag_ls.daemon.channel import Channel
from rag_ls.daemon.paths import engine_paths
from rag_ls.util.json_rpc import framed, parsed, read_framed
from tests.commands import RAG_LS
from tests.daemon.engines import answer, hello, raw, run, until_served
from tests.e2e.clients import agent, editor
from tests.promises.messages import INITIALIZE_AGENT, Messages
from tests.support import SHOP, engine_pid, until, write

pytestmark = pytest.mark.slow


_FEW, _MANY = 3_000, 1_000_000
# A busy machine sends fewer.
_FEW_S, _MANY_S = 25.0, 3_600.0
# Four clients at once, each of one protocol.
_SESSION_MESSAGES = 150
_SILENT_S = 20.0
_RELAYS_SAY = "relays.log"


@dataclass
class Sent:
    """What was sent, by protocol."""

    messages: dict[str, int] = field(default_factory=dict)
    sessions: int = 0
    silent: list[str] = field(default_factory=list)
    """Sessions that took no message for long: something hangs."""


@dataclass
class Flood:
    """Sends messages to the engine of this test until there are enough, or the time is over."""

    folder: Path
    url: str
    token: str
    wanted: int
    ends_at: float
    sent: Sent = field(default_factory=Sent)

    def run(self) -> None:
        """Send, with a client of each protocol at once."""
        threads = [
            threading.Thread(target=self._sessions, args=(name, session))
            for name, session in (
                ("lsp", self._editor), ("mcp", self._agent), ("engine", self._shell), ("http", self._http),
            )
        ]  # fmt: skip
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _sessions(self, name: str, session: Callable[[Messages, int], Any]) -> None:
        self.sent.messages[name] = 0
        for number in itertools.count():
            if self.sent.messages[name] >= self.wanted / 4 or time.monotonic() > self.ends_at:
                return
            seed = f"{name} {number}"
            files = [(self.folder / path).as_uri() for path in SHOP]
            self.sent.sessions += 1
            try:
                session(Messages(seed, str(self.folder), files), number)
            except TimeoutError:
                self.sent.silent.append(seed)
            except OSError:
                # The engine hung up, as it may.
                continue

    def _editor(self, messages: Messages, number: int) -> None:
        greeting = {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": {
            "processId": None, "rootUri": self.folder.as_uri(), "capabilities": {}}}  # fmt: skip
        body = json.dumps(greeting).encode()
        handshake = [
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body),
            b'Content-Length: 52\r\n\r\n{"jsonrpc":"2.0","method":"initialized","params":{}}',
        ]
        self._stream("lsp", messages, number, handshake, messages.editor)

    def _agent(self, messages: Messages, number: int) -> None:
        greeting = {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": INITIALIZE_AGENT}
        handshake = [json.dumps(greeting).encode() + b"\n", b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n']
        self._stream("mcp", messages, number, handshake, messages.agent)

    def _shell(self, messages: Messages, number: int) -> None:
        self._stream("cli", messages, number, [], messages.shell, count="engine")

    def _stream(
        self,
        surface: str,
        messages: Messages,
        number: int,
        handshake: list[bytes],
        make: Callable[[], bytes],
        count: str = "",
    ) -> None:
        """One session: mostly through the engine's socket, now and then through the relay that clients start."""
        wire = (
            _Relayed(surface, self.folder) if number % 10 == 3 and surface != "cli" else _Direct(surface, self.folder)
        )
        is_odd = messages.pick.random() < 0.1
        try:
            for message in () if is_odd else handshake:
                wire.send(message)
            for _ in range(_SESSION_MESSAGES):
                if time.monotonic() > self.ends_at:
                    return
                wire.send(make() if messages.pick.random() < 0.999 else messages.rubbish())
                self.sent.messages[count or surface] += 1
            if messages.pick.random() < 0.7:
                wire.finish()
        finally:
            wire.end()

    def _http(self, messages: Messages, number: int) -> None:
        host, _, port = self.url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=_SILENT_S) as connection:
            drain = threading.Thread(target=_drain, args=(connection,), daemon=True)
            drain.start()
            for _ in range(_SESSION_MESSAGES):
                if time.monotonic() > self.ends_at or not drain.is_alive():
                    return
                connection.sendall(messages.http(self.token) if messages.pick.random() < 0.999 else messages.rubbish())
                self.sent.messages["http"] += 1
            connection.shutdown(socket.SHUT_WR)
            drain.join(_SILENT_S)


class _Direct:
    """A connection to the engine, as a relay has it."""

    def __init__(self, surface: str, folder: Path) -> None:
        self._channel = Channel(raw())
        assert hello(self._channel, surface=surface, folder=str(folder))
        self._channel.socket.settimeout(_SILENT_S)
        self._reader = threading.Thread(target=_drain, args=(self._channel.socket,), daemon=True)
        self._reader.start()

    def send(self, data: bytes) -> None:
        self._channel.socket.sendall(data)

    def finish(self) -> None:
        """Send no more, and wait until the engine has done all and hangs up."""
        self._channel.socket.shutdown(socket.SHUT_WR)
        self._reader.join(_SILENT_S * 3)
        if self._reader.is_alive():
            raise TimeoutError

    def end(self) -> None:
        self._channel.hang_up()


class _Relayed:
    """A process as editors and agents start it."""

    def __init__(self, surface: str, folder: Path) -> None:
        with open(folder / _RELAYS_SAY, "ab") as said:
            self._process = subprocess.Popen(
                [RAG_LS, surface], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said
            )

    def send(self, data: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(data)

    def finish(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_SILENT_S * 3)
        except subprocess.TimeoutExpired:
            raise TimeoutError from None

    def end(self) -> None:
        self._process.kill()
        with contextlib.suppress(OSError):
            self._process.communicate()


def _drain(connection: socket.socket) -> None:
    """Read until the other end hangs up. A client that does not read is kept waiting, which is another test's."""
    with contextlib.suppress(OSError):
        while True:
            try:
                if not connection.recv(1 << 16):
                    return
            except TimeoutError:
                continue


async def test_after_any_messages_the_engine_is_the_same_and_answers_each_protocol(
    tmp_path: Path, http_settings: str, times: Callable[[int], int]
) -> None:
    folder = write(tmp_path / "shop", SHOP)
    (folder / ".git").mkdir()
    assert run("index", folder=folder).returncode == 0
    until_served(http_settings)
    token = answer("token", "add", "any", "--scope", "admin", "--json")["token"]
    pid = engine_pid()
    assert pid
    is_long = times(4) == 4
    # What is loaded at first use is no leak.
    _flood(folder, http_settings, token, 400, 20.0)
    before = _use_of(pid)
    sent = _flood(folder, http_settings, token, *((_MANY, _MANY_S) if is_long else (_FEW, _FEW_S)))
    log = Path(engine_paths().log).read_text(encoding="utf-8", errors="replace")
    said = (folder / _RELAYS_SAY).read_text(encoding="utf-8", errors="replace")
    assert engine_pid() == pid
    assert not sent.silent
    assert min(sent.messages.values()) > 100, sent
    async with editor(folder) as window, agent(folder) as helper:
        assert (await window.command("status"))["projects"]
        found = await helper.call("search_code", query="total_price")
        assert found["results"][0]["path"] == "src/cart.py"
    asked = httpx.post(
        f"{http_settings}/search",
        json={"query": "total_price"},
        headers={"x-rag-token": token, "x-rag-project": str(folder)},
        timeout=60,
    )
    assert asked.json()["results"][0]["path"] == "src/cart.py"
    assert answer("search", "total_price", folder=folder)["results"][0]["path"] == "src/cart.py"
    assert until(lambda: _is_near(_use_of(pid), before)), (_use_of(pid), before)
    assert engine_pid() == pid
    for text in (log, said):
        assert "Traceback" not in text, text[max(0, text.index("Traceback") - 500) :][:4000]


def _flood(folder: Path, url: str, token: str, wanted: int, seconds: float) -> Sent:
    started = time.monotonic()
    flood = Flood(folder, url, token, wanted, started + seconds)
    flood.run()
    took = time.monotonic() - started
    print(
        f"{sum(flood.sent.messages.values()):,} messages of {flood.sent.sessions:,} clients in {took:.0f} s: {flood.sent.messages}"
    )
    return flood.sent


def _use_of(pid: int) -> tuple[int, int, int]:
    """Megabytes, handles, threads."""
    process = psutil.Process(pid)
    return process.memory_info().rss // 1_000_000, process.num_fds(), process.num_threads()


def _is_near(now: tuple[int, int, int], before: tuple[int, int, int]) -> bool:
    return now[0] < before[0] + 200 and now[1] < before[1] + 20 and now[2] < before[2] + 10


@pytest.mark.parametrize(
    "params",
    [
        {"textDocument": {"uri": "file:///x.py", "version": 2}, "contentChanges": "x" * 2_000_000},
        {"textDocument": {"uri": "file:///x.py", "version": 2}, "contentChanges": ["x"] * 300_000},
    ],
)
def test_an_editor_that_sends_a_long_text_for_a_list_is_refused_at_the_first_letter(
    repository: Path, params: dict[str, Any]
) -> None:
    assert run("index", folder=repository).returncode == 0
    pid = engine_pid()
    assert pid
    before = psutil.Process(pid).memory_info().rss
    channel = Channel(raw())
    assert hello(channel, surface="lsp", folder=str(repository))
    _send(channel, "initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 1)
    _send(channel, "textDocument/didChange", params)
    _send(channel, "shutdown", None, 2)
    while (message := parsed(read_framed(channel.input) or b"")) is not None and message.get("id") != 2:
        # It had an error for each letter, which took gigabytes.
        assert psutil.Process(pid).memory_info().rss < before + 300_000_000
    assert message == {"jsonrpc": "2.0", "id": 2, "result": None}
    assert psutil.Process(pid).memory_info().rss < before + 300_000_000
    channel.hang_up()


def test_an_editor_that_answers_its_own_request_gets_the_engines_answer(repository: Path) -> None:
    assert run("index", folder=repository).returncode == 0
    channel = Channel(raw())
    assert hello(channel, surface="lsp", folder=str(repository))
    _send(channel, "initialize", {"processId": None, "rootUri": repository.as_uri(), "capabilities": {}}, 1)
    _send(channel, "initialized", {})
    _send(channel, "workspace/executeCommand", {"command": "ragLs.status", "arguments": [{}]}, 2)
    channel.socket.sendall(framed(b'{"jsonrpc": "2.0", "id": 2, "result": {"of": "the editor"}}'))
    while (message := parsed(read_framed(channel.input) or b"")) is not None and message.get("id") != 2:
        continue
    assert message is not None
    assert "projects" in message["result"]
    channel.hang_up()


def test_a_folder_that_no_file_can_be_called_is_refused_by_name(repository: Path) -> None:
    assert run("index", folder=repository).returncode == 0
    channel = Channel(raw())
    assert hello(channel)
    for folder in ("/\0", "/\ud800", "/" + "x" * 100_000, "/" + "x" * 5_000):
        channel.send({"operation": "search_code", "folder": folder, "arguments": {"query": "x"}})
        error = (channel.receive() or {})["error"]
        assert error["type"] in ("InvalidRequest", "ProjectUnavailable")
        assert "is no path" in error["message"] or "is not a folder" in error["message"]
    channel.hang_up()


def _send(channel: Channel, method: str, params: Any, request_id: int | None = None) -> None:
    message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params is not None else {})}
    channel.socket.sendall(
        framed(json.dumps(message if request_id is None else {**message, "id": request_id}).encode())
    )
