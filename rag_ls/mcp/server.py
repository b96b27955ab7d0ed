"""The MCP server put together, on the low-level server of the mcp library."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Collection
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from rag_ls import __version__
from rag_ls.errors import InvalidRequest, RagLsError
from rag_ls.framing import AnswerOnce, MessageTooLong, ReplayedInput, read_line
from rag_ls.indexing import Progress
from rag_ls.mcp.handshake import INSTRUCTIONS, NAME
from rag_ls.mcp.tools import TOOLS, ToolSpec
from rag_ls.operations import Operations
from rag_ls.wire import Json

_log = logging.getLogger(__name__)

OperationsReady = Callable[[], Awaitable[Operations]]


def create_server(operations: OperationsReady, toolsets: Collection[str]) -> Server[Any]:
    """A server that offers the tools of `toolsets`; `operations` waits until they can be used."""
    offered = {spec.name: spec for spec in TOOLS if spec.toolset in toolsets}

    async def list_tools(_: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(spec) for spec in offered.values()])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        spec = offered.get(params.name)
        if spec is None:
            return _failure(f"there is no tool {params.name!r}; the tools are {', '.join(offered)}")
        try:
            result = await _result(await operations(), spec.name, params.arguments or {}, context)
        except RagLsError as error:
            return _failure(str(error))
        except Exception as error:
            _log.exception("%s failed", spec.name)
            return _failure(f"{spec.name} failed: {type(error).__name__}: {error}; the server goes on, see its log")
        text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=result)

    return Server(
        NAME, version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )


async def _result(ready: Operations, name: str, arguments: dict[str, Any], context: Any) -> Json:
    if not arguments.get("wait_s"):
        return await asyncio.wrap_future(ready.submit(name, arguments))
    # Only what waits can take long enough for an agent to be told how far it is.
    steps, left = itertools.count(1), threading.Event()

    def report(project: str, progress: Progress) -> None:
        if left.is_set():
            raise InvalidRequest("the agent waits no longer")
        anyio.from_thread.run(context.session.report_progress, next(steps), None, f"{project}: {progress}")

    try:
        return await anyio.to_thread.run_sync(ready.run, name, arguments, report, abandon_on_cancel=True)
    finally:
        left.set()


async def serve(server: Server[Any], source: ReplayedInput, output: AnswerOnce) -> None:
    """Serve one agent until it leaves."""
    lines: Any = _TextLines(source)
    writer: Any = _TextWriter(output)
    streams = stdio_server(anyio.wrap_file(lines), anyio.wrap_file(writer))
    async with streams as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


class _TextLines:
    """The input as lines of text, as far as the mcp library asks for it."""

    def __init__(self, source: ReplayedInput) -> None:
        self._source = source

    def readline(self) -> str:
        try:
            return (read_line(self._source) or b"").decode("utf-8", "replace")
        except (MessageTooLong, OSError, ValueError) as error:
            _log.warning("the agent's session ends: %s", error)
            return ""


class _TextWriter:
    """The output as a text file, as far as the mcp library asks for it."""

    def __init__(self, output: AnswerOnce) -> None:
        self._output = output

    def write(self, text: str) -> None:
        self._output.write(text.encode())

    def flush(self) -> None:
        self._output.flush()


def _tool(spec: ToolSpec) -> types.Tool:
    return types.Tool(
        name=spec.name,
        description=spec.description,
        input_schema=spec.input_schema,
        output_schema=spec.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=spec.read_only,
            destructive_hint=spec.destructive,
            idempotent_hint=spec.idempotent,
            open_world_hint=False,
        ),
    )


def _failure(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=message)], is_error=True)
