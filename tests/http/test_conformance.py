"""MCP's own conformance suite (npm `@modelcontextprotocol/conformance`), run against the server as it is shipped.

The suite shows no token: a small relay in front adds it. Scenarios that ask for the suite's fixture tools run against the
same HTTP stack with these tools; all others against the product.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_ls.engine.engine import Engine
from rag_ls.http.server import HttpServer
from rag_ls.http.tokens import Access, TokenFile
from rag_ls.locations import user_data_folder
from tests.http.conformance_fixtures import fixture_server
from tests.http.conftest import QUIET, Served

_PACKAGE = "@modelcontextprotocol/conformance@0.1.16"
# The first that knows the stateless revision of 2026-07-28.
_NEXT_PACKAGE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
_BIN = Path(sys.executable).parent
_SUITE_S = 400
# What asks for nothing special. The others ask for fixtures, or for what the product does not declare: logging
# (deprecated since 2026-07-28), completion, subscriptions.
_OF_THE_PRODUCT = ("server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection",
                   "server-sse-multiple-streams")  # fmt: skip


# Not among them, because the product declares nothing for them: a tool with x-mcp-header annotations, subscriptions, and
# the scenario server-stateless, which asks for fixture tools too.
_OF_THE_STATELESS_PRODUCT = (
    "server-session-lifecycle", "caching", "http-header-validation", "tools-list", "resources-list", "prompts-list",
    "dns-rebinding-protection", "server-sse-multiple-streams", "sep-2164-resource-not-found",
)  # fmt: skip


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite's program, installed."""
    return _installed(_PACKAGE, tmp_path_factory.mktemp("conformance"))


@pytest.fixture(scope="session")
def next_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The next version of the suite, installed."""
    return _installed(_NEXT_PACKAGE, tmp_path_factory.mktemp("conformance"))


def _installed(package: str, folder: Path) -> Path:
    environment = {
        **os.environ,
        "PATH": f"{_BIN}{os.pathsep}{os.environ['PATH']}",
        "NPM_CONFIG_UPDATE_NOTIFIER": "false",
    }
    done = subprocess.run(
        [_BIN / "npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--silent", package],
        capture_output=True, text=True, timeout=_SUITE_S, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "node_modules" / ".bin" / "conformance"


class TokenRelay:
    """Passes connections on to a server, and adds the token to the head of each request."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._header = f"\r\nX-RAG-Token: {token}\r\n".encode()
        self._loop = asyncio.new_event_loop()
        self.port = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(30)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        listening = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = listening.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, to_server = await asyncio.open_connection("127.0.0.1", self._port)
        tasks = [asyncio.ensure_future(self._requests(reader, to_server)), asyncio.ensure_future(_copy(there, writer))]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for end in (writer, to_server):
            end.close()

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                return
            # The server is at another port than the one that the suite names as its own origin.
            head = head.replace(f":{self.port}".encode(), f":{self._port}".encode())
            writer.write(head[:-4] + self._header + b"\r\n")
            length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
            writer.write(await reader.readexactly(int(length[1])) if length else b"")
            await writer.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


@pytest.fixture
def relay(served: Served) -> Iterator[TokenRelay]:
    """A relay to the product."""
    relay = TokenRelay(_port(served.server), served.token())
    relay.start()
    yield relay
    relay.stop()


def _port(server: HttpServer) -> int:
    return int(server.url.rstrip("/").rpartition(":")[2])


def _failed(suite: Path, port: int, folder: Path, *arguments: str) -> list[str]:
    """The checks that fail, and why; asserts that there are any checks."""
    done = subprocess.run(
        [_BIN / "node", suite, "server", "--url", f"http://127.0.0.1:{port}/mcp", "--output-dir", folder, *arguments],
        capture_output=True, text=True, timeout=_SUITE_S, check=False,
    )  # fmt: skip
    checks = [check for file in folder.glob("*/checks.json") for check in json.loads(file.read_text())]
    assert checks, done.stdout + done.stderr
    return [f"{check['id']}: {check.get('errorMessage')}" for check in checks if check["status"] == "FAILURE"]


@pytest.mark.long
def test_the_product_passes_what_asks_for_nothing_special(suite: Path, relay: TokenRelay, tmp_path: Path) -> None:
    for scenario in _OF_THE_PRODUCT:
        assert _failed(suite, relay.port, tmp_path / scenario, "--scenario", scenario) == []


@pytest.mark.long
def test_the_product_passes_what_the_stateless_revision_asks(
    next_suite: Path, relay: TokenRelay, tmp_path: Path
) -> None:
    for scenario in _OF_THE_STATELESS_PRODUCT:
        assert _failed(next_suite, relay.port, tmp_path / scenario, "--scenario", scenario) == []


@pytest.mark.long
def test_the_stack_passes_the_whole_suite_with_its_fixtures(suite: Path, tmp_path: Path) -> None:
    engine, tokens = Engine(), TokenFile(user_data_folder())
    server = HttpServer(engine, QUIET, tokens, fixture_server)
    server.start()
    relay = TokenRelay(_port(server), tokens.add("suite", Access.ADMIN)[1])
    relay.start()
    try:
        failed = _failed(suite, relay.port, tmp_path, "--suite", "all")
    finally:
        relay.stop()
        server.stop()
        engine.close()
    assert failed == []
