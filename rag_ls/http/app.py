"""The application: all addresses, behind the gate."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from enum import Enum
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route, Router
from starlette.types import ASGIApp

from rag_ls import __version__
from rag_ls.config import HttpSettings
from rag_ls.engine import About, Client, Engine, Event
from rag_ls.errors import AccessRefused, NotFound, RagLsError
from rag_ls.http.exchange import Address, exchange_of, json_response
from rag_ls.http.gate import CONTENT_SECURITY_POLICY, PAGE_PATH, SIGN_IN_PATH, Gate, sign_in
from rag_ls.http.mcp_sessions import McpSessions
from rag_ls.http.metrics import CONTENT_TYPE, HttpMetrics
from rag_ls.http.rest import EVENT_STREAM, Rest, event_text
from rag_ls.http.sessions import CallerSession, SessionPool, Slots, operation_routes, roots_called
from rag_ls.http.tokens import Token, TokenFile

_ALIVE_S = 10.0
# A listener that does not read loses events rather than memory.
_MAX_WAITING = 1000


async def event_stream(engine: Engine, token: Token, is_in_force: Callable[[], bool]) -> AsyncIterator[bytes]:
    """The events of the projects that the token sees, until the client leaves or the token counts no longer."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Event] = asyncio.Queue(_MAX_WAITING)
    roots = await anyio.to_thread.run_sync(_find_visible_roots, engine, token)

    def put_event(event: Event) -> None:
        with contextlib.suppress(asyncio.QueueFull):
            queue.put_nowait(event)

    def tell_event(event: Event) -> None:
        # The loop may have ended meanwhile.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(put_event, event)

    stop = engine.events.listen(tell_event)
    try:
        yield b": listening\n\n"
        while is_in_force():
            try:
                event = await asyncio.wait_for(queue.get(), _ALIVE_S)
            except TimeoutError:
                yield b": alive\n\n"
                continue
            root = getattr(event, "root", None)
            if roots is None or (root is not None and root in roots):
                # `document_indexed` for `DocumentIndexed`.
                name = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", type(event).__name__).lower()
                yield event_text(name, _plain_values(event))
    finally:
        stop()


def _find_visible_roots(engine: Engine, token: Token) -> frozenset[Path] | None:
    if not token.projects:
        return None
    client = Client(engine, about=About("http"), only=token.projects)
    try:
        return frozenset(item.root for item in client.known_projects())
    finally:
        client.close()


def _plain_values(event: Event) -> dict[str, Any]:
    found = {item.name: getattr(event, item.name) for item in dataclasses.fields(event)}
    return {
        name: str(value) if isinstance(value, Path) else value.value if isinstance(value, Enum) else value
        for name, value in found.items()
    }


_log = logging.getLogger(__name__)

PAGE = Path(__file__).with_name("page")
_SWEEP_S = 5.0
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
_CORS_METHODS = ("GET", "POST", "PATCH", "DELETE")
_CORS_HEADERS = (
    "Authorization", "X-RAG-Token", "X-RAG-Project", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name",
)  # fmt: skip
_CORS_EXPOSED = ("Mcp-Session-Id", "Retry-After", "X-Request-ID")
_PROMETHEUS = ("text/plain", "application/openmetrics-text")

MakeServer = Callable[[CallerSession], Server[Any]]
_Answer = Callable[[Request], Awaitable[Response]]


