"""MCP over Streamable HTTP: each session has a server and a client of the engine of its own.

Model Context Protocol, revisions up to 2025-11-25 (sessions) and 2026-07-28 (stateless), Transports, "Streamable HTTP".
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import anyio
import anyio.abc
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from rag_ls.config import HttpSettings
from rag_ls.errors import RagLsError
from rag_ls.http.exchange import Refusal, exchange_of, json_response
from rag_ls.http.sessions import CallerSession
from rag_ls.http.tokens import Token, TokenFile
from rag_ls.util.json_rpc import INVALID_REQUEST, parsed, refuse_unreadable
from rag_ls.util.records import dataclass, field

_log = logging.getLogger(__name__)

_SESSION_HEADER, _VERSION_HEADER = "mcp-session-id", "mcp-protocol-version"
_SWEEP_S = 2.0

MakeServer = Callable[[CallerSession], Server[Any]]
MakeSession = Callable[[Token, str], CallerSession]


@dataclass(eq=False, slots=True)
class _Session:
    """One session, or what serves the stateless requests of one caller."""

    token: Token
    project: str
    caller: CallerSession
    manager: StreamableHTTPSessionManager
    id: str = ""
    requests: int = 0
    used_at: float = field(default_factory=time.monotonic)
    ended: anyio.Event = field(default_factory=anyio.Event)


class McpSessions:
    """The ASGI application of `/mcp` and `/rag-mcp/{project}`."""

    def __init__(
        self, make_session: MakeSession, make_server: MakeServer, tokens: TokenFile, settings: HttpSettings
    ) -> None:
        self._make_session = make_session
        self._make_server = make_server
        self._tokens = tokens
        self._settings = settings
        self._sessions: dict[str, _Session] = {}
        self._opening: dict[str, int] = {}
        self._stateless: dict[tuple[str, str], _Session] = {}
        self._stateless_lock = anyio.Lock()
        self._tasks: anyio.abc.TaskGroup | None = None

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Host the sessions until cancelled."""
        try:
            async with anyio.create_task_group() as self._tasks:
                task_status.started()
                while True:
                    await anyio.sleep(_SWEEP_S)
                    self._sweep_idle()
        finally:
            self._tasks = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        exchange, headers = exchange_of(scope), Headers(scope=scope)
        project = str(scope.get("path_params", {}).get("project", ""))
        if scope["method"] == "POST":
            # The gate bounds its size and its time.
            body = await Request(scope, receive).body()
            if fault := _find_fault(body):
                exchange.error = "InvalidRequest"
                await json_response(fault, 400)(scope, receive, send)
                return
            receive = _replay_body(body, receive)
        session = await self._session_for(scope, headers, exchange.caller, project)
        await self._serve_session(session, scope, receive, send)

    async def _session_for(self, scope: Scope, headers: Headers, token: Token, project: str) -> _Session:
        version = headers.get(_VERSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            return await self._stateless_for(token, project)
        session_id = headers.get(_SESSION_HEADER)
        if session_id is not None:
            found = self._sessions.get(session_id)
            if found is None or (found.token.id, found.project) != (token.id, project):
                raise Refusal(404, "NotFound", "Session not found")
            return found
        if scope["method"] != "POST":
            raise Refusal(400, "InvalidRequest", f"a {scope['method']} needs the header Mcp-Session-Id")
        return await self._open_session(token, project)

    async def _open_session(self, token: Token, project: str) -> _Session:
        """A session whose first request is about to be served."""
        held = sum(session.token.id == token.id for session in self._sessions.values())
        if held + self._opening.get(token.id, 0) >= self._settings.max_sessions:
            told = "too many sessions for this token; end one first"
            raise Refusal(429, "TooManySessions", told, {"retry-after": "10"})
        self._opening[token.id] = self._opening.get(token.id, 0) + 1
        try:
            return await self._start_session(token, project)
        finally:
            self._opening[token.id] -= 1

    async def _stateless_for(self, token: Token, project: str) -> _Session:
        async with self._stateless_lock:
            key = (token.id, project)
            if key not in self._stateless:
                self._stateless[key] = await self._start_session(token, project)
            return self._stateless[key]

    async def _start_session(self, token: Token, project: str) -> _Session:
        assert self._tasks is not None
        caller = await anyio.to_thread.run_sync(self._make_session, token, project)
        # It reads the settings files.
        server = await anyio.to_thread.run_sync(self._make_server, caller)
        manager = StreamableHTTPSessionManager(
            server, session_idle_timeout=None, max_request_body_size=self._settings.max_body_bytes, max_sessions=1
        )
        session = _Session(token, project, caller, manager)
        await self._tasks.start(self._host_session, session)
        return session

    async def _host_session(self, session: _Session, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        try:
            async with session.manager.run():
                task_status.started()
                await session.ended.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(session.caller.close)

    async def _serve_session(self, session: _Session, scope: Scope, receive: Receive, send: Send) -> None:
        def note_start(status: int, session_id: str) -> None:
            # Noted when the answer starts, because the client may use the session before the answer ends.
            if session_id and status < 400 and not session.id:
                session.id = session_id
                self._sessions[session_id] = session

        watch = _Watch(send, note_start)
        session.requests += 1
        try:
            await session.manager.handle_request(scope, receive, watch.send)
        finally:
            session.requests -= 1
            session.used_at = time.monotonic()
            is_stateless = session in self._stateless.values()
            is_deleted = scope["method"] == "DELETE" and watch.status == 200
            if not is_stateless and (is_deleted or not session.id):
                self._end_session(session)

    def _end_session(self, session: _Session) -> None:
        self._sessions.pop(session.id, None)
        self._stateless = {key: other for key, other in self._stateless.items() if other is not session}
        session.ended.set()

    def _sweep_idle(self) -> None:
        """End the sessions that were not used for long, and those whose token counts no longer."""
        idle_s, now = self._settings.session_idle_minutes * 60, time.monotonic()
        for session in [*self._sessions.values(), *self._stateless.values()]:
            is_idle = not session.requests and now - session.used_at > idle_s
            if is_idle or not self._is_in_force(session.token):
                self._end_session(session)

    def _is_in_force(self, token: Token) -> bool:
        try:
            return self._tokens.is_in_force(token)
        except RagLsError as error:
            _log.error("%s", error)
            return False


def _find_fault(body: bytes) -> dict[str, Any] | None:
    """The answer to a body that is no message of JSON-RPC 2.0, in our words; None for one that may be."""
    message = parsed(body)
    if message is None:
        return refuse_unreadable(body)
    is_message = isinstance(message.get("method"), str) or "result" in message or "error" in message
    if message.get("jsonrpc") == "2.0" and is_message:
        return None
    error = {"code": INVALID_REQUEST, "message": 'no message of JSON-RPC: it needs "jsonrpc": "2.0" and a "method"'}
    return {"jsonrpc": "2.0", "id": None, "error": error}


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """As `receive`, with a body that was read already."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return left.pop() if left else await receive()

    return receive_again


class _Watch:
    """Passes an answer on, and tells its status and the id of its session before it starts."""

    def __init__(self, send: Send, on_start: Callable[[int, str], None]) -> None:
        self._send = send
        self._on_start = on_start
        self.status = 0

    async def send(self, message: Message) -> None:
        """As ASGI's `send`."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self._on_start(self.status, Headers(raw=message["headers"]).get(_SESSION_HEADER, ""))
        await self._send(message)
