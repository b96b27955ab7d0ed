"""Runs operations for a client: parses the request, prepares it, answers in the engine's threads, tells the event."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial

from rag_ls.engine.client import Client
from rag_ls.engine.events import MemoryChanged
from rag_ls.engine.workers import run_mending
from rag_ls.operations.fields import Json, make_json
from rag_ls.operations.operation import Caller, Changed, MustWait, Operation, Report, ignore_progress
from rag_ls.operations.parsing import parse_request
from rag_ls.operations.projects.naming import Projects
from rag_ls.operations.rules.projects import RuleProjects
from rag_ls.operations.table import OPERATIONS, OperationTable

_log = logging.getLogger(__name__)

_MAX_WAIT_IN_THREAD_S = 1.0

Guard = Callable[[Operation, object], None]
"""Called with an operation and its parsed request; raises if the client may not have that done."""
Render = Callable[[object], Json]
"""Makes JSON of an answer, as a surface shows it."""


def allow_all(operation: Operation, request: object) -> None:
    """Refuse nothing."""


class Operations:
    """The operations on a client's open projects. Errors are `RagLsError`s, written for the caller."""

    def __init__(
        self,
        client: Client,
        *,
        wait_for_model_s: float = 0.0,
        budget_tokens: int = 0,
        table: Iterable[Operation] = OPERATIONS,
        keeps_place: bool = True,
        guard: Guard = allow_all,
    ) -> None:
        """`wait_for_model_s` is how long a question waits for a model that is still loading.

        In an engine thread, which other clients need too, it waits a second at most. `budget_tokens` is the default
        token budget of an answer, where neither the caller nor the settings set one; 0 for no limit. A client that
        `keeps_place` means the project that it named last. `guard` looks at each request before it is run.
        """
        self._guard = guard
        self._submit = partial(client.engine.workers.submit, client)
        self._tell = client.engine.events.tell
        self._find: Callable[[str], Operation] = (
            table.find if isinstance(table, OperationTable) else {each.name: each for each in table}.__getitem__
        )
        projects = Projects(client)
        self._caller = Caller(
            client,
            projects=projects,
            memory_projects=Projects(client, or_none=True),
            rule_projects=RuleProjects(client, projects, keeps_place=keeps_place),
            wait_s=min(wait_for_model_s, _MAX_WAIT_IN_THREAD_S),
            patience_s=wait_for_model_s,
            can_wait=False,
            budget_tokens=budget_tokens,
        )

    def submit(
        self, name: str, arguments: object, render: Render = make_json, *, can_wait: bool = False
    ) -> Future[Json]:
        """Run an operation in the engine's threads; its answer as JSON.

        For a caller that `can_wait`, the future raises `MustWait` if the answer needs long preparation.
        """
        operation = self._find(name)

        def answer_now() -> Json:
            request = self._read_request(operation, arguments)
            try:
                return self._answer(operation, request, render, can_wait)
            except MustWait as unready:
                later = partial(self._answer, operation, request, render, False)
                unready.finish = partial(self._finish_later, name, unready.wait, later)
                raise

        return self._submit(name, answer_now)

    def run(
        self, name: str, arguments: object = None, report: Report = ignore_progress, render: Render = make_json
    ) -> Json:
        """Run an operation and wait for it; `report` gets the progress of its preparation."""
        try:
            return self.submit(name, arguments, render, can_wait=True).result()
        except MustWait as unready:
            return unready.finish(report)

    def _finish_later(
        self, name: str, wait: Callable[[Report], None], answer: Callable[[], Json], report: Report
    ) -> Json:
        """Prepare in the calling thread, because the engine's threads are for questions; then answer.

        The handler finds its projects again: a look at them mends what was lost or damaged meanwhile.
        """
        run_mending(partial(wait, report))
        return self._submit(name, answer).result()

    def _answer(self, operation: Operation, request: object, render: Render, can_wait: bool) -> Json:
        if can_wait and operation.prepare is not None:
            raise MustWait(partial(operation.prepare, self._caller, request))
        started = time.perf_counter()
        answer = operation.run(replace(self._caller, can_wait=can_wait), request)
        took_ms = 1000 * (time.perf_counter() - started)
        _log.debug("%s for %r took %.0f ms", operation.name, str(self._caller.client.about), took_ms)
        if operation.changes is None:
            return render(answer)
        assert isinstance(answer, Changed)
        memory_id = getattr(answer.answer, "id", "")
        for root in answer.roots:
            self._tell(MemoryChanged(operation.changes, str(self._caller.client.about), root, memory_id))
        return render(answer.answer)

    def _read_request(self, operation: Operation, arguments: object) -> object:
        request: object = parse_request(operation.name, operation.request, arguments)
        self._guard(operation, request)
        return request
