"""`rag-ls lsp`: answer `initialize` at once, then bring the server up."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any

from rag_ls.lsp.capabilities import initialize_result
from rag_ls.util.json_rpc import parsed

if TYPE_CHECKING:
    from rag_ls.engine.client import Client

_MAX_FIRST_MESSAGE_BYTES = 16_000_000


def serve_port(port: int) -> int:
    """Serve an editor over a local port, with an engine of its own."""
    from rag_ls.lsp.server import serve_tcp

    print(f"rag-ls: listening on 127.0.0.1:{port}", file=sys.stderr)
    try:
        return _exit(serve_tcp(port, _connect))
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        why = "is taken" if error.errno == errno.EADDRINUSE else "is not yours to open"
        print(f"rag-ls: port {port} of 127.0.0.1 {why}: give another with --tcp", file=sys.stderr)
        return 1


def serve_alone(source: IO[bytes], output: IO[bytes]) -> int:
    """Serve an editor over two streams, with an engine of its own."""
    replay, answered_id = _answer_first(source, output)
    from rag_ls.lsp.server import serve

    return _exit(serve(source, output, _connect, replay=replay, answered_id=answered_id))


def _connect(editor: Mapping[str, Any]) -> Client:
    from rag_ls.engine.client import local_client

    return local_client("lsp", editor=editor)


def _answer_first(source: IO[bytes], output: IO[bytes]) -> tuple[bytes, object]:
    """Read the first message, and answer it if it is `initialize`: (the bytes read, the answered id or None)."""
    read, length = b"", 0
    while line := source.readline():
        read += line
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            length = int(value)
        if not line.strip():
            break
    if not 0 < length <= _MAX_FIRST_MESSAGE_BYTES:
        return read, None
    body = source.read(length)
    message = parsed(body)
    if message is None or message.get("method") != "initialize" or "id" not in message:
        return read + body, None
    params = message.get("params")
    result = initialize_result(params)
    answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
    output.write(b"Content-Length: %d\r\n\r\n%s" % (len(answer), answer))
    return read + body, message["id"]


def _exit(code: int) -> int:
    """End now: threads that still wait for a model or a lock must not keep the process."""
    sys.stderr.flush()
    os._exit(code)
