"""Runs one operation for a client over HTTP that may leave before the operation ends."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future

import anyio
import anyio.to_thread

from rag_ls.errors import InvalidRequest
from rag_ls.http.exchange import Json
from rag_ls.http.sessions import Roots, SessionPool
from rag_ls.http.tokens import Token
from rag_ls.indexing import Progress
from rag_ls.operations import Operation
from rag_ls.operations.operation import MustWait
from rag_ls.util.records import dataclass

Report = Callable[[str, Progress], None]
"""Called in another thread with a project's name and its progress."""


@dataclass(frozen=True, slots=True)
class OperationCall:
    """An operation with its arguments, for a token and the projects that are meant; none for all."""

    token: Token
    roots: Roots
    operation: Operation
    arguments: Json


class Work:
    """Runs one operation. It releases session and slot when the operation has ended, not when its client leaves."""

    def __init__(self, sessions: SessionPool, threads: anyio.CapacityLimiter, asked: OperationCall) -> None:
        self._sessions = sessions
        self._threads = threads
        self._asked = asked
        self._left = threading.Event()
        self._question: Future[Json] | None = None

    def start(self, report: Report) -> asyncio.Task[Json]:
        """Start; the task gives the answer, or raises the operation's error. Do not cancel it: call `leave`."""
        task = asyncio.create_task(self._result(report))
        # Nobody may be waiting for the result, and so for its error.
        task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return task

    def leave(self) -> None:
        """The client waits no longer: end at the next step."""
        self._left.set()
        if self._question is not None:
            self._question.cancel()

    async def _result(self, report: Report) -> Json:
        asked = self._asked
        with contextlib.ExitStack() as used:
            entering = functools.partial(used.enter_context, self._sessions.used(asked.token, asked.roots))
            is_open = self._sessions.is_open(asked.token, asked.roots)
            session = entering() if is_open else await anyio.to_thread.run_sync(entering)
            async with session.slot():
                self._check_there()
                operations, name = session.session.operations, asked.operation.name
                self._question = operations.submit(name, asked.arguments, can_wait=True)
                with contextlib.suppress(MustWait):
                    return await asyncio.wrap_future(self._question)
                run = functools.partial(operations.run, name, asked.arguments, self._reporting(report))
                return await anyio.to_thread.run_sync(run, limiter=self._threads)

    def _reporting(self, report: Report) -> Report:
        def report_if_there(project: str, progress: Progress) -> None:
            self._check_there()
            report(project, progress)

        return report_if_there

    def _check_there(self) -> None:
        if self._left.is_set():
            raise InvalidRequest("the client left")
