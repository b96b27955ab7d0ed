"""Runs operations for a client: parses the request, prepares it, answers in the engine's threads, tells the event."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import replace

from rag_ls.engine.client import Client
from rag_ls.engine.events import MemoryChanged
from rag_ls.errors import InvalidRequest, NotFound, RagLsError
from rag_ls.indexing import Progress
from rag_ls.memory import utc_now
from rag_ls.operations.batches import BatchOperations
from rag_ls.operations.changes import Changed
from rag_ls.operations.code_lookup import LookupOperations
from rag_ls.operations.collections import CollectionOperations
from rag_ls.operations.indexing import IndexOperations, Report
from rag_ls.operations.json_of import Json, json_of
from rag_ls.operations.maintenance import MaintenanceOperations
from rag_ls.operations.memories import MemoryOperations
from rag_ls.operations.parsing import parsed
from rag_ls.operations.preparation import Preparation
from rag_ls.operations.project_registry import ProjectOperations
from rag_ls.operations.projects import Projects
from rag_ls.operations.records import CodeRecord, MemoryRecord, SearchAnswer, Stats
from rag_ls.operations.records_of import with_note
from rag_ls.operations.requests import GetChunk, GetMemory, Search, SearchCode, SearchMemory, Show
from rag_ls.operations.rule_projects import RuleProjects
from rag_ls.operations.rule_setup import RuleSetup
from rag_ls.operations.rules import RuleQuestions
from rag_ls.operations.search import SearchOperations
from rag_ls.operations.spec import Operation
from rag_ls.operations.table import OPERATIONS

_MAX_WAIT_IN_THREAD_S = 1.0
_SHORTEST_ID = 4
_KINDS = ("code", "memory", "rules")
_USUAL_KINDS = ("code", "memory")


Guard = Callable[[Operation, object], None]
"""Called with an operation and its parsed request; raises if the client may not have that done."""


def _unheard(project: str, progress: Progress) -> None:
    """Ignore progress."""


def allow_all(operation: Operation, request: object) -> None:
    """Refuse nothing."""


def operation_named(name: str) -> Operation:
    """The operation with a name. Raises `InvalidRequest`."""
    found = next((operation for operation in OPERATIONS if operation.name == name), None)
    if found is None:
        raise InvalidRequest(f"there is no operation {name!r}")
    return found


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
        self._client = client
        self._guard = guard
        self._tell = client.engine.events.tell
        self._table = {operation.name: operation for operation in table}
        wait_s = min(wait_for_model_s, _MAX_WAIT_IN_THREAD_S)
        projects, or_none = Projects(client), Projects(client, or_none=True)
        self._projects = projects
        self.preparation = Preparation(client, projects, patience_s=wait_for_model_s)
        self.indexes = IndexOperations(client, projects)
        self.finding = SearchOperations(projects, wait_s=wait_s, budget_tokens=budget_tokens)
        self.lookup = LookupOperations(projects)
        self.memories = MemoryOperations(or_none, wait_s=wait_s)
        self.maintenance = MaintenanceOperations(or_none)
        self.batches = BatchOperations(or_none)
        self.projects = ProjectOperations(client, projects)
        rule_projects = RuleProjects(client, projects, keeps_place=keeps_place)
        self.rule_setup = RuleSetup(rule_projects, now=utc_now)
        self.collections = CollectionOperations(
            client.engine, lambda: client.project_ids, lambda: client.load_settings().settings
        )
        self.rules = RuleQuestions(rule_projects, wait_s=wait_s, now=utc_now)

    def submit(self, name: str, arguments: object) -> Future[Json]:
        """Run an operation in the engine's threads; its answer as JSON."""
        return self._client.submit(name, functools.partial(self._answered, self._table[name], arguments))

    def run(self, name: str, arguments: object = None, report: Report = _unheard) -> Json:
        """Run an operation and wait for it; `report` is told of the progress of its preparation.

        The preparation runs in the calling thread, because the engine's threads are for questions.
        """
        self.prepare(name, arguments, report)
        return self.submit(name, arguments).result()

    def prepare(self, name: str, arguments: object = None, report: Report = _unheard) -> None:
        """The preparation that `run` does, for a caller that then calls `submit`."""
        operation = self._table[name]
        if (prepare := operation.prepare) is not None:
            request = self._request(operation, arguments)
            self._client.mended(lambda: prepare(self, request, report))

    def _answered(self, operation: Operation, arguments: object) -> Json:
        answer = operation.run(self, self._request(operation, arguments))
        if operation.changes is None:
            return json_of(answer)
        assert isinstance(answer, Changed)
        memory_id = getattr(answer.answer, "id", "")
        for root in answer.roots:
            self._tell(MemoryChanged(operation.changes, str(self._client.about), root, memory_id))
        return json_of(answer.answer)

    def _request(self, operation: Operation, arguments: object) -> object:
        request: object = parsed(operation.name, operation.request, arguments)
        self._guard(operation, request)
        return request

    # --- the shell's operations on both code and memories

    def search(self, asked: Search) -> SearchAnswer:
        """Chunks, memories and rules that answer a question."""
        kinds = self._kinds(asked)
        results: list[CodeRecord | MemoryRecord] = []
        stats: Stats | None = None
        if "code" in kinds:
            question = SearchCode(asked.query, asked.k, language=asked.language, path_glob=asked.path_glob)
            found = self.finding.search_code(question)
            results += found.results
            stats = found.stats
        if "memory" in kinds:
            recalled = self.memories.search_memory(
                SearchMemory(asked.query, asked.k, scope=asked.scope, min_similarity=asked.min_similarity)
            )
            results += recalled.results
            stats = stats or recalled.stats
        if "rules" in kinds:
            of_rules = self.rules.search(asked.query, asked.k)
            results += of_rules.results
            stats = stats or of_rules.stats
        assert stats is not None
        if asked.kinds or "code" in kinds:
            return SearchAnswer(asked.query, tuple(results), stats)
        return SearchAnswer(asked.query, tuple(results), with_note(stats, f"memories alone: {self._client.why_none}"))

    def prepare_search(self, asked: Search, report: Report) -> None:
        """See `Preparation.search`."""
        if "code" in self._kinds(asked) or self._client.projects():
            self.preparation.search(asked, report)

    def _kinds(self, asked: Search) -> tuple[str, ...]:
        """The kinds to search: those asked for, else memories, and code if there is a project."""
        if not set(asked.kinds) <= set(_KINDS):
            raise InvalidRequest(f"{', '.join(asked.kinds)}: give code, memory, rules or several, with a comma between")
        return asked.kinds or (
            _USUAL_KINDS if self._client.projects() or self._client.why_none is None else ("memory",)
        )

    def show(self, asked: Show) -> MemoryRecord | CodeRecord:
        """The memory with an id, else the chunk."""
        try:
            found = self.memories.get_memory(GetMemory(asked.id, history=asked.history))
            return replace(found, kind="memory")
        except NotFound:
            try:
                return self.lookup.get_chunk(GetChunk(asked.id))
            except RagLsError:
                short = (
                    f"give at least its first {_SHORTEST_ID} characters; "
                    if len(asked.id.strip()) < _SHORTEST_ID
                    else ""
                )
                raise NotFound(
                    f"no memory and no chunk has the id {asked.id!r}; {short}`rag-ls list` and `rag-ls search` show ids"
                ) from None
