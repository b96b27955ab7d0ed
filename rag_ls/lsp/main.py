"""`rag-ls lsp`: answer `initialize` at once, then bring the server up."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import IO

from rag_ls.framing import claim_standard_streams, parsed
from rag_ls.lsp.capabilities import initialize_result

_LONGEST_FIRST_MESSAGE = 16_000_000


def run(arguments: argparse.Namespace) -> int:
    """Serve an editor over standard input and output, or a port."""
    if arguments.tcp:
        from rag_ls.lsp.server import serve_tcp

        print(f"rag-ls: listening on 127.0.0.1:{arguments.tcp}", file=sys.stderr)
        return _exit(serve_tcp(arguments.tcp))
    source, output = claim_standard_streams()
    replay, answered_id = _answer_first(source, output)
    from rag_ls.lsp.server import serve

    return _exit(serve(source, output, replay=replay, answered_id=answered_id))


def _answer_first(source: IO[bytes], output: IO[bytes]) -> tuple[bytes, object]:
    """Read the first message and answer it if it is `initialize`: (what was read, the id that was answered)."""
    read, length = b"", 0
    while line := source.readline():
        read += line
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            length = int(value)
        if not line.strip():
            break
    if not 0 < length <= _LONGEST_FIRST_MESSAGE:
        return read, None
    body = source.read(length)
    message = parsed(body)
    if message is None or message.get("method") != "initialize" or "id" not in message:
        return read + body, None
    params = message.get("params")
    result = initialize_result(params.get("capabilities") if isinstance(params, dict) else None)
    answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
    output.write(b"Content-Length: %d\r\n\r\n%s" % (len(answer), answer))
    return read + body, message["id"]


def _exit(code: int) -> int:
    """End now: threads that still wait for a model or a lock must not keep the process."""
    sys.stderr.flush()
    os._exit(code)
