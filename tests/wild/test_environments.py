"""Situations of environments: proxies in front of HTTP, accounts without a home, disks that cannot be written."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2 as httpx
import pytest

from rag_ls.config.engine_settings import HttpSettings
from rag_ls.engine.engine import Engine
from rag_ls.http.server import HttpServer
from rag_ls.http.tokens import Access, TokenFile
from rag_ls.locations import temporary_folder, user_data_folder
from rag_ls.project import is_shared_folder
from tests.support import PATIENCE_S, until

_QUIET = HttpSettings(address="127.0.0.1:0")


@pytest.fixture
def caller(home: Path) -> Iterator[httpx.Client]:
    """A client with a token of a server that believes to be behind a proxy with TLS; it follows no redirect."""
    engine, tokens = Engine(), TokenFile(user_data_folder())
    server = HttpServer(engine, replace(_QUIET, behind_proxy=True), tokens)
    server.start()
    shown = {"x-rag-token": tokens.add("tester", Access.ADMIN, ())[1], "x-forwarded-proto": "https"}
    with httpx.Client(base_url=server.url, headers=shown, timeout=PATIENCE_S, follow_redirects=False) as client:
        assert until(lambda: client.get("/ready").status_code == 200)
        yield client
    server.stop()
    engine.close()


def test_a_slash_at_the_end_of_an_address_changes_nothing_and_redirects_nobody(caller: httpx.Client) -> None:
    for path in ("/health", "/ready", "/metrics", "/openapi.json", "/commands", "/status", "/nothing"):
        plain = caller.get(path)
        for ending in ("/", "//"):
            slashed = caller.get(path + ending)
            assert slashed.status_code == plain.status_code, path
            assert "location" not in slashed.headers
    asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accepts = {"accept": "application/json, text/event-stream"}
    for path in ("/mcp", "/mcp/", "/api/list_memories", "/api/list_memories/"):
        answer = caller.post(path, json=asked if "mcp" in path else {}, headers=accepts)
        assert (
            answer.status_code
            == caller.post(path.rstrip("/"), json=asked if "mcp" in path else {}, headers=accepts).status_code
        )
        assert answer.status_code not in (301, 302, 307, 308, 404)


# An account that the system does not know cannot be made here: the process is asked as one.
_WITHOUT_ACCOUNT = """
import os, pwd, sys
os.environ.pop("HOME", None)
def unknown(number): raise KeyError(number)
pwd.getpwuid = unknown
from rag_ls.cli.main import main
main(sys.argv[1:])
"""
_NO_HOME = (
    "rag-ls: this account has no home folder (HOME is not set, and the system knows none): set RAG_LS_HOME to a folder of "
    "your own, in which settings and memories are kept\n"
)


@pytest.mark.skipif(os.name == "nt", reason="a home is found otherwise there")
@pytest.mark.parametrize("home_variable", [{}, {"RAG_LS_HOME": "~/state"}])
@pytest.mark.parametrize(
    "words", [["search", "refund"], ["serve", "--detach"], ["add", "Refunds take a week."], ["mcp"], ["status"], []]
)
def test_an_account_without_a_home_is_told_the_variable_to_set(
    shop: Path, words: list[str], home_variable: dict[str, str]
) -> None:
    environment = {"PATH": os.environ["PATH"], **home_variable}
    command = [sys.executable, "-c", _WITHOUT_ACCOUNT, *words]
    done = subprocess.run(
        command, cwd=shop, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_S
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", _NO_HOME)
    assert {path.name for path in shop.iterdir()} == {"src", "docs"}


def test_a_project_where_nothing_else_can_be_written_is_a_project(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a temporary folder Python takes the working directory; without that, it raises."""
    monkeypatch.chdir(shop)
    monkeypatch.setattr("tempfile.tempdir", str(shop))
    assert temporary_folder() == "/tmp"
    assert not is_shared_folder(shop)

    def fail() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", fail)
    assert temporary_folder() == "/tmp"
    monkeypatch.undo()
    monkeypatch.chdir(shop)
    monkeypatch.setenv("TMPDIR", str(shop))
    monkeypatch.setattr("tempfile.tempdir", str(shop))
    assert temporary_folder() == str(shop)


def test_a_compressed_body_is_refused_with_the_remedy(caller: httpx.Client) -> None:
    body = gzip.compress(json.dumps({"limit": 1}).encode())
    for path in ("/api/list_memories", "/mcp"):
        answer = caller.post(
            path, content=body, headers={"content-encoding": "gzip", "content-type": "application/json"}
        )
        assert answer.status_code == 415
        assert "without Content-Encoding" in answer.json()["error"]["message"]
    plain = caller.post("/api/list_memories", json={"limit": 1}, headers={"content-encoding": "identity"})
    assert plain.status_code == 200
