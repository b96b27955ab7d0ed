"""Answers `initialize` with plain data before pygls is imported, then starts the server."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rag_ls import __version__
from rag_ls.util.json_rpc import MessageTooLong, framed, parsed, read_framed

if TYPE_CHECKING:
    from rag_ls.engine import Client


COMMANDS: list[str] = json.loads(Path(__file__).with_name("commands.json").read_text())
"""Generated from rag_ls/operations/ by scripts/dev.py docs."""
# The commands of code actions and lenses. They take a selection or a place, and call operations.
OF_THE_EDITOR = ("ragLs.rememberSelection", "ragLs.memoriesAbout", "ragLs.showPlace", "ragLs.showUses")
_ENCODINGS = ("utf-8", "utf-16", "utf-32")
_INCREMENTAL_KIND = 2
_DIAGNOSTICS = {"identifier": "rag-ls", "interFileDependencies": True, "workspaceDiagnostics": True}
_ALL_FILES = {"filters": [{"scheme": "file", "pattern": {"glob": "**"}}]}


def initialize_result(params: Any) -> dict[str, Any]:
    """`InitializeResult` (LSP 3.17) for a client's `InitializeParams`."""
    client = params.get("capabilities") if isinstance(params, dict) else None
    return {
        "capabilities": {
            "positionEncoding": position_encoding(client),
            "textDocumentSync": {"openClose": True, "change": _INCREMENTAL_KIND, "save": {"includeText": False}},
            "hoverProvider": True,
            "codeActionProvider": True,
            "codeLensProvider": {"resolveProvider": False},
            "workspaceSymbolProvider": {},
            **({"diagnosticProvider": _DIAGNOSTICS} if pulls_diagnostics(client) else {}),
            "executeCommandProvider": {"commands": COMMANDS},
            "workspace": {
                "workspaceFolders": {"supported": True, "changeNotifications": True},
                "fileOperations": {"didCreate": _ALL_FILES, "didRename": _ALL_FILES, "didDelete": _ALL_FILES},
            },
        },
        "serverInfo": {"name": "rag-ls", "version": __version__},
    }


def pulls_diagnostics(client: Any) -> bool:
    """Whether a client asks for diagnostics itself; to others, the server sends them."""
    document = client.get("textDocument") if isinstance(client, dict) else None
    return isinstance(document, dict) and isinstance(document.get("diagnostic"), dict)


def position_encoding(client: Any) -> str:
    """The first of the client's encodings that we support; UTF-16 if it names none."""
    general = client.get("general") if isinstance(client, dict) else None
    offered = general.get("positionEncodings") if isinstance(general, dict) else None
    return next((name for name in offered or () if name in _ENCODINGS), "utf-16")


def serve_alone(source: IO[bytes], output: IO[bytes]) -> int:
    """Serve an editor over two streams, with an engine of its own."""
    replay, answered_id = b"", None
    try:
        body = read_framed(source)
    except MessageTooLong as error:
        print(f"rag-ls: {error}; ending the session", file=sys.stderr)
        return 1
    if body is not None:
        replay, message = framed(body), parsed(body)
        if message is not None and message.get("method") == "initialize" and "id" in message:
            answered_id = message["id"]
            answer = {"jsonrpc": "2.0", "id": answered_id, "result": initialize_result(message.get("params"))}
            output.write(framed(json.dumps(answer).encode()))
    from rag_ls.lsp.server import serve

    return _exit_at_once(serve(source, output, _connect, replay=replay, answered_id=answered_id))


def _connect(editor: Mapping[str, Any]) -> Client:
    from rag_ls.engine import local_client

    return local_client("lsp", editor=editor)


def _exit_at_once(code: int) -> int:
    """Exit without waiting for threads: some may still wait for a model or a lock."""
    sys.stderr.flush()
    os._exit(code)
