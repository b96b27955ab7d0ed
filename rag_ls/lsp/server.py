"""Assembles the pygls server from its features."""

from __future__ import annotations

import asyncio
import functools
import logging
from typing import IO, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from rag_ls.lsp.documents import file_path
from rag_ls.lsp.editor import Connect, EditorSession
from rag_ls.lsp.features import actions, commands, diagnostics, hover, progress, symbols, sync
from rag_ls.lsp.handshake import position_encoding
from rag_ls.lsp.protocol import RagLsServer, quiet_pygls
from rag_ls.util.json_rpc import AnswerOnce, FramedInput, ReplayedInput
from rag_ls.util.processes import end_with

_log = logging.getLogger(__name__)

_CLOSE_S = 10.0


def create_server(connect: Connect, *, watch_parent: bool) -> RagLsServer:
    """Create a server for one editor session with all features; `connect` creates its engine client."""
    quiet_pygls()
    server = RagLsServer()

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        asyncio.get_running_loop().set_exception_handler(_note_failure)
        encoding = position_encoding(server.protocol._converter.unstructure(params.capabilities))
        folders = {path: uri for uri in _folder_uris(params) if (path := file_path(uri)) is not None}
        settings = sync.settings_of(params.initialization_options)
        server.session = EditorSession(
            connect=connect,
            encoding=encoding,
            settings=settings,
            folders=folders,
            has_unread=lambda: server.has_unread(),
            is_trusted=functools.partial(sync.is_trusted, server),
        )
        # Zed (project_symbols.rs) filters, and so do "Zed Preview" and others. VS Code sends only the first word of a query.
        server.session.filters_symbols = params.client_info is not None and params.client_info.name.startswith("Zed")
        if params.process_id and watch_parent:
            end_with(lambda: params.process_id)

    @server.feature(types.SHUTDOWN)
    async def shutdown(*_: Any) -> None:
        await asyncio.wait_for(server.session.close(), _CLOSE_S)

    for feature in (sync, hover, symbols, commands, actions, diagnostics, progress):
        feature.register(server)
    return server


def _note_failure(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log a failure of the loop, unless it is an answer that an editor left before: a request that was refused."""
    if not isinstance(context.get("exception"), JsonRpcException):
        loop.default_exception_handler(context)


def serve(
    source: IO[bytes],
    output: IO[bytes],
    connect: Connect,
    *,
    replay: bytes = b"",
    answered_id: object = None,
    watch_parent: bool = True,
    close_s: float = _CLOSE_S,
) -> int:
    """Serve one editor until it leaves; returns the exit code that LSP prescribes.

    `replay` holds bytes already read from `source`; the request `answered_id` is already answered. `watch_parent` ends
    this process when the editor's process ends. An editor that leaves without `shutdown` waits `close_s` seconds at most
    until its projects are closed.
    """
    server = create_server(connect, watch_parent=watch_parent)
    messages = FramedInput(ReplayedInput(replay, source), server.note_step)
    server.has_unread = messages.has_unread
    server.start_io(messages, AnswerOnce(output, answered_id))  # type: ignore[arg-type]
    return _find_exit_code(server, close_s)


def _find_exit_code(server: RagLsServer, close_s: float) -> int:
    if hasattr(server, "session") and not server.was_shut_down:
        try:
            asyncio.run(asyncio.wait_for(server.session.close(), close_s))
        except TimeoutError:
            _log.warning(
                "the editor's projects are not closed after %g s: a disk may hang; its exit does not wait", close_s
            )
    return 0 if server.was_shut_down else 1


def _folder_uris(params: types.InitializeParams) -> list[str]:
    if params.workspace_folders:
        return [folder.uri for folder in params.workspace_folders]
    return [params.root_uri] if params.root_uri else []
