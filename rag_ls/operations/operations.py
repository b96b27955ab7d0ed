"""Runs operations for a client: parses the request, prepares it, answers in the engine's threads, tells the event."""

from __future__ import annotations

import importlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial

from rag_ls.engine import Client, MemoryChanged, run_mending
from rag_ls.errors import InvalidRequest
from rag_ls.operations.fields import Json, make_json
from rag_ls.operations.operation import (
    Caller,
    Changed,
    MustWait,
    Operation,
    Report,
    collect_operations,
    ignore_progress,
)
from rag_ls.operations.parsing import parse_request
from rag_ls.operations.projects.naming import Projects
from rag_ls.operations.rules.projects import RuleProjects

# By module, in the order in which agents, the reference and the extension have them.
_ORDER = """
code.search: search_code
code.lookup: get_chunk list_symbols
code.references: find_references
code.search: find_related
code.lookup: related_tests
code.history: explain_history
projects.listing: list_repos
projects.status: index_status
memories.storing: store_memory
memories.recalling: search_memory get_memory
memories.storing: update_memory delete_memory
memories.recalling: list_memories
memories.consolidation: consolidate_memories
memories.storing: clear_session
memories.consolidation: summarize_memories
memories.storing: restore_memory
memories.recalling: memories_about
memories.stores: stats
projects.listing: reindex
projects.status: engine_status status
everything: search show
projects.listing: index scan add_project
projects.removal: plan_removal plan_pruning remove_projects
memories.stores: optimize vacuum export_memories
memories.inbox: list_inbox keep_proposal drop_proposals propose_memories session_context
memories.batches: import_memories restore_backup delete_memories last_change undo
rules.setup: rag_setup rag_index
rules.constraints: rag_check_constraints check_file
rules.impact: rag_query_impact
rules.health: rag_health_check rag_status
collections.texts: push search_collection summarize_collection
collections.upkeep: get_collections new_collection collection_metrics collection_facts
"""


class OperationTable:
    """Operations by name; a module is imported when one of its operations is asked for."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        """`modules` gives for the name of each operation the module, below `rag_ls.operations`, that declares it."""
        self._modules = modules

    def __iter__(self) -> Iterator[Operation]:
        """Yield all operations, in their order."""
        return map(self.find, self._modules)

    def find(self, name: str) -> Operation:
        """Return the operation with a name. Raises `InvalidRequest`."""
        if name not in self._modules:
            raise InvalidRequest(f"there is no operation {name!r}")
        return collect_operations([importlib.import_module(f"rag_ls.operations.{self._modules[name]}")])[name]


def _read_order(text: str) -> dict[str, str]:
    rows = (row.split(":") for row in text.strip().splitlines())
    return {name: module for module, names in rows for name in names.split()}


OPERATIONS = OperationTable(_read_order(_ORDER))


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
