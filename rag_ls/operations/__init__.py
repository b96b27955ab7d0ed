"""What every surface offers, under one name and with one shape: a JSON object in, a JSON object out.

The MCP tools, the `ragLs.*` commands of LSP and the command line all end here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import Future

from rag_ls.engine.client import Client
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.indexing import Progress
from rag_ls.operations.answers import Json
from rag_ls.operations.arguments import Arguments
from rag_ls.operations.code_lookup import LookupOperations
from rag_ls.operations.indexing import IndexOperations, Report
from rag_ls.operations.maintenance import MaintenanceOperations
from rag_ls.operations.memories import MemoryOperations
from rag_ls.operations.preparation import BeforeQuestion
from rag_ls.operations.project_registry import ProjectOperations
from rag_ls.operations.projects import Projects
from rag_ls.operations.search import SearchOperations

__all__ = ["OPERATIONS", "SHELL_WAITS_FOR_MODEL_S", "Operations", "Report"]

SHELL_WAITS_FOR_MODEL_S = 20.0
_SHORT_WAIT_S = 1.0
_KINDS = ("code", "memory")


def _unheard(project: str, progress: Progress) -> None:
    """Nobody wants to hear of progress."""


class Operations:
    """The operations on a client's open projects. Errors are `RagLsError`s, written for the caller."""

    def __init__(self, client: Client, *, wait_for_model_s: float = 0.0, budget_tokens: int = 0) -> None:
        """`wait_for_model_s` is how long a question waits for a model that is still loading.

        In one of the engine's threads, which others need too, it waits a second at most. `budget_tokens` is how much
        code an answer holds where neither the caller nor the settings say; 0 for no limit.
        """
        self._client = client
        wait_s = min(wait_for_model_s, _SHORT_WAIT_S)
        projects = Projects(client)
        self.before = BeforeQuestion(client, projects, patience_s=wait_for_model_s)
        self.code = IndexOperations(client, projects)
        self.finding = SearchOperations(projects, wait_s=wait_s, budget_tokens=budget_tokens)
        self.look = LookupOperations(projects)
        self.memories = MemoryOperations(projects, wait_s=wait_s)
        self.care = MaintenanceOperations(projects)
        self.registry = ProjectOperations(client, projects)

    def submit(self, name: str, arguments: object) -> Future[Json]:
        """Run an operation in the engine's threads."""
        return self._client.submit(name, functools.partial(OPERATIONS[name], self, arguments))

    def run(self, name: str, arguments: object = None, report: Report = _unheard) -> Json:
        """Run an operation and wait for it. What takes long before the question can be asked is reported.

        That part runs in the calling thread: the engine's threads are for questions.
        """
        self.prepare(name, arguments, report)
        return self.submit(name, arguments).result()

    def prepare(self, name: str, arguments: object = None, report: Report = _unheard) -> None:
        """What `run` does before it asks the question, for who asks it in another way."""
        if prepare := _PREPARATIONS.get(name):
            self._client.mended(functools.partial(prepare, self, arguments, report))

    def search(self, arguments: object) -> Json:
        """Chunks and memories that answer a question."""
        args = Arguments(
            "search", arguments, ("query", "k", "language", "path_glob", "scope", "kinds", "min_similarity")
        )
        kinds = args.strings("kinds") or _KINDS
        if not set(kinds) <= set(_KINDS):
            raise InvalidRequest(f"{', '.join(kinds)}: give code, memory or both, with a comma between")
        results: list[Json] = []
        stats: Json = {}
        query, k = args.text("query", required=True), args.integer("k")
        if "code" in kinds:
            filters = {"language": args.text("language"), "path_glob": args.text("path_glob")}
            answer = self.finding.search_code({"query": query, "k": k, **filters})
            results, stats = answer["results"], answer["stats"]
        if "memory" in kinds:
            asked = {"query": query, "k": k, "scope": args.raw("scope"), "min_similarity": args.raw("min_similarity")}
            remembered = self.memories.search_memory(asked)
            results, stats = [*results, *remembered["results"]], stats or remembered["stats"]
        return {"query": query, "results": results, "stats": stats}

    def show(self, arguments: object) -> Json:
        """A memory, else a chunk."""
        args = Arguments("show", arguments, ("id", "history"))
        wanted = args.text("id", required=True)
        try:
            return {"kind": "memory", **self.memories.get_memory({"id": wanted, "history": args.raw("history")})}
        except NotFound:
            try:
                return self.look.get_chunk({"id": wanted})
            except NotFound:
                raise NotFound(
                    f"no memory and no chunk has the id {wanted!r}; `rag-ls list` and `rag-ls search` show ids"
                ) from None


