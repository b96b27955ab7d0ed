"""Processes that are killed, die, or are fed rubbish: nothing is lost, nothing hangs, nothing stays behind."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_ls.engine.client import local_client
from rag_ls.engine.requests import SearchRequest
from rag_ls.model import StoredChunk
from tests.e2e.clients import PATIENCE_S, RAG_LS
from tests.support import until, write

pytestmark = pytest.mark.slow

QUERIES = ("parse the header", "walrus_3_7", "connection pool resize", "where is token 11 refreshed")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """These processes work without a shared engine; tests/daemon has those that share one."""
    monkeypatch.setenv("RAG_LS_DAEMON", "never")


@pytest.fixture
def many_files(tmp_path: Path) -> Path:
    """A project with some hundred functions: more than the quick model takes, so the torch worker works too."""
    body = 'def walrus_{a}_{b}(pool, header):\n    """Refresh token {b} of the connection pool {a} and parse the header."""\n'
    files = {
        f"src/module_{a}.py": "".join(
            body.format(a=a, b=b) + f"    value = header.get('{a}-{b}')\n    return pool.resize(value, size={b})\n\n\n"
            for b in range(12)
        )
        for a in range(10)
    }
    return write(tmp_path / "many", files)


def _index(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [RAG_LS, "index", "--json", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)
    )


def _answers(folder: Path) -> list[Any]:
    client = local_client()
    view = client.open(folder)
    assert view.project.model(wait_s=PATIENCE_S) is not None
    answers = []
    for query in QUERIES:
        hits = view.search(SearchRequest(query)).hits
        chunks = [hit.item.chunk for hit in hits[:5] if isinstance(hit.item, StoredChunk)]
        answers.append([(chunk.path, chunk.start_line, chunk.symbol) for chunk in chunks])
    client.close()
    return answers


def test_killed_again_and_again_the_index_comes_out_as_if_nothing_had_happened(
    many_files: Path, tmp_path: Path, times: Callable[[int], int]
) -> None:
    untouched = write(tmp_path / "untouched", {})
    subprocess.run(["cp", "-r", f"{many_files}/.", str(untouched)], check=True)
    assert _index(untouched).wait(PATIENCE_S) == 0
    moments = random.Random(7)
    for _ in range(times(12)):
        process = _index(many_files)
        time.sleep(moments.uniform(0.2, 2.0))
        process.kill()
        process.communicate()
    finishing = _index(many_files)
    output, errors = finishing.communicate(timeout=PATIENCE_S)
    assert finishing.returncode == 0, errors
    status = json.loads(output)
    assert (status["complete"], status["documents"], status["skipped"]) == (True, 10, {})
    assert _answers(many_files) == _answers(untouched)


def test_a_killed_server_leaves_no_process_behind(many_files: Path) -> None:
    server = _lsp()
    _initialize(server, many_files)
    assert until(lambda: _children(server.pid), PATIENCE_S)
    workers = _children(server.pid)
    server.kill()
    server.wait()
    assert until(lambda: not any(_is_running(pid) for pid in workers), PATIENCE_S)


def test_a_client_that_dies_ends_the_server_and_its_workers(many_files: Path) -> None:
    server = _lsp()
    _initialize(server, many_files)
    assert until(lambda: _children(server.pid), PATIENCE_S)
    workers = _children(server.pid)
    assert server.stdin is not None
    server.stdin.close()
    assert server.wait(PATIENCE_S) == 1
    assert until(lambda: not any(_is_running(pid) for pid in workers), PATIENCE_S)


def test_an_editor_that_dies_ends_the_server_even_if_its_pipe_stays_open(many_files: Path) -> None:
    editor = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    server = _lsp()
    _initialize(server, many_files, process_id=editor.pid)
    editor.kill()
    editor.wait()
    assert server.wait(PATIENCE_S) == 1


@pytest.mark.parametrize("verb", ["lsp", "mcp"])
def test_a_client_that_says_nothing_and_leaves_ends_the_server(verb: str, tmp_path: Path) -> None:
    server = subprocess.Popen(
        [RAG_LS, verb],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=dict(os.environ),
    )
    output, _ = server.communicate(timeout=PATIENCE_S)
    assert output == b""


def test_a_request_before_initialize_is_refused_and_initialize_still_works(tmp_path: Path) -> None:
    server = _lsp()
    _send(server, {"jsonrpc": "2.0", "id": 1, "method": "workspace/symbol", "params": {"query": "x"}})
    assert _receive(server)["error"]["code"] == -32002
    _send(
        server,
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "initialize",
            "params": {"capabilities": {}, "processId": None, "rootUri": None},
        },
    )
    answer = _receive(server)
    assert (answer["id"], answer["result"]["serverInfo"]["name"]) == (2, "rag-ls")
    _leave(server)


def test_malformed_messages_are_answered_and_the_server_goes_on(tmp_path: Path) -> None:
    server = _lsp()
    _initialize(server, tmp_path)
    _send_raw(server, b'{"jsonrpc": "2.0", "id": 7, "method": ')
    answer = _receive(server)
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)
    _send(server, {"jsonrpc": "2.0", "id": 8, "method": "no/suchMethod", "params": {}})
    answer = _receive(server)
    assert (answer["id"], answer["error"]["code"]) == (8, -32601)
    _leave(server)


def test_an_editor_that_leaves_while_its_folders_are_being_opened_is_let_go(many_files: Path) -> None:
    server = _lsp()
    _initialize(server, many_files)
    _leave(server)


def test_parameters_of_another_shape_are_refused_under_the_request_s_id(tmp_path: Path) -> None:
    server = _lsp()
    _initialize(server, tmp_path)
    for number, params in enumerate(([{"command": "ragLs.status"}, None], "x", 7), 2):
        _send(server, {"jsonrpc": "2.0", "id": number, "method": "workspace/executeCommand", "params": params})
        answer = _receive(server)
        assert (answer["id"], answer["error"]["code"]) == (number, -32602)
        assert "workspace/executeCommand" in answer["error"]["message"]
    _leave(server)


def test_rubbish_instead_of_a_message_does_not_hang_the_server(tmp_path: Path) -> None:
    for verb in ("lsp", "mcp"):
        done = subprocess.run(
            [RAG_LS, verb], input=b"GET / HTTP/1.1\r\nHost: x\r\n\r\n\x00\xff\xfe rubbish\n", capture_output=True,
            cwd=tmp_path, env=dict(os.environ), timeout=PATIENCE_S,
        )  # fmt: skip
        assert b"Traceback" not in done.stdout


def _lsp() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [RAG_LS, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ)
    )


def _initialize(server: subprocess.Popen[bytes], folder: Path, process_id: int | None = None) -> None:
    folders = [{"uri": folder.as_uri(), "name": folder.name}]
    params = {"capabilities": {}, "processId": process_id, "rootUri": None, "workspaceFolders": folders}
    _send(server, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    assert _receive(server)["id"] == 0
    _send(server, {"jsonrpc": "2.0", "method": "initialized", "params": {}})


def _leave(server: subprocess.Popen[bytes]) -> None:
    _send(server, {"jsonrpc": "2.0", "id": 99, "method": "shutdown"})
    answer = _receive(server)
    assert (answer["id"], answer.get("error")) == (99, None)
    _send(server, {"jsonrpc": "2.0", "method": "exit"})
    assert server.wait(PATIENCE_S) == 0


def _send(server: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    _send_raw(server, json.dumps(message).encode())


def _send_raw(server: subprocess.Popen[bytes], body: bytes) -> None:
    assert server.stdin is not None
    server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    server.stdin.flush()


def _receive(server: subprocess.Popen[bytes]) -> dict[str, Any]:
    """The next answer; notifications and requests of the server are passed over."""
    assert server.stdout is not None
    while True:
        length = 0
        while (line := server.stdout.readline()).strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        assert length, "the server closed its output"
        message: dict[str, Any] = json.loads(server.stdout.read(length))
        if "method" not in message:
            return message


def _children(pid: int) -> list[int]:
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in done.stdout.split()]


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie that its new parent has not collected yet has ended too.
    return (
        "Z"
        not in subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    )