def make_application(
    engine: Engine,
    tokens: TokenFile,
    address: Address,
    settings: HttpSettings,
    make_server: MakeServer,
    *,
    is_secure: bool = False,
) -> ASGIApp:
    """Put the application together. `make_server` makes the MCP server of a session."""
    metrics = HttpMetrics(engine)
    slots = Slots(settings.max_searches)
    pool = SessionPool(engine, slots, settings.session_idle_minutes * 60)
    mcp = McpSessions(functools.partial(_open_session, engine, slots), make_server, tokens, settings)
    operations = operation_routes()
    rest = Rest(pool)
    # Generated from the table of operations by scripts/dev.py docs.
    described = json.loads(Path(__file__).with_name("description.json").read_text("utf-8"))
    url = address.url(is_secure=is_secure).rstrip("/")
    openapi = {**described["openapi"], "info": {"title": "rag-ls", "version": __version__}, "servers": [{"url": url}]}
    plain = _PlainAnswers(engine, tokens, metrics)
    routes: list[BaseRoute] = [
        Route("/health", plain.health),
        Route("/ready", plain.ready),
        Route("/metrics", plain.metrics),
        Route("/commands", _answer_constant({"version": __version__, "commands": described["commands"]})),
        Route("/openapi.json", _answer_constant(openapi)),
        Route("/events", plain.events),
        Route(SIGN_IN_PATH, functools.partial(sign_in, tokens=tokens), methods=["POST"]),
        Route(f"{SIGN_IN_PATH}/{{code}}", functools.partial(sign_in, tokens=tokens)),
        Route("/", _page_file),
        Route(f"{PAGE_PATH}{{name}}", _page_file),
        Route("/mcp", mcp),
        Route("/rag-mcp/{project:path}", mcp),
        *(Route(each.path, functools.partial(rest.answer, each), methods=[each.method]) for each in operations),
    ]

    @contextlib.asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            await tasks.start(mcp.run)
            tasks.start_soon(_sweep_sessions, pool, tokens)
            yield
            tasks.cancel_scope.cancel()
        pool.close()

    # Not `Starlette`: it would answer errors itself, before the gate can.
    gate = Gate(Router(routes, lifespan=lifespan, redirect_slashes=False), tokens, address, settings, metrics)
    origins = [origin.rstrip("/").lower() for origin in settings.origins]
    return CORSMiddleware(gate, origins, _CORS_METHODS, _CORS_HEADERS, expose_headers=_CORS_EXPOSED)


class _PlainAnswers:
    """Answers what no operation does."""

    def __init__(self, engine: Engine, tokens: TokenFile, metrics: HttpMetrics) -> None:
        self._engine = engine
        self._tokens = tokens
        self._metrics = metrics

    async def health(self, request: Request) -> Response:
        """Whether the server lives."""
        return json_response({"status": "live"})

    async def ready(self, request: Request) -> Response:
        """Whether the model, if the user wants one, and the user's memories can answer."""
        model, store = await anyio.to_thread.run_sync(self._find_readiness)
        is_ready = store and (model or self._engine.models.is_off)
        return json_response({"ready": is_ready, "model": model, "store": store}, 200 if is_ready else 503)

    def _find_readiness(self) -> tuple[bool, bool]:
        models = self._engine.models
        try:
            model = models.get(models.configured().id) is not None
        except RagLsError:
            model = False
        try:
            self._engine.global_memories().count()
            store = True
        except RagLsError:
            store = False
        return model, store

    async def metrics(self, request: Request) -> Response:
        """All counters: as JSON, or as Prometheus' text where that is accepted."""
        token = exchange_of(request.scope).caller
        if token.projects:
            raise AccessRefused("metrics count all projects, and this token sees some: make one without `--project`")
        if any(kind in request.headers.get("accept", "") for kind in _PROMETHEUS):
            text = await anyio.to_thread.run_sync(self._metrics.as_text)
            return Response(text, media_type=CONTENT_TYPE)
        return json_response(await anyio.to_thread.run_sync(self._metrics.as_json))

    async def events(self, request: Request) -> Response:
        """The events of the engine, as they happen."""
        token = exchange_of(request.scope).caller
        is_in_force = functools.partial(self._tokens.is_in_force, token)
        return StreamingResponse(event_stream(self._engine, token, is_in_force), media_type=EVENT_STREAM)


def _answer_constant(body: object) -> _Answer:
    async def answer(_: Request) -> Response:
        return json_response(body)

    return answer


def _open_session(engine: Engine, slots: Slots, token: Token, project: str) -> CallerSession:
    roots = roots_called(engine, token, project) if project else ()
    session = CallerSession(engine, token, slots, roots, surface="mcp", isolated=bool(project))
    try:
        session.open()
    except BaseException:
        session.close()
        raise
    return session


async def _sweep_sessions(pool: SessionPool, tokens: TokenFile) -> None:
    while True:
        await anyio.sleep(_SWEEP_S)
        try:
            await anyio.to_thread.run_sync(pool.close_unused, tokens.is_in_force)
        except Exception:
            # One session that does not close must not end the server.
            _log.exception("a session could not be closed")


async def _page_file(request: Request) -> Response:
    file = PAGE / str(request.path_params.get("name", "index.html"))
    if file.parent != PAGE or file.suffix not in _TYPES or not file.is_file():
        raise NotFound("there is no such page")
    headers = {"content-security-policy": CONTENT_SECURITY_POLICY, "cache-control": "no-cache"}
    return FileResponse(file, media_type=_TYPES[file.suffix], headers=headers)
