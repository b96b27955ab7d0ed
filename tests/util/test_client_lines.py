"""Messages of agents as the server reads them."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from rag_ls.util.client_lines import ClientLines

_ASKED: dict[str, Any] = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": [], "_meta": {"progressToken": 1.5}},
}  # fmt: skip


@pytest.mark.parametrize("written", [_ASKED, [_ASKED]], ids=["alone", "in a batch"])
def test_what_is_no_object_and_no_token_is_dropped(written: object) -> None:
    lines = ClientLines(io.BytesIO(json.dumps(written).encode() + b"\n"), io.BytesIO())
    assert json.loads(lines.readline())["params"] == {"name": "x", "_meta": {}}
