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
ALL_LANGUAGES = "all"
"""In place of the names of languages whose references are wanted."""
_OFFERED = {"references": "referencesProvider", "implementation": "implementationProvider"}
"""The features that an editor has only where settings want them, with their capabilities."""
_INCREMENTAL_KIND = 2
_DIAGNOSTICS = {"identifier": "rag-ls", "interFileDependencies": True, "workspaceDiagnostics": True}
_ALL_FILES = {"filters": [{"scheme": "file", "pattern": {"glob": "**"}}]}


def initialize_result(params: Any) -> dict[str, Any]:
    """`InitializeResult` (LSP 3.17) for a client's `InitializeParams`."""
    client = params.get("capabilities") if isinstance(params, dict) else None
    offered = _OFFERED if _reference_languages(params) else {}
    return {
        "capabilities": {
            "positionEncoding": position_encoding(client),
            "textDocumentSync": {"openClose": True, "change": _INCREMENTAL_KIND, "save": {"includeText": False}},
            "hoverProvider": True,
            "codeActionProvider": True,
            "codeLensProvider": {"resolveProvider": False},
            "workspaceSymbolProvider": {},
            **{provider: True for feature, provider in offered.items() if not registers(client, feature)},
            **({"diagnosticProvider": _DIAGNOSTICS} if pulls_diagnostics(client) else {}),
            "executeCommandProvider": {"commands": COMMANDS},
            "workspace": {
                "workspaceFolders": {"supported": True, "changeNotifications": True},
                "fileOperations": {"didCreate": _ALL_FILES, "didRename": _ALL_FILES, "didDelete": _ALL_FILES},
            },
        },
        "serverInfo": {"name": "rag-ls", "version": __version__},
    }


def registers(client: Any, feature: str) -> bool:
    """Whether a client can be told later that a feature of texts is offered, once all settings are read."""
    document = client.get("textDocument") if isinstance(client, dict) else None
    described = document.get(feature) if isinstance(document, dict) else None
    return isinstance(described, dict) and described.get("dynamicRegistration") is True


def _reference_languages(params: Any) -> Any:
    """The languages whose references the client's own settings want."""
    found = params.get("initializationOptions") if isinstance(params, dict) else None
    found = found.get("ragLs", found) if isinstance(found, dict) else None
    section = found.get("references") if isinstance(found, dict) else None
    return section.get("languages") if isinstance(section, dict) else None


def pulls_diagnostics(client: Any) -> bool:
    """Whether a client asks for diagnostics itself; to others, the server sends them."""
    document = client.get("textDocument") if isinstance(client, dict) else None
    return isinstance(document, dict) and isinstance(document.get("diagnostic"), dict)


def position_encoding(client: Any) -> str:
    """The first of the client's encodings that we support; UTF-16 if it names none."""
    general = client.get("general") if isinstance(client, dict) else None
    offered = general.get("positionEncodings") if isinstance(general, dict) else None
    return next((name for name in offered or () if name in _ENCODINGS), "utf-16")
