"""What is answered before the mcp library is up must be what the library would answer."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from rag_ls.mcp.handshake import PROTOCOL_VERSIONS, initialize_result
from rag_ls.mcp.main import Starting, _list_tools_first
from rag_ls.mcp.server import create_server, serve
from rag_ls.operations import ClientSession
from rag_ls.operations.tools import describe_tools, offer_tools
from rag_ls.util.json_rpc import AnswerOnce, ReplayedInput


def _library_answer(params: dict[str, Any]) -> Any:
    """The answer of the server itself, with nothing answered before."""
    return _answer("initialize", params)["result"]


def _answer(method: str, params: dict[str, Any]) -> Any:
    """The server's answer to the first message."""
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    output = io.BytesIO()

    async def never() -> Any:
        raise AssertionError("initialize needs no engine")

    async def run() -> None:
        source = ReplayedInput(json.dumps(request).encode() + b"\n", io.BytesIO())
        await serve(create_server(never, ("code", "memory")), source, AnswerOnce(output, None))

    anyio.run(run)
    return json.loads(output.getvalue())


@pytest.mark.parametrize("version", [*PROTOCOL_VERSIONS, "1999-01-01"])
def test_the_early_answer_is_the_librarys_answer(version: str) -> None:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    assert initialize_result(params) == _library_answer(params)


def test_only_what_lists_all_tools_is_answered_early() -> None:
    starting: Starting = Future()
    starting.set_result((ClientSession.__new__(ClientSession), ("memory",)))
    told = [{"method": "notifications/initialized"}, {"id": 7, "method": "tools/list", "params": {}}]
    told += [{"id": 8, "method": "tools/list", "params": {"cursor": True}}, {"id": 9, "method": "tools/list"}]
    lines = [json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n" for each in told]
    source, output = io.BytesIO(b"".join(lines)), io.BytesIO()
    assert _list_tools_first(source, output, starting) == lines[0] + lines[2]
    assert source.read() == lines[3]
    answer = json.loads(output.getvalue())
    assert (answer["id"], answer["result"]["tools"]) == (7, describe_tools(offer_tools(("memory",))))


def test_a_call_before_initialize_is_told_what_comes_first() -> None:
    error = _answer("tools/call", {"name": "index_status"})["error"]
    assert (error["code"], "send initialize" in error["message"]) == (-32600, True)


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        (
            "tools/call",
            {"name": "search_code", "arguments": [1]},
            "params.arguments: Input should be a valid dictionary",
        ),
        ("tools/call", {"name": 5}, "params.name: Input should be a valid string"),
        ("tools/call", {"arguments": {}}, "params.name: Field required"),
        ("tools/list", {"cursor": True}, "params.cursor: Input should be a valid string"),
        ("resources/read", {"uri": {}}, "params.uri: Input should be a valid string"),
    ],
)
def test_a_field_of_the_wrong_type_is_named(method: str, params: dict[str, Any], message: str) -> None:
    error = _answer(method, params)["error"]
    assert (error["code"], error["message"]) == (-32602, f"{method}: {message}")


def test_the_versions_are_those_that_the_library_speaks() -> None:
    assert set(PROTOCOL_VERSIONS) == set(HANDSHAKE_PROTOCOL_VERSIONS)


def test_initialize_is_answered_before_a_protocol_library_is_imported(tmp_path: Path) -> None:
    script = (
        "import sys, rag_ls.cli.main, rag_ls.lsp.handshake, rag_ls.mcp.main\n"
        "heavy = {'torch', 'sentence_transformers', 'pygls', 'lsprotocol', 'mcp', 'numpy', 'onnxruntime'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "[]"