OPERATIONS: dict[str, Callable[[Operations, object], Json]] = {
    "search": Operations.search,
    "show": Operations.show,
    "search_code": lambda at, arguments: at.finding.search_code(arguments),
    "find_related": lambda at, arguments: at.finding.find_related(arguments),
    "get_chunk": lambda at, arguments: at.look.get_chunk(arguments),
    "list_symbols": lambda at, arguments: at.look.list_symbols(arguments),
    "related_tests": lambda at, arguments: at.look.related_tests(arguments),
    "index_status": lambda at, arguments: at.code.index_status(arguments),
    "engine_status": lambda at, arguments: at.code.engine_status(arguments),
    "status": lambda at, arguments: at.code.status(arguments),
    "index": lambda at, arguments: at.code.index(arguments),
    "reindex": lambda at, arguments: at.code.reindex(arguments),
    "list_repos": lambda at, arguments: at.registry.list_repos(arguments),
    "scan": lambda at, arguments: at.registry.scan(arguments),
    "add_project": lambda at, arguments: at.registry.add_project(arguments),
    "plan_removal": lambda at, arguments: at.registry.plan_removal(arguments),
    "plan_pruning": lambda at, arguments: at.registry.plan_pruning(arguments),
    "remove_projects": lambda at, arguments: at.registry.remove_projects(arguments),
    "store_memory": lambda at, arguments: at.memories.store_memory(arguments),
    "search_memory": lambda at, arguments: at.memories.search_memory(arguments),
    "get_memory": lambda at, arguments: at.memories.get_memory(arguments),
    "update_memory": lambda at, arguments: at.memories.update_memory(arguments),
    "delete_memory": lambda at, arguments: at.memories.delete_memory(arguments),
    "restore_memory": lambda at, arguments: at.memories.restore_memory(arguments),
    "list_memories": lambda at, arguments: at.memories.list_memories(arguments),
    "consolidate_memories": lambda at, arguments: at.memories.consolidate_memories(arguments),
    "clear_session": lambda at, arguments: at.memories.clear_session(arguments),
    "summarize_memories": lambda at, arguments: at.memories.summarize_memories(arguments),
    "memories_about": lambda at, arguments: at.memories.memories_about(arguments),
    "stats": lambda at, arguments: at.care.stats(arguments),
    "optimize": lambda at, arguments: at.care.optimize(arguments),
    "vacuum": lambda at, arguments: at.care.vacuum(arguments),
    "export_memories": lambda at, arguments: at.care.export_memories(arguments),
    "import_memories": lambda at, arguments: at.care.import_memories(arguments),
    "restore_backup": lambda at, arguments: at.care.restore_backup(arguments),
}
_PREPARATIONS: dict[str, Callable[[Operations, object, Report], None]] = {
    "index": lambda at, arguments, report: at.code.before_index(arguments, report),
    "scan": lambda at, arguments, report: at.registry.before_scan(arguments, report),
    "search": lambda at, arguments, report: at.before.search(arguments, report),
    "search_code": lambda at, arguments, report: at.before.ask("search_code", arguments, report),
    "find_related": lambda at, arguments, report: at.before.ask("find_related", arguments, report),
    "list_symbols": lambda at, arguments, report: at.before.ask("list_symbols", arguments, report),
    "related_tests": lambda at, arguments, report: at.before.ask("related_tests", arguments, report),
    "status": lambda at, arguments, report: at.code.before_compare(arguments, report),
    "index_status": lambda at, arguments, report: at.code.before_wait(arguments, report),
}
