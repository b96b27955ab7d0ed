"""What is declared before pygls is up must be what the pygls server does."""

from __future__ import annotations

from lsprotocol import types

from rag_ls.engine.client import local_client
from rag_ls.lsp.handshake import COMMANDS, initialize_result, position_encoding
from rag_ls.lsp.server import create_server

_EVERYTHING = {
    "capabilities": {"textDocument": {"diagnostic": {}}},
}


def test_every_declared_capability_has_a_handler_and_every_handler_is_declared() -> None:
    server = create_server(lambda _: local_client(), watch_parent=False)
    declared = initialize_result(_EVERYTHING)["capabilities"]
    handlers = set(server.protocol.fm.features)
    needs = {
        "hoverProvider": {types.TEXT_DOCUMENT_HOVER},
        "codeActionProvider": {types.TEXT_DOCUMENT_CODE_ACTION},
        "codeLensProvider": {types.TEXT_DOCUMENT_CODE_LENS},
        "diagnosticProvider": {types.TEXT_DOCUMENT_DIAGNOSTIC, types.WORKSPACE_DIAGNOSTIC},
        "workspaceSymbolProvider": {types.WORKSPACE_SYMBOL},
        "textDocumentSync": {
            types.TEXT_DOCUMENT_DID_OPEN,
            types.TEXT_DOCUMENT_DID_CHANGE,
            types.TEXT_DOCUMENT_DID_SAVE,
            types.TEXT_DOCUMENT_DID_CLOSE,
        },
        "workspace": {
            types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
            types.WORKSPACE_DID_CREATE_FILES,
            types.WORKSPACE_DID_RENAME_FILES,
            types.WORKSPACE_DID_DELETE_FILES,
        },
        "executeCommandProvider": set(),
        "positionEncoding": set(),
    }
    assert set(declared) == set(needs)
    assert set().union(*needs.values()) <= handlers
    without_capability = {
        types.INITIALIZE,
        types.INITIALIZED,
        types.SHUTDOWN,
        types.WINDOW_WORK_DONE_PROGRESS_CANCEL,
        types.WORKSPACE_DID_CHANGE_CONFIGURATION,
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
    }
    assert handlers == set().union(*needs.values()) | without_capability
    assert set(server.protocol.fm.commands) == set(COMMANDS)


def test_an_editor_that_does_not_ask_for_diagnostics_is_not_offered_them() -> None:
    assert "diagnosticProvider" not in initialize_result({})["capabilities"]


def test_the_first_encoding_that_both_sides_know_is_chosen() -> None:
    assert position_encoding({"general": {"positionEncodings": ["utf-7", "utf-8", "utf-16"]}}) == "utf-8"
    assert position_encoding({"general": {}}) == "utf-16"
    assert position_encoding(None) == "utf-16"
