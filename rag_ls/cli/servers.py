"""`rag-ls lsp` and `rag-ls mcp`: relays to the engine, or servers with an engine of their own."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from rag_ls.cli.terminal import print_notes
from rag_ls.daemon import Channel, LspRecord, McpRecord, Mode, Record, Relay, engine_paths, find_engine
from rag_ls.mcp import ClientLines
from rag_ls.util.json_rpc import claim_standard_streams
from rag_ls.util.processes import end_with, end_with_parent


def lsp(arguments: SimpleNamespace) -> int:
    """Serve an editor."""
    mode = Mode.of(arguments)
    _tell_a_person("lsp", "an editor")
    source, output = claim_standard_streams()
    if mode is Mode.NEVER:
        from rag_ls.lsp import serve_alone

        return serve_alone(source, output)
    from rag_ls.lsp import initialize_result

    record = LspRecord(initialize_result)
    relay = Relay(record, source, output, _connect(record, mode, ""), _was_stopped, log=engine_paths().log)
    end_with(lambda: record.process_id)
    fine = relay.run()
    return _exit(0 if fine and record.was_shut_down else 1)


def mcp(arguments: SimpleNamespace) -> int:
    """Serve an agent."""
    mode = Mode.of(arguments)
    folder = os.path.abspath(arguments.project)
    _tell_a_person("mcp", "an agent")
    lines: Any = ClientLines(*claim_standard_streams())
    end_with_parent(lambda: lines.has_begun)
    if mode is Mode.NEVER:
        from pathlib import Path

        from rag_ls.mcp import serve_alone

        return serve_alone(Path(folder), lines, lines)
    from rag_ls.mcp import initialize_result

    record = McpRecord(initialize_result)
    relay = Relay(record, lines, lines, _connect(record, mode, folder), _was_stopped, log=engine_paths().log)
    return _exit(0 if relay.run() else 1)


def _tell_a_person(verb: str, client: str) -> None:
    """Tell a person who typed the verb that it waits for a client."""
    if sys.stdin.isatty():
        how = f"`rag-ls connect` shows how {client} starts it"
        print_notes(f"`rag-ls {verb}` waits for {client} on standard input (Ctrl+C ends it); {how}")


def _connect(record: Record, mode: Mode, folder: str) -> Callable[[], Channel]:
    """A function that connects the relay to the user's engine, or to one in this process if that fails."""

    def connect() -> Channel:
        about = {"name": record.name, "folder": folder}
        if (found := find_engine(record.surface, mode, about)) is not None:
            return found
        from rag_ls.daemon import in_process

        return in_process(record.surface, about)

    return connect


def _was_stopped() -> bool:
    return os.path.exists(engine_paths().stopped)


def _exit(code: int) -> int:
    """End the process at once, even if a thread still waits for the other side."""
    sys.stderr.flush()
    if threading.active_count() > 1:
        os._exit(code)
    return code
