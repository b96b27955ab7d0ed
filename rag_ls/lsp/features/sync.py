"""Takes in the editor's changes of documents, files, folders and settings, and its own trust in a folder.

The server asks for that trust, such as VS Code's workspace trust, by the request `ragLs/isTrusted` with `{"uri": FOLDER}`, before
it opens the folder, if the editor's capabilities hold `{"experimental": {"ragLs": {"tellsTrust": true}}}`. Only the result `true`
makes the folder trusted; any other takes back nothing that the user trusts otherwise. It is a request because no settings answer
one: editors' settings, initialization options too, may come from the repository.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from rag_ls.config import Settings
from rag_ls.lsp.documents import file_path
from rag_ls.lsp.protocol import RagLsServer, plain, wants
from rag_ls.lsp.text_buffer import Position, TextBuffer

SECTION = "ragLs"

IS_TRUSTED = "ragLs/isTrusted"
_log = logging.getLogger(__name__)
_ANSWER_S = 10.0


def register(server: RagLsServer) -> None:
    _register_texts(server)
    _register_files(server)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders_changed(params: types.DidChangeWorkspaceFoldersParams) -> None:
        session = server.session
        await session.client()
        for folder in params.event.removed:
            if path := file_path(folder.uri):
                await session.remove_folder(path)
        for folder in params.event.added:
            if path := file_path(folder.uri):
                await session.add_folder(path, folder.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def settings_changed(params: types.DidChangeConfigurationParams) -> None:
        settings = settings_of(params.settings)
        # An empty section means that all settings were removed, while no section means that none were sent.
        is_told = bool(settings) or SECTION in _mapping(params.settings)
        workspace = server.client_capabilities.workspace
        if not is_told and workspace and workspace.configuration:
            # Newer clients only say that something changed; the server must ask for the settings.
            asked = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
            answer = await server.workspace_configuration_async(asked)
            settings = settings_of(answer[0]) if answer else {}
            is_told = bool(settings)
        if is_told:
            server.session.settings_changed(settings)


def _register_texts(server: RagLsServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        session = server.session
        session.text_changed(session.documents.open(item.uri, item.language_id, item.text))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        session = server.session
        document = session.documents.get(params.text_document.uri)
        if document is None:
            return
        for change in params.content_changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                document.buffer.replace(_position(change.range.start), _position(change.range.end), change.text)
            else:
                document.buffer = TextBuffer(change.text, session.documents.encoding)
        session.text_changed(document)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.session.files_changed([params.text_document.uri])

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        session = server.session
        if document := session.documents.close(params.text_document.uri):
            session.text_closed(document)


def _register_files(server: RagLsServer) -> None:
    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: types.DidChangeWatchedFilesParams) -> None:
        server.session.files_changed([event.uri for event in params.changes])

    @server.feature(types.WORKSPACE_DID_CREATE_FILES)
    def created(params: types.CreateFilesParams) -> None:
        server.session.files_changed([file.uri for file in params.files])

    @server.feature(types.WORKSPACE_DID_RENAME_FILES)
    def renamed(params: types.RenameFilesParams) -> None:
        server.session.files_changed([uri for file in params.files for uri in (file.old_uri, file.new_uri)])

    @server.feature(types.WORKSPACE_DID_DELETE_FILES)
    def deleted(params: types.DeleteFilesParams) -> None:
        server.session.files_changed([file.uri for file in params.files])


def settings_of(value: Any) -> dict[str, Any]:
    """Our settings in the editor's message: in its `ragLs` section, or directly."""
    found = _mapping(value)
    if SECTION in found:
        return settings_of(found[SECTION])
    # Some clients send other servers' sections too.
    known = {item.name for item in dataclasses.fields(Settings)}
    return {key: plain(item) for key, item in found.items() if key in known}


def _mapping(value: Any) -> dict[str, Any]:
    if hasattr(value, "__dict__") and not isinstance(value, dict):
        value = vars(value)
    if hasattr(value, "_asdict"):
        value = value._asdict()
    return value if isinstance(value, dict) else {}


def _position(position: types.Position) -> Position:
    return Position(position.line, position.character)


async def is_trusted(server: RagLsServer, folder: Path) -> bool:
    """Whether the editor's user trusts a folder; False where the editor does not say."""
    if not wants(server.client_capabilities, "tellsTrust"):
        return False
    try:
        asked = server.protocol.send_request_async(IS_TRUSTED, {"uri": folder.as_uri()})
        return await asyncio.wait_for(asked, _ANSWER_S) is True
    except (JsonRpcException, TimeoutError) as error:
        _log.warning("%s is not answered: %r", IS_TRUSTED, error)
        return False
