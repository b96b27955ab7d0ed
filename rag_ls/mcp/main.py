"""MCP sessions: with their own engine (which answers `initialize` before it has started), or on a shared one."""

from __future__ import annotations

import importlib
import json
import logging
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rag_ls.errors import NotIndexed, RagLsError
from rag_ls.mcp.handshake import initialize_result
from rag_ls.util.json_rpc import parsed
from rag_ls.util.text import fold

if TYPE_CHECKING:
    from rag_ls.engine import Client
    from rag_ls.operations import ClientSession

_log = logging.getLogger(__name__)

_ALL_TOOLSETS = ("code", "memory", "rules")
# The methods that a project may answer.
_ABOUT_PROJECTS = ("tools/call", "resources/read", "resources/list", "prompts/get")

Starting = Future[tuple["ClientSession", tuple[str, ...]]]
"""A client whose project is open or could not be opened, and the toolsets that it is offered."""


def serve_alone(folder: Path, source: IO[bytes], output: IO[bytes]) -> int:
    """Serve an agent over two streams, with an engine of its own; ends this process."""
    starting: Starting = Future()
    threading.Thread(target=_start_session, args=(_local_client, folder, starting), name="engine", daemon=True).start()
    first, answered_id = _answer_first(source, output)
    if answered_id is not None:
        first += _list_tools_first(source, output, starting)
    serve_streams(source, output, folder, starting, replay=first, answered_id=answered_id)
    if starting.done() and not starting.exception():
        starting.result()[0].client.close()
    sys.stderr.flush()
    os._exit(0)


def serve_client(client: Client, folder: Path, source: IO[bytes], output: IO[bytes]) -> None:
    """Serve an agent on a shared engine until it leaves."""
    starting: Starting = Future()
    client.engine.workers.submit(client, "open", lambda: _start_session(lambda: client, folder, starting))
    serve_streams(source, output, folder, starting)


def serve_streams(
    source: IO[bytes],
    output: IO[bytes],
    folder: Path,
    starting: Starting,
    *,
    replay: bytes = b"",
    answered_id: object = None,
) -> None:
    """Serve an agent until it leaves. `replay` was read already, the request `answered_id` answered already."""
    import anyio
    import anyio.to_thread

    from rag_ls.mcp.server import ask_roots, create_server, serve
    from rag_ls.operations import Operations
    from rag_ls.util.json_rpc import AnswerOnce, ReplayedInput

    async def operations() -> Operations:
        session, _ = await anyio.to_thread.run_sync(starting.result)
        if not session.client.projects():
            # The project could not be opened at first: try again, or raise the reason.
            await anyio.to_thread.run_sync(_open_folder, session, folder)
        return session.operations

    has_roots = True

    async def enter_roots(ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Open the folders that the client names, before the first request that a project may answer."""
        nonlocal has_roots
        if has_roots and ctx.method in _ABOUT_PROJECTS:
            session = await anyio.to_thread.run_sync(_session_or_none, starting)
            if session is not None and not session.client.projects():
                roots = await ask_roots(ctx.session)
                has_roots = roots is not None
                for root in roots or ():
                    await anyio.to_thread.run_sync(_enter_root, session, root)
        return await call_next(ctx)

    async def main() -> None:
        toolsets = await anyio.to_thread.run_sync(_find_toolsets, starting)
        server = create_server(operations, toolsets)
        server.middleware.append(enter_roots)
        await serve(server, ReplayedInput(replay, source), AnswerOnce(output, answered_id))

    anyio.run(main)


def _answer_first(source: IO[bytes], output: IO[bytes]) -> tuple[bytes, object]:
    """Read the first line, and answer it if it is `initialize`: (the line, the answered id or None)."""
    line = source.readline()
    message = parsed(line)
    if message is None or message.get("method") != "initialize" or "id" not in message:
        return line, None
    _answer_request(message, initialize_result(message.get("params")), output)
    return line, message["id"]


def _list_tools_first(source: IO[bytes], output: IO[bytes], starting: Starting) -> bytes:
    """Answer `tools/list` while the library mcp is loaded behind it; returns the lines read that are left to the library."""

    def load_library() -> None:
        starting.exception()
        importlib.import_module("rag_ls.mcp.server")

    threading.Thread(target=load_library, name="mcp", daemon=True).start()
    left = b""
    while line := source.readline():
        message = parsed(line)
        if message is not None and _lists_all_tools(message):
            from rag_ls.operations import describe_tools, offer_tools

            tools = describe_tools(offer_tools(_find_toolsets(starting)))
            _answer_request(message, {"tools": tools}, output)
            continue
        left += line
        if message is None or "id" in message:
            break
    return left


def _lists_all_tools(message: dict[str, Any]) -> bool:
    """Whether a message asks for the tools from the first on. The library explains what is wrong with any other."""
    params = message.get("params", {})
    is_first = isinstance(params, dict) and "cursor" not in params
    return is_first and message.get("method") == "tools/list" and isinstance(message.get("id"), int | str)


def _answer_request(request: dict[str, Any], result: dict[str, Any], output: IO[bytes]) -> None:
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": result}
    output.write(json.dumps(answer).encode() + b"\n")
    output.flush()


def _start_session(connect: Callable[[], Client], folder: Path, starting: Starting) -> None:
    from rag_ls.operations import ClientSession

    try:
        session = ClientSession(connect())
    except Exception as error:
        _log.error("the engine did not start: %s", error)
        starting.set_exception(error)
        return
    try:
        _open_folder(session, folder)
        starting.set_result((session, session.toolsets))
    except (RagLsError, OSError) as error:
        # The project's settings may offer all tools. If it cannot be opened, their calls say why; or it can be by then.
        _log.error("the project cannot be opened: %s", error)
        starting.set_result((session, _ALL_TOOLSETS))


def _open_folder(session: ClientSession, folder: Path) -> None:
    """Open the agent's project; in a folder that is none, it has the user's memories alone, and is told so in its own words."""
    try:
        session.work_in(folder)
    except NotIndexed:
        session.client.why_none = NotIndexed(
            f"rag-ls was started in {fold(str(folder))}, which is no project, and the program that started it named no other folder: ask "
            "the user to open the project's folder, or to start rag-ls there or with the arguments mcp --project FOLDER; "
            "until then, give project = a name of list_repos"
        )


def _enter_root(session: ClientSession, root: Path) -> None:
    """Open a folder that the agent's program named, if it is there and may be a project."""
    try:
        session.work_in(root)
    except (RagLsError, OSError) as error:
        _log.warning("%s", error)


def _session_or_none(starting: Starting) -> ClientSession | None:
    """The agent's session; None if the engine did not start, which each call says."""
    try:
        return starting.result()[0]
    except Exception:
        return None


def _local_client() -> Client:
    from rag_ls.engine import local_client

    return local_client("mcp")


def _find_toolsets(starting: Starting) -> tuple[str, ...]:
    """The toolsets that the settings offer; all if the engine failed to start, as the tools then report the error."""
    try:
        return starting.result()[1]
    except Exception:
        return _ALL_TOOLSETS
