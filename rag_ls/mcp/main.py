"""`rag-ls mcp`: answer `initialize` at once, bring the engine up beside the protocol library."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import IO, Any

from rag_ls.framing import claim_standard_streams, parsed
from rag_ls.mcp.handshake import initialize_result

# An agent's question waits so long for a model that is still loading; then words alone must do.
_MODEL_WAIT_S = 1.0


def run(arguments: argparse.Namespace) -> int:
    """Serve an agent over standard input and output."""
    source, output = claim_standard_streams()
    starting: Future[Any] = Future()
    threading.Thread(target=_start_engine, args=(arguments.project, starting), name="engine", daemon=True).start()
    first, answered_id = _answer_first(source, output)
    code = _serve(source, output, first, answered_id, starting)
    if starting.done() and not starting.exception():
        starting.result()[0].close()
    sys.stderr.flush()
    os._exit(code)


def _answer_first(source: IO[bytes], output: IO[bytes]) -> tuple[bytes, object]:
    """Read the first line and answer it if it is `initialize`: (what was read, the id that was answered)."""
    line = source.readline()
    message = parsed(line)
    if message is None or message.get("method") != "initialize" or "id" not in message:
        return line, None
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": initialize_result(message.get("params"))}
    output.write(json.dumps(answer).encode() + b"\n")
    return line, message["id"]


def _serve(source: IO[bytes], output: IO[bytes], first: bytes, answered_id: object, starting: Future[Any]) -> int:
    import anyio
    import anyio.to_thread

    from rag_ls.framing import AnswerOnce, ReplayedInput
    from rag_ls.mcp.server import create_server, serve
    from rag_ls.operations import Operations

    async def operations() -> Operations:
        engine, _ = await anyio.to_thread.run_sync(starting.result)
        return Operations(engine, wait_for_model_s=_MODEL_WAIT_S)

    async def main() -> None:
        server = create_server(operations, _toolsets(starting))
        await serve(server, ReplayedInput(first, source), AnswerOnce(output, answered_id))

    anyio.run(main)
    return 0


def _start_engine(folder: Path, starting: Future[Any]) -> None:
    try:
        from rag_ls.engine import Engine

        engine = Engine()
        opened = engine.open(folder)
        if opened.settings.index.on_open:
            opened.indexing.index_tree()
        starting.set_result((engine, opened))
    except Exception as error:
        logging.getLogger(__name__).error("the engine did not start: %s", error)
        starting.set_exception(error)


def _toolsets(starting: Future[Any]) -> tuple[str, ...]:
    """The toolsets of the project's settings, or all when the project cannot be opened (calls then say why)."""
    try:
        return tuple(starting.result()[1].settings.mcp.toolsets)
    except Exception:
        return ("code", "memory")
