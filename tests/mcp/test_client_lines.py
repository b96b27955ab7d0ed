"""Messages of agents as the server reads them."""

from __future__ import annotations

import io
import json
from typing import Any

from rag_ls.mcp.client_lines import ClientLines

_ASKED: dict[str, Any] = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": [], "_meta": {"progressToken": 1.5}},
}  # fmt: skip


def test_what_is_no_object_and_no_token_is_dropped() -> None:
    lines = ClientLines(io.BytesIO(json.dumps(_ASKED).encode() + b"\n"), io.BytesIO())
    assert json.loads(lines.readline())["params"] == {"name": "x", "_meta": {}}


def test_a_batch_is_refused_with_the_remedy() -> None:
    answers = io.BytesIO()
    assert ClientLines(io.BytesIO(json.dumps([_ASKED]).encode() + b"\n"), answers).readline() == b""
    assert "send each of a batch by itself" in json.loads(answers.getvalue())["error"]["message"]
