"""Builds the MCP server on the low-level server of the mcp library."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from rag_ls import __version__
from rag_ls.errors import InvalidRequest, NotFound, RagLsError
from rag_ls.indexing import Progress
from rag_ls.mcp import resources
from rag_ls.mcp.code_text import fit_answer, is_text, render_answer, render_whole
from rag_ls.mcp.compact import asks_for_all
from rag_ls.mcp.handshake import INSTRUCTIONS, NAME, shows_structure_alone
from rag_ls.operations import (
    OPERATIONS,
    Json,
    MustWait,
    Operation,
    Operations,
    Render,
    describe_tools,
    in_words_of_agents,
    join_notes,
    names_argument,
    offer_tools,
)
from rag_ls.util.json_rpc import LOST_MEMORIES, AnswerOnce, MessageTooLong, ReplayedInput, read_line
from rag_ls.util.text import escape_json, make_visible, nearest, nearest_text

_log = logging.getLogger(__name__)

# MCP, "Resources", "Error Handling".
_NO_RESOURCE_CODE = -32002
# The library's message for a request before `initialize`. Invalid parameters raise a `ValidationError` instead.
_BEFORE_INITIALIZE = "Invalid request parameters"
_LOST_NOTE = "the engine was started anew: the memories of scope session that were stored before are gone; store again what still counts"

OperationsReady = Callable[[], Awaitable[Operations]]


def create_server(
    operations: OperationsReady,
    toolsets: Collection[str],
    allowed: Collection[str] | None = None,
    slot: Callable[[], AbstractAsyncContextManager[None]] = contextlib.nullcontext,
) -> Server[Any]:
    """A server that offers the tools of `toolsets`. A call awaits `operations` until they are ready, and holds a `slot`."""
    tools = offer_tools(toolsets, allowed)
    reword = partial(in_words_of_agents, offered=tools)
    is_loss_reported = False

    def note_of_loss(context: Any) -> str:
        """Return the note on lost memories for the first answer after an engine ended with some of this session; else empty."""
        nonlocal is_loss_reported
        given = context.session.client_params
        if is_loss_reported or not (given and given.meta and given.meta.get(LOST_MEMORIES)):
            return ""
        is_loss_reported = True
        return _LOST_NOTE

    async def list_tools(_: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(each) for each in describe_tools(tools)])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in tools:
            near = nearest_text(nearest(params.name, tools))
            return _make_failure(f"there is no tool {params.name!r}; {near}the tools are {', '.join(tools)}")
        operation = OPERATIONS.find(tools[params.name])
        assert operation.tool is not None
        given, is_full = asks_for_all(params.arguments or {})
        names_project = names_argument(operation.request, given, "project")
        answers_text = is_text(operation) and not is_full
        render: Render = (
            partial(render_whole, reword=reword)
            if is_full
            else partial(render_answer, operation.tool, names_project=names_project, reword=reword)
        )
        try:
            async with slot():
                result = await _await_answer(await operations(), operation, given, context, render)
        except RagLsError as error:
            return _make_failure(reword(str(error)))
        except Exception as error:
            _log.exception("%s failed", operation.name)
            return _make_failure(
                f"{operation.name} failed: {type(error).__name__}: {error}; the server goes on, see its log"
            )
        lost = note_of_loss(context)
        if answers_text:
            beside = None if shows_structure_alone(_client_of(context)) else result["structured"]
            return _make_success("\n".join(filter(None, (lost and f"({lost})", result["text"]))), beside)
        if lost:
            result = {**result, "note": join_notes(lost, result.get("note", ""))}
        # Only this form is cut here: answers as text keep to a budget of their own.
        result = fit_answer(result)
        return _make_success(escape_json(json.dumps(result, ensure_ascii=False, separators=(",", ":"))), result)

    server: Server[Any] = Server(
        NAME,
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        **_resource_handlers(operations, has_memories="memory" in toolsets, has_collections="collections" in toolsets),
    )
    server.middleware.append(_explain_refusal)
    return server


async def _explain_refusal(ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
    """Tell a client what is wrong with its request: the library only says that its parameters are invalid."""
    try:
        return await call_next(ctx)
    except ValidationError as error:
        # In errors of a request, the path of the field begins with `params`; other errors are ours.
        wrong = next((item for item in error.errors() if item["loc"][:1] == ("params",)), None)
        if wrong is None:
            raise
        explanation = f"{ctx.method}: {'.'.join(map(str, wrong['loc']))}: {wrong['msg']}"
        raise MCPError(code=types.INVALID_PARAMS, message=explanation) from error
    except MCPError as error:
        if error.error.message != _BEFORE_INITIALIZE:
            raise
        explanation = (
            f"{ctx.method} came before initialize: send initialize, then notifications/initialized, then {ctx.method}"
        )
        raise MCPError(code=types.INVALID_REQUEST, message=explanation) from error


def _resource_handlers(operations: OperationsReady, *, has_memories: bool, has_collections: bool) -> dict[str, Any]:
    """The handlers of resources and prompts; both are empty if agents are offered neither memories nor collections."""
    kinds = [kind for kind, is_offered in (("memories", has_memories), ("collections", has_collections)) if is_offered]
    fixed = [each for kind in kinds for each in resources.list_fixed(kind)]
    templates = [each for kind in kinds for each in resources.list_templates(kind)]

    async def ask_operation(name: str, arguments: dict[str, Any]) -> Json:
        return await asyncio.wrap_future((await operations()).submit(name, arguments, render_whole))

    async def list_resources(_: Any, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        if not has_memories:
            return types.ListResourcesResult(resources=fixed)
        with _as_mcp_errors():
            answer = await ask_operation("list_memories", resources.page_arguments(cursor))
        return resources.list_page(answer, () if cursor else fixed)

    async def list_templates(_: Any, __: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        with _as_mcp_errors(uri, context.protocol_version):
            return resources.make_contents(uri, await ask_operation(*resources.operation_of(uri)))

    async def list_prompts(_: Any, __: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=resources.list_prompts() if has_memories else [])

    async def get_prompt(_: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        with _as_mcp_errors():
            given = resources.find_argument(params.name, params.arguments)
            question = resources.question_of(params.name, given)
            answer = await ask_operation("search_memory", question) if question else {}
            return resources.fill_prompt(params.name, given, answer.get("context", ""))

    return {
        "on_list_resources": list_resources,
        "on_list_resource_templates": list_templates,
        "on_read_resource": read_resource,
        "on_list_prompts": list_prompts,
        "on_get_prompt": get_prompt,
    }


@contextlib.contextmanager
def _as_mcp_errors(uri: str = "", version: str = "") -> Iterator[None]:
    """Turn our errors into MCP errors; requests other than tool calls cannot report them otherwise."""
    try:
        yield
    except RagLsError as error:
        # Since 2026-07-28, a resource that does not exist is an invalid parameter.
        is_missing = isinstance(error, NotFound) and version not in MODERN_PROTOCOL_VERSIONS
        code = _NO_RESOURCE_CODE if is_missing else types.INVALID_PARAMS
        raise MCPError(code=code, message=make_visible(str(error)), data={"uri": uri} if uri else None) from error


async def _await_answer(
    ready: Operations, operation: Operation, arguments: dict[str, Any], context: Any, render: Render
) -> Json:
    try:
        return await asyncio.wrap_future(ready.submit(operation.name, arguments, render, can_wait=True))
    except MustWait as unready:
        finish = unready.finish
    # Only an operation that must wait takes long enough to report progress.
    steps, left = itertools.count(1), threading.Event()

    def report(project: str, progress: Progress) -> None:
        if left.is_set():
            raise InvalidRequest("the agent waits no longer")
        anyio.from_thread.run(
            context.session.report_progress, next(steps), None, make_visible(f"{project}: {progress}")
        )

    try:
        return await anyio.to_thread.run_sync(finish, report, abandon_on_cancel=True)
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
    """The input as lines of text, with only the methods that the mcp library uses."""

    def __init__(self, source: ReplayedInput) -> None:
        self._source = source

    def readline(self) -> str:
        try:
            return (read_line(self._source) or b"").decode("utf-8", "replace")
        except (MessageTooLong, OSError, ValueError) as error:
            _log.warning("the agent's session ends: %s", error)
            return ""


class _TextWriter:
    """The output as a text file, with only the methods that the mcp library uses."""

    def __init__(self, output: AnswerOnce) -> None:
        self._output = output

    def write(self, text: str) -> None:
        self._output.write(text.encode())

    def flush(self) -> None:
        self._output.flush()


def _client_of(context: Any) -> str:
    """The name of the program that calls; empty if it did not say."""
    given = context.session.client_params
    return given.client_info.name if given and given.client_info else ""


def _make_success(text: str, structured: Json | None) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=structured)


def _make_failure(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=make_visible(message))], is_error=True)


_ROOTS_TIMEOUT_S = 3.0
_MAX_ROOTS = 20


async def ask_roots(session: Any) -> list[Path] | None:
    """The folders that a client names; None from one that offers none, or does not answer in time."""
    offered = session.client_capabilities
    if offered is None or offered.roots is None:
        return None
    try:
        with anyio.fail_after(_ROOTS_TIMEOUT_S):
            answer = await session.send_request(types.ListRootsRequest(), types.ListRootsResult)
    except Exception as error:
        # The agent waits for an answer to its own request, not to ours.
        _log.warning("the agent's program did not say its folders: %s: %s", type(error).__name__, error)
        return None
    folders = (_folder_of(str(root.uri)) for root in answer.roots[:_MAX_ROOTS])
    return [folder for folder in folders if folder is not None]


def _folder_of(uri: str) -> Path | None:
    """The folder on this machine that a URI names."""
    parts = urlsplit(uri)
    folder = Path(url2pathname(parts.path))
    is_here = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return folder if is_here and folder.is_absolute() else None
