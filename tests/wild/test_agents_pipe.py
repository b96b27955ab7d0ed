"""Situations of agents: what is written into the pipe, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.commands import RAG_LS
from tests.support import PATIENCE_S, until

pytestmark = [pytest.mark.slow, pytest.mark.shared_engine]

_MODES = ("shared", "standalone")
_VERSION = "2025-06-18"


def _request(number: object, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def _call(number: object, tool: str, **arguments: Any) -> dict[str, Any]:
    return _request(number, "tools/call", name=tool, arguments=arguments)


def _handshake(version: str = _VERSION) -> list[dict[str, Any]]:
    about = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "wild", "version": "1"}}
    return [_request(0, "initialize", **about), {"jsonrpc": "2.0", "method": "notifications/initialized"}]


def _lines(messages: Sequence[Any]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def _command(folder: Path, mode: str) -> list[str]:
    return [RAG_LS, "mcp", "--project", str(folder), *(["--standalone"] if mode == "standalone" else [])]


def _answers(folder: Path, mode: str, written: bytes) -> list[Any]:
    """What comes from a server into which a client writes, closing its end at once."""
    done = subprocess.run(_command(folder, mode), input=written, capture_output=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("mode", _MODES)
def test_all_that_was_written_before_the_end_is_answered_and_kept(shop: Path, mode: str) -> None:
    """The client writes everything before it reads anything, and closes its end."""
    notes = [f"Decision {number}: invoices of month {number} are rounded in step {number * 7}." for number in range(12)]
    stored = [
        _call(number, "store_memory", content=note, scope="project", force=True)
        for number, note in enumerate(notes, start=1)
    ]
    asked = [_call(100 + number, "search_code", query="shopping cart") for number in range(40)]
    answers = {answer["id"]: answer for answer in _answers(shop, mode, _lines([*_handshake(), *stored, *asked]))}
    assert set(answers) == {0, *range(1, 13), *range(100, 140)}
    assert not [answer for answer in answers.values() if "error" in answer or answer["result"].get("isError")]
    listed = _answers(shop, mode, _lines([*_handshake(), _call(1, "list_memories", k=50)]))[-1]
    kept = {memory["content"] for memory in listed["result"]["structuredContent"]["memories"]}
    assert set(notes) <= kept


@pytest.mark.parametrize("mode", _MODES)
def test_a_last_line_without_a_newline_counts(shop: Path, mode: str) -> None:
    written = _lines([*_handshake(), _request(1, "ping"), _request(2, "tools/list")])
    assert [answer["id"] for answer in _answers(shop, mode, written.rstrip(b"\n"))][-1] == 2


# A line that is no message, with the code and the id of its answer.
_RUBBISH: list[tuple[bytes, int, object]] = [
    (b"{not json", -32700, None), (b"Content-Length: 20", -32700, None), (b'{"jsonrpc": "2.0", "id": 9', -32700, None),
    (b"[]", -32600, None), (b"7", -32600, None), (b'"text"', -32600, None), (b"null", -32600, None),
    (b'{"id": 9, "method": "ping"}', -32600, 9), (b'{"jsonrpc": "2.0", "id": 9}', -32600, 9),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 9, "method": 5}', -32600, 9),
    (b'{"jsonrpc": "2.0", "id": 9, "method": "ping", "params": [1]}', -32600, 9), (b"[" * 100_000, -32600, None),
    (b'[{"jsonrpc": "2.0", "id": 9, "method": "ping"}]', -32600, None),
]  # fmt: skip


@pytest.mark.parametrize("mode", _MODES)
def test_rubbish_is_answered_and_the_session_goes_on(shop: Path, mode: str) -> None:
    rubbish = b"\n\n".join(line for line, _, _ in _RUBBISH)
    answers = _answers(shop, mode, _lines(_handshake()) + rubbish + b"\n" + _lines([_request(1, "ping")]))
    refused = [(answer["error"]["code"], answer["id"]) for answer in answers if "error" in answer]
    assert refused == [(code, number) for _, code, number in _RUBBISH]
    assert [answer["id"] for answer in answers if "result" in answer] == [0, 1]


@pytest.mark.parametrize("mode", _MODES)
def test_half_a_character_keeps_no_question_from_its_answer(shop: Path, mode: str) -> None:
    """Agents cut texts in the middle of an emoji; a backslash before `ud83d` is a text of its own."""
    asked = [
        _call(1, "search_code", query="cart \ud83d"), _call(2, "search_code", query="cart \U0001f6d2 \\ud83d"),
        _request(3, "prompts/get", name="no", arguments={"topic": "\udfff\ud800"}), _request(4, "\udfff", x="\ud800"),
    ]  # fmt: skip
    answers = {answer["id"]: answer for answer in _answers(shop, mode, _lines([*_handshake(), *asked]))}
    assert set(answers) == {0, 1, 2, 3, 4}
    assert not [answers[number] for number in (1, 2) if answers[number].get("result", {}).get("isError", True)]
    assert {number for number in (3, 4) if "error" in answers[number]} == {3, 4}


@pytest.mark.parametrize("mode", _MODES)
def test_bytes_that_are_no_utf_8_keep_no_request_from_its_answer(shop: Path, mode: str) -> None:
    """Half a character as bytes, and Latin-1: what reads the messages refuses such lines without their ids."""
    for odd in (b"\xed\xa0\x80", "caf\u00e9".encode("latin-1")):
        line = _lines([_call(1, "search_code", query="cart ODD")]).replace(b"ODD", odd)
        answers = {answer["id"]: answer for answer in _answers(shop, mode, _lines(_handshake()) + line)}
        assert set(answers) == {0, 1}
        assert not answers[1]["result"].get("isError", False)


@pytest.mark.parametrize("mode", _MODES)
def test_an_empty_list_for_an_object_and_a_progress_token_of_null_are_nothing(shop: Path, mode: str) -> None:
    """PHP, Lua and Perl write an empty object as `[]`; some clients send each field that they know."""
    asked = [
        _request(1, "tools/call", name="index_status", arguments=[]), {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": []},
        _request(3, "tools/call", name="index_status", arguments=None, _meta={"progressToken": None}), _request(4, "ping", _meta=[]),
    ]  # fmt: skip
    start = [{**_handshake()[0], "params": []}, _handshake()[1]]
    answers = {answer["id"]: answer for answer in _answers(shop, mode, _lines([*start, *asked]))}
    assert set(answers) == {0, 1, 2, 3, 4}
    assert not [answer for answer in answers.values() if "error" in answer or answer["result"].get("isError")]


def test_lines_of_windows_are_lines(shop: Path) -> None:
    written = b"\xef\xbb\xbf" + _lines([*_handshake(), _request(1, "ping")]).replace(b"\n", b"\r\n")
    assert [answer["id"] for answer in _answers(shop, "shared", written)] == [0, 1]


@pytest.mark.skipif(os.name == "nt", reason="no such signals there")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_server_though_its_pipe_is_open(shop: Path, number: signal.Signals) -> None:
    """Some agents end their servers so, and leave the pipe open."""
    pipe = subprocess.PIPE

    def heed() -> None:
        # Whoever runs the tests may ignore it (`nohup`), and its children would, too.
        signal.signal(number, signal.SIG_DFL)

    with subprocess.Popen(_command(shop, "shared"), stdin=pipe, stdout=pipe, stderr=pipe, preexec_fn=heed) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write(_lines([*_handshake(), _request(1, "ping")]))
        server.stdin.flush()
        assert [json.loads(server.stdout.readline())["id"] for _ in range(2)] == [0, 1]
        server.send_signal(number)
        assert until(lambda: server.poll() is not None)


_PARENT = """
import subprocess, sys, time
server = subprocess.Popen(sys.argv[1:])
print(server.pid, file=sys.stderr, flush=True)
server.wait()
"""


@pytest.mark.skipif(os.name == "nt", reason="a process has no parent that is gone there")
@pytest.mark.parametrize("mode", _MODES)
def test_the_server_ends_with_its_agent_though_others_hold_the_pipe(shop: Path, mode: str) -> None:
    pipe = subprocess.PIPE
    agent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, *_command(shop, mode)], stdin=pipe, stdout=pipe, stderr=pipe
    )
    assert agent.stdin
    assert agent.stdout
    assert agent.stderr
    server = psutil.Process(int(agent.stderr.readline()))
    agent.stdin.write(_lines([*_handshake(), _request(1, "ping")]))
    agent.stdin.flush()
    assert [json.loads(agent.stdout.readline())["id"] for _ in range(2)] == [0, 1]
    agent.kill()
    agent.wait()
    # This test holds both pipes open meanwhile.
    assert until(lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE)
    for stream in (agent.stdin, agent.stdout, agent.stderr):
        stream.close()


@pytest.mark.parametrize("mode", _MODES)
def test_of_two_requests_with_one_id_the_first_is_answered_and_the_second_refused(shop: Path, mode: str) -> None:
    twice = [_call(7, "search_code", query="total_price"), _call(7, "list_memories")]
    answers = [answer for answer in _answers(shop, mode, _lines([*_handshake(), *twice])) if answer["id"] == 7]
    assert sorted("error" in answer for answer in answers) == [False, True]
    (refused,) = (answer["error"]["message"] for answer in answers if "error" in answer)
    assert refused == "another request has this id, and is not answered yet"
    assert "src/cart.py" in str([answer["result"] for answer in answers if "result" in answer])


@pytest.mark.parametrize("mode", _MODES)
def test_a_token_of_progress_that_is_none_keeps_no_call_from_being_answered(shop: Path, mode: str) -> None:
    odd = ({"progressToken": {"a": 1}}, {"progressToken": [1]}, {"progressToken": 1.5}, "text", 5, {"x": {"y": [1]}})
    calls = [
        _request(number, "tools/call", name="list_memories", arguments={}, _meta=about)
        for number, about in enumerate(odd, start=1)
    ]
    answers = {answer["id"]: answer for answer in _answers(shop, mode, _lines([*_handshake(), *calls]))}
    assert set(answers) == set(range(len(odd) + 1))
    assert not [answer for answer in answers.values() if "error" in answer]
