"""The server's capabilities, as the JSON answer to `initialize`. Plain data, because it is sent before pygls starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rag_ls import __version__

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
