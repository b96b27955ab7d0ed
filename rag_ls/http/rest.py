"""Operations as JSON over HTTP; long ones stream their progress as server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from typing import NoReturn
from urllib.parse import unquote

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from rag_ls.errors import InvalidRequest, RagLsError
from rag_ls.http.exchange import Json, error_body, exchange_of, json_response
from rag_ls.http.sessions import OperationRoute, Roots, SessionPool, check_access, roots_called
from rag_ls.http.tokens import Token
from rag_ls.indexing import Progress
from rag_ls.operations import MustWait, Operation, accepted_arguments, argument_named, make_progress

Report = Callable[[str, Progress], None]
"""Called in another thread with a project's name and its progress."""


class Work:
    """Runs one operation. It releases session and slot when the operation has ended, not when its client leaves."""

    def __init__(
        self,
        sessions: SessionPool,
        threads: anyio.CapacityLimiter,
        caller: tuple[Token, Roots],
        name: str,
        arguments: Json,
    ) -> None:
        """`caller` is a token and the projects that are meant, none for all; `name` that of the operation."""
        self._sessions = sessions
        self._threads = threads
        self._caller = caller
        self._name = name
        self._arguments = arguments
        self._left = threading.Event()
        self._question: Future[Json] | None = None

    def start(self, report: Report) -> asyncio.Task[Json]:
        """Start; the task gives the answer, or raises the operation's error. Do not cancel it: call `leave`."""
        task = asyncio.create_task(self._await_result(report))
        # Nobody may be waiting for the result, and so for its error.
        task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return task

    def leave(self) -> None:
        """The client waits no longer: end at the next step."""
        self._left.set()
        if self._question is not None:
            self._question.cancel()

    async def _await_result(self, report: Report) -> Json:
        with contextlib.ExitStack() as used:
            session = await anyio.to_thread.run_sync(used.enter_context, self._sessions.used(*self._caller))
            async with session.slot():
                self._check_there()
                self._question = session.session.operations.submit(self._name, self._arguments, can_wait=True)
                try:
                    return await asyncio.wrap_future(self._question)
                except MustWait as unready:
                    finish = functools.partial(unready.finish, self._report_while_there(report))
                return await anyio.to_thread.run_sync(finish, limiter=self._threads)

    def _report_while_there(self, report: Report) -> Report:
        def report_if_there(project: str, progress: Progress) -> None:
            self._check_there()
            report(project, progress)

        return report_if_there

    def _check_there(self) -> None:
        if self._left.is_set():
            raise InvalidRequest("the client left")


_log = logging.getLogger(__name__)

PROJECT_HEADER = "x-rag-project"
EVENT_STREAM = "text/event-stream"
CLIENT_LEFT_STATUS = 499
"""For logs and metrics: nobody is there to read it."""
_ALIVE_S = 10.0
_MAX_THREADS = 64
_MAX_DEPTH_MESSAGE = "the body is nested too deeply"


class Rest:
    """Answers the addresses of operations."""

    def __init__(self, sessions: SessionPool) -> None:
        self._sessions = sessions
        # Each question that waits for an index holds a thread; other threads must stay free.
        self._threads = anyio.CapacityLimiter(_MAX_THREADS)

    async def answer(self, route: OperationRoute, request: Request) -> Response:
        """Answer one address."""
        token = exchange_of(request.scope).caller
        # Checked before the body is read.
        check_access(token.access, route.operation)
        arguments = await _read_arguments(route, request)
        project = _take_project(route, request, arguments)
        roots: Roots = ()
        if project:
            roots = await anyio.to_thread.run_sync(roots_called, self._sessions.engine, token, project)
        work = Work(self._sessions, self._threads, (token, roots), route.operation.name, arguments)
        if EVENT_STREAM in request.headers.get("accept", ""):
            events = _stream_events(work, functools.partial(error_body, exchange_of(request.scope)))
            return StreamingResponse(events, media_type=EVENT_STREAM)
        return await _while_there(request, work)


def _take_project(route: OperationRoute, request: Request, arguments: Json) -> str:
    """The project that is meant, by the header, or by the query or the body where the operation has no such argument."""
    named, known = "", accepted_arguments(route.operation.request)
    if "project" not in known:
        named = request.query_params.get("project", "")
        if argument_named("project", known) not in known and isinstance(arguments.get("project"), str):
            named = arguments.pop("project")
    # A header can hold only Latin-1, so a root with other characters comes percent-encoded.
    return (unquote(request.headers.get(PROJECT_HEADER, "")) or named).strip()


async def _while_there(request: Request, work: Work) -> Response:
    """The answer as JSON. The work ends at its next step if the client leaves."""
    working = work.start(lambda *_: None)
    leaving = asyncio.ensure_future(_until_left(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return json_response(working.result())
        exchange_of(request.scope).error = "ClientLeft"
        return Response(status_code=CLIENT_LEFT_STATUS)
    finally:
        work.leave()
        leaving.cancel()


async def _until_left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _stream_events(work: Work, error_json: Callable[[str, str], Json]) -> AsyncIterator[bytes]:
    """Progress as it comes, then the result or the error. A client that leaves ends the work at its next step."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[str, Json]] = asyncio.Queue()

    def report(project: str, progress: Progress) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, ("progress", make_progress(project, progress)))

    def finish(done: asyncio.Task[Json]) -> None:
        if done.cancelled():
            return
        error = done.exception()
        if error is None:
            queue.put_nowait(("result", done.result()))
        elif isinstance(error, RagLsError):
            queue.put_nowait(("error", error_json(type(error).__name__, str(error))))
        else:
            _log.error("a streamed operation failed", exc_info=error)
            queue.put_nowait(("error", error_json("Failed", type(error).__name__)))

    try:
        work.start(report).add_done_callback(finish)
        while True:
            try:
                kind, data = await asyncio.wait_for(queue.get(), _ALIVE_S)
            except TimeoutError:
                yield b": alive\n\n"
                continue
            yield event_text(kind, data)
            if kind != "progress":
                return
    finally:
        work.leave()


def event_text(kind: str, data: Json) -> bytes:
    """One server-sent event."""
    return f"event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


async def _read_arguments(route: OperationRoute, request: Request) -> Json:
    if request.method in ("GET", "DELETE"):
        arguments = _from_query(route.operation, request)
    else:
        arguments = await json_body(request)
    if route.path_argument:
        arguments = {**arguments, route.path_argument: request.path_params[route.path_argument]}
    return arguments


async def json_body(request: Request) -> Json:
    """The JSON object of a request's body; an empty one where there is none. Raises `InvalidRequest`."""
    body = await request.body()
    if not body.strip():
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise InvalidRequest(f"the body must be application/json, not {kind or 'unnamed'}")
    try:
        found = json.loads(body, parse_constant=_no_constant)
    except RecursionError as error:
        raise InvalidRequest(_MAX_DEPTH_MESSAGE) from error
    except ValueError as error:
        raise InvalidRequest(f"the body is no JSON in UTF-8: {error}") from error
    if not isinstance(found, dict | None):
        raise InvalidRequest("the body must be one JSON object of arguments")
    return found or {}


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _from_query(operation: Operation, request: Request) -> Json:
    """The arguments in the query of an address, as texts: the operation reads numbers and the like from them."""
    known = accepted_arguments(operation.request)
    given = {key: request.query_params.getlist(key) for key in request.query_params}
    return {
        key: values if len(values) > 1 else values[0]
        for key, values in given.items()
        if key != "project" or argument_named(key, known) in known
    }
