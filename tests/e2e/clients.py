"""An editor and an agent for tests: real processes of rag-ls, spoken to by real clients."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import ListRootsResult, Root
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities, make_test_lsp_client

from tests.commands import RAG_LS as RAG_LS
from tests.commands import command_line

PATIENCE_S = 180.0


class Editor:
    """An LSP client with the few things that a person does."""

    def __init__(self, client: LanguageClient, initialized: types.InitializeResult) -> None:
        self.client = client
        self.initialized = initialized
        self._versions: dict[str, int] = {}

    def open(self, file: Path | str, text: str | None = None, language: str = "python") -> None:
        """Open a file, with its text on disk unless another is given."""
        uri = uri_of(file)
        content = text if text is not None else Path(file).read_bytes().decode()
        self._versions[uri] = 1
        item = types.TextDocumentItem(uri, language, 1, content)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def type(
        self, file: Path | str, text: str, at: tuple[int, int] = (0, 0), until: tuple[int, int] | None = None
    ) -> None:
        """Replace a range (by default: insert at a place) in an open document."""
        start, end = types.Position(*at), types.Position(*(until or at))
        change = types.TextDocumentContentChangePartial(range=types.Range(start, end), text=text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(self._next(file), [change]))

    def replace_all(self, file: Path | str, text: str) -> None:
        """Replace the whole text of an open document."""
        change = types.TextDocumentContentChangeWholeDocument(text=text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(self._next(file), [change]))

    def save(self, file: Path, text: str) -> None:
        """Write a file as an editor does, and say so."""
        file.write_bytes(text.encode())
        document = types.TextDocumentIdentifier(uri_of(file))
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(document))

    def close(self, file: Path | str) -> None:
        """Close a document."""
        document = types.TextDocumentIdentifier(uri_of(file))
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))

    def watched(self, *files: Path) -> None:
        """Say that other programs changed some files."""
        events = [types.FileEvent(uri_of(file), types.FileChangeType.Changed) for file in files]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))

    async def command(self, name: str, **arguments: Any) -> Any:
        """Run a `ragLs.*` command with one JSON object."""
        params = types.ExecuteCommandParams(f"ragLs.{name}", [arguments] if arguments else None)
        return await self.client.workspace_execute_command_async(params)

    async def symbols(self, query: str) -> list[types.WorkspaceSymbol]:
        """Ask `workspace/symbol`."""
        return list(await self.client.workspace_symbol_async(types.WorkspaceSymbolParams(query)) or [])

    async def hover(self, file: Path | str, line: int, character: int) -> str:
        """The Markdown of a hover at a 0-based place; empty where there is none."""
        params = types.HoverParams(types.TextDocumentIdentifier(uri_of(file)), types.Position(line, character))
        hover = await self.client.text_document_hover_async(params)
        return hover.contents.value if hover else ""

    async def until_complete(self) -> Any:
        """Wait until the index says that it is complete."""

        async def complete() -> Any:
            status = await self.command("status")
            return status if status["complete"] else None

        return await eventually(complete)

    def _next(self, file: Path | str) -> types.VersionedTextDocumentIdentifier:
        uri = uri_of(file)
        self._versions[uri] += 1
        return types.VersionedTextDocumentIdentifier(self._versions[uri], uri)


class Agent:
    """An MCP client whose calls return the structured result."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool that must succeed, for all fields of its answer."""
        result = await self.session.call_tool(tool, {**arguments, "detail": "full"})
        assert not result.is_error, result.content
        return result.structured_content

    async def refusal(self, tool: str, **arguments: Any) -> str:
        """Call a tool that must fail, and return what it says."""
        result = await self.session.call_tool(tool, arguments)
        assert result.is_error, result.structured_content
        return result.content[0].text

    async def until_complete(self) -> Any:
        """Wait until the index says that it is complete."""

        async def complete() -> Any:
            status = await self.call("index_status")
            return status if status["complete"] else None

        return await eventually(complete)


@asynccontextmanager
async def editor(
    *folders: Path,
    capabilities: str = "visual-studio-code",
    name: str = "",
    options: Sequence[str] = (),
    trusts: bool | None = None,
    **settings: Any,
) -> AsyncIterator[Editor]:
    """An editor on some folders, against a `rag-ls lsp` of its own; `trusts`: what it says when it is asked for trust."""
    config = ClientServerConfig(
        server_command=command_line("lsp", *options), server_env=dict(os.environ), client_factory=_client
    )
    client = await config.start()
    view = [types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders]
    declared = client_capabilities(capabilities)
    declared.experimental = {"ragLs": {"events": True, "asksForNotes": True, "tellsTrust": trusts is not None}}
    client.feature("ragLs/isTrusted")(lambda params: trusts)
    params = types.InitializeParams(
        capabilities=declared,
        process_id=os.getpid(),
        client_info=types.ClientInfo(name) if name else None,
        workspace_folders=view or None,
        initialization_options=settings or None,
    )
    try:
        yield Editor(client, await client.initialize_session(params))
    finally:
        await client.shutdown_session()


@asynccontextmanager
async def agent(
    folder: Path, *options: str, roots: Callable[[], Awaitable[list[Path]]] | None = None
) -> AsyncIterator[Agent]:
    """An agent in a folder, against a `rag-ls mcp` of its own; its program says its `roots` if it has any."""

    async def list_roots(_: Any) -> ListRootsResult:
        assert roots is not None
        return ListRootsResult(roots=[Root(uri=uri_of(each)) for each in await roots()])

    command, *arguments = command_line("mcp", *options)
    server = StdioServerParameters(command=command, args=arguments, cwd=folder, env=dict(os.environ))
    async with (
        stdio_client(server) as (read, write),
        ClientSession(read, write, list_roots_callback=list_roots if roots else None) as session,
    ):
        await session.initialize()
        yield Agent(session)


async def eventually(condition: Callable[[], Awaitable[Any]], timeout_s: float = PATIENCE_S) -> Any:
    """Wait until a condition gives something true, and return that."""
    deadline = time.monotonic() + timeout_s
    while not (found := await condition()):
        assert time.monotonic() < deadline, f"{condition} did not come true in {timeout_s} s"
        await asyncio.sleep(0.05)
    return found


def uri_of(file: Path | str) -> str:
    """The URI of a file; other URIs pass as they are."""
    return file.as_uri() if isinstance(file, Path) else file


def _client() -> LanguageClient:
    client = make_test_lsp_client()

    client.lens_refreshes = 0
    client.notes, client.questions = [], []

    @client.feature("ragLs/askForNote")
    def ask_for_note(question: Any) -> Any:
        client.questions.append(question)
        return {"content": client.notes.pop()} if client.notes else None

    client.events = []

    @client.feature(types.WORKSPACE_CODE_LENS_REFRESH)
    def refresh_lenses(_: None) -> None:
        client.lens_refreshes += 1

    @client.feature("ragLs/event")
    def happened(params: Any) -> None:
        client.events += [event.type for event in params.events]

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(_: types.RegistrationParams) -> None:
        """Editors answer this; the test client alone would not."""

    return client
