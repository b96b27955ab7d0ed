"""What every surface offers, under one name and with one shape: a JSON object in, a JSON object out.

The MCP tools, the `ragLs.*` commands of LSP and the command line all end here.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from rag_ls import __version__
from rag_ls.arguments import Arguments
from rag_ls.client import Client, merged
from rag_ls.errors import InvalidRequest, NotFound, ProjectUnavailable
from rag_ls.indexing import Depth, Phase, Progress
from rag_ls.memory import SCOPES, MemoryFilters, NewMemory
from rag_ls.model import Memory, MemoryMetadata, MemoryType, Scope, SearchAnswer
from rag_ls.requests import SearchRequest
from rag_ls.search import Filters
from rag_ls.wire import Json, answer_json, engine_json, hit_json, hosted_json, memory_json, status_json, stored_json
from rag_ls.workspace import OpenProject

_SCOPE_NAMES = tuple(scope.value for scope in SCOPES)
_TYPE_NAMES = tuple(kind.value for kind in MemoryType)
_METADATA_KEYS = (
    "tags", "source_file", "language", "chunk_index", "parent_id", "ast_node_type", "importance_score", "custom", "line",
    "symbol", "memory_type",
)  # fmt: skip
_KINDS = ("code", "memory")
# A question at the shell is worth a short wait for files that changed since the last one.
_CATCH_UP_S = 3.0
_LOOK_S = 0.25
_SHORT_WAIT_S = 1.0
SHELL_WAITS_FOR_MODEL_S = 20.0
_LONGEST_WAIT_S = 600
_FILTER_KEYS = ("tags", "memory_type", "language")
_LISTED = 50


T = TypeVar("T")
Report = Callable[[str, Progress], None]
"""Told of the progress of a project, by its name."""


def _unheard(project: str, progress: Progress) -> None:
    """Nobody wants to hear of progress."""


class Operations:
    """The operations on a client's open projects. Errors are `RagLsError`s, written for the caller."""

    def __init__(self, client: Client, *, wait_for_model_s: float = 0.0) -> None:
        """`wait_for_model_s` is how long a question waits for a model that is still loading.

        In one of the engine's threads, which others need too, it waits a second at most.
        """
        self._client = client
        self._patience_s = wait_for_model_s
        self._wait_s = min(wait_for_model_s, _SHORT_WAIT_S)

    def submit(self, name: str, arguments: object) -> Future[Json]:
        """Run an operation in the engine's threads."""
        return self._client.submit(name, functools.partial(OPERATIONS[name], self, arguments))

    def run(self, name: str, arguments: object, report: Report = _unheard) -> Json:
        """Run an operation and wait for it. What takes long before the question can be asked is reported.

        That part runs in the calling thread: the engine's threads are for questions.
        """
        if prepare := _PREPARATIONS.get(name):
            self._client.mended(functools.partial(prepare, self, arguments, report))
        return self.submit(name, arguments).result()

    def search(self, arguments: object) -> Json:
        """Chunks and memories that answer a question."""
        args = Arguments("search", arguments, ("query", "k", "language", "path_glob", "scope", "kinds"))
        kinds = args.strings("kinds") or _KINDS
        if not set(kinds) <= set(_KINDS):
            raise InvalidRequest(f"{', '.join(kinds)}: give code, memory or both, with a comma between")
        results: list[Json] = []
        stats: Json = {}
        query, k = args.text("query", required=True), args.integer("k")
        if "code" in kinds:
            filters = {"language": args.text("language"), "path_glob": args.text("path_glob")}
            answer = self.search_code({"query": query, "k": k, **filters})
            results, stats = answer["results"], answer["stats"]
        if "memory" in kinds:
            remembered = self.search_memory({"query": query, "k": k, "scope": args.raw("scope")})
            results, stats = [*results, *remembered["results"]], stats or remembered["stats"]
        return {"query": query, "results": results, "stats": stats}

    def search_code(self, arguments: object) -> Json:
        """Chunks that answer a question, over all open projects or one."""
        args = Arguments("search_code", arguments, ("query", "k", "language", "path_glob", "min_score", "project"))
        request = SearchRequest(
            query=args.text("query", required=True),
            k=args.integer("k"),
            filters=Filters(args.text("language").strip(), args.text("path_glob").strip()),
            min_score=args.fraction("min_score") or 0.0,
        )
        projects = self._projects(args.text("project"))
        answers = [opened.search(request, wait_for_model_s=self._wait_s) for opened in projects]
        return answer_json(_one(request.query, answers, request.k or projects[0].settings.search.k))

    def get_chunk(self, arguments: object) -> Json:
        """One chunk by its id."""
        args = Arguments("get_chunk", arguments, ("id",))
        chunk_id = args.text("id", required=True)
        error: NotFound | None = None
        for opened in self._projects(""):
            try:
                return hit_json(opened.get_chunk(chunk_id))
            except NotFound as not_here:
                error = not_here
        assert error is not None
        raise error

    def find_related(self, arguments: object) -> Json:
        """Code close to a place, a symbol or a snippet."""
        known = ("path", "line", "symbol", "snippet", "k", "min_score", "language", "path_glob", "project")
        args = Arguments("find_related", arguments, known)
        path = args.text("path")
        answer = self._project_for(path, args.text("project")).find_related(
            path=path,
            line=args.integer("line", least=1) or 0,
            symbol=args.text("symbol").strip(),
            snippet=args.text("snippet"),
            k=args.integer("k"),
            minimum=args.fraction("min_score") or 0.0,
            filters=Filters(args.text("language").strip(), args.text("path_glob").strip()),
        )
        return answer_json(answer)

    def index_status(self, arguments: object = None) -> Json:
        """How each open project stands, and the engine."""
        args = Arguments("index_status", arguments, ("project", "wait_s"))
        statuses = [status_json(opened.status()) for opened in self._projects(args.text("project"))]
        return {
            "version": __version__,
            "complete": all(status["complete"] for status in statuses),
            "projects": statuses,
            "engine": engine_json(self._client.engine),
        }

    def engine_status(self, arguments: object = None) -> Json:
        """How each open project stands, and the engine with its clients and latencies."""
        return {**self.index_status(arguments), "engine": engine_json(self._client.engine, full=True)}

    def status(self, arguments: object = None) -> Json:
        """How the first open project stands, and the engine with all its projects and clients."""
        opened = self._projects("")[0]
        engine = self._client.engine
        others = [hosted_json(hosted, users) for hosted, users in engine.projects()]
        return {**status_json(opened.status()), "engine": engine_json(engine, full=True), "projects": others}

    def index(self, arguments: object = None) -> Json:
        """How the first open project stands, once it was indexed (see `_index`)."""
        Arguments("index", arguments, ("words_only",))
        return status_json(self._projects("")[0].status())

    def show(self, arguments: object) -> Json:
        """A memory, else a chunk."""
        args = Arguments("show", arguments, ("id",))
        wanted = args.text("id", required=True)
        try:
            return {"kind": "memory", **self.get_memory({"id": wanted})}
        except NotFound:
            try:
                return self.get_chunk({"id": wanted})
            except NotFound:
                raise NotFound(
                    f"no memory and no chunk has the id {wanted!r}; `rag-ls list` and `rag-ls search` show ids"
                ) from None

    # --- what takes long, before the answer

    def _index(self, arguments: object, report: Report) -> None:
        args = Arguments("index", arguments, ("words_only",))
        depth = Depth.WORDS if args.raw("words_only") else Depth.EMBEDDINGS
        for opened in self._projects(""):
            opened.indexing.index_tree(depth)
            _follow(opened, report, embeddings=depth is Depth.EMBEDDINGS)

    def _look(self, question: Callable[[], T]) -> T:
        return self._client.submit("look", question).result()

    def _compare(self, arguments: object, report: Report) -> None:
        for opened in self._projects(""):
            opened.indexing.compare()
            opened.indexing.wait_for_scan(_CATCH_UP_S)

    def _catch_up(self, arguments: object, report: Report) -> None:
        """Take in what changed while nobody looked: all of a project never seen, else what a moment suffices for."""
        for opened in self._projects(""):
            indexing = opened.indexing
            # Looked up in the engine's threads: one that comes and goes with a client would need a connection of its own.
            if self._look(functools.partial(opened.hosted.model, 0.0)) is None:
                opened.hosted.model(self._patience_s)
            if indexing.scanned:
                if self._look(opened.store.has_queued):
                    # Whoever asked for these files left before they were read.
                    indexing.resume()
                    indexing.wait_until_idle(_CATCH_UP_S, embeddings=False)
                continue
            if opened.hosted.never_indexed:
                indexing.index_tree(Depth.WORDS)
                report(opened.project.name, Progress(Phase.SCANNING))
                _follow(opened, report, embeddings=False)
            else:
                indexing.index_tree()
                indexing.wait_until_idle(_CATCH_UP_S, embeddings=False)
                if indexing.progress.phase is not Phase.WAITING:
                    indexing.wait_until_idle(_CATCH_UP_S / 3)

    def _wait(self, arguments: object, report: Report) -> None:
        args = Arguments("index_status", arguments, ("project", "wait_s"))
        wait_s = args.integer("wait_s", least=0) or 0
        deadline = time.monotonic() + min(wait_s, _LONGEST_WAIT_S)
        for opened in self._projects(args.text("project")) if wait_s else ():
            _follow(opened, report, embeddings=True, deadline=deadline)

    def reindex(self, arguments: object = None) -> Json:
        """Compare the files with the index again, in the background."""
        args = Arguments("reindex", arguments, ("project",))
        projects = self._projects(args.text("project"))
        for opened in projects:
            opened.indexing.index_tree()
        return {"started": [str(opened.project.root) for opened in projects]}

    def store_memory(self, arguments: object) -> Json:
        """Keep a memory."""
        args = Arguments(
            "store_memory", arguments, ("content", "scope", "metadata", "memory_type", *_METADATA_KEYS[:-1])
        )
        scope = args.choice("scope", _SCOPE_NAMES)
        if scope is None:
            raise InvalidRequest(f"store_memory needs 'scope', one of {', '.join(_SCOPE_NAMES)}")
        top_level = {key: value for key in _METADATA_KEYS if (value := args.raw(key)) is not None}
        meta = Arguments("store_memory metadata", {**top_level, **args.mapping("metadata")}, _METADATA_KEYS)
        source_file = meta.text("source_file").strip()
        opened = self._project_for(source_file, "")
        new = NewMemory(
            content=args.text("content", required=True),
            scope=Scope(scope),
            metadata=_metadata(meta, opened, source_file),
            memory_type=MemoryType(meta.choice("memory_type", _TYPE_NAMES) or MemoryType.SEMANTIC),
        )
        stored = opened.remember(new, line=meta.integer("line", least=1) or 0, symbol=meta.text("symbol").strip())
        return stored_json(stored)

    def search_memory(self, arguments: object) -> Json:
        """Memories that fit a query."""
        args = Arguments(
            "search_memory", arguments, ("query", "k", "scope", "filters", "min_similarity", *_FILTER_KEYS)
        )
        query, filters = args.text("query", required=True), _memory_filters(args)
        k, minimum = args.integer("k"), args.fraction("min_similarity")
        projects = self._projects("")
        answers = [
            opened.recall(query, filters, k=k, min_similarity=minimum, wait_for_model_s=self._wait_s)
            for opened in projects
        ]
        return answer_json(_one(query, answers, k or projects[0].settings.memory.k))

    def get_memory(self, arguments: object) -> Json:
        """One memory by its id."""
        args = Arguments("get_memory", arguments, ("id",))
        return memory_json(self._memory(args.text("id", required=True)))

    def delete_memory(self, arguments: object) -> Json:
        """Delete one memory by its id."""
        args = Arguments("delete_memory", arguments, ("id",))
        memory_id = args.text("id", required=True)
        found = self._memory(memory_id)
        for opened in self._projects(""):
            try:
                opened.memories.delete(found.id)
                return {"id": found.id, "deleted": True, "scope": found.scope.value}
            except NotFound:
                continue
        raise NotFound(f"the memory {memory_id!r} was deleted by somebody else meanwhile")

    def list_memories(self, arguments: object = None) -> Json:
        """All memories that pass the filters, the newest change first."""
        # `limit` is an alias of `k` (see arguments.py).
        args = Arguments("list_memories", arguments, ("scope", "filters", "k", "offset", *_FILTER_KEYS))
        limit = args.integer("k", least=1) or _LISTED
        offset = args.integer("offset", least=0) or 0
        filters, projects = _memory_filters(args), self._projects("")
        # Session and global memories are the same ones in every project.
        holders = {item.id: (item, opened) for opened in projects for item in opened.memories.matching(filters)}
        found = sorted(holders.values(), key=lambda held: held[0].updated_at, reverse=True)
        page = [memory_json(opened.with_anchor_state(item)) for item, opened in found[offset : offset + limit]]
        listed: Json = {"memories": page, "total": len(found), "limit": limit, "offset": offset}
        damage = next((note for opened in projects if (note := opened.memories.damage())), "")
        return {**listed, "note": damage} if damage else listed

    def _memory(self, memory_id: str) -> Memory:
        error: NotFound | None = None
        for opened in self._projects(""):
            try:
                return opened.with_anchor_state(opened.memories.get(memory_id))
            except NotFound as not_here:
                error = not_here
        assert error is not None
        raise error

    def _projects(self, wanted: str) -> list[OpenProject]:
        """The open projects, or the one with this root or name."""
        known = self._client.projects()
        if not known:
            raise ProjectUnavailable("no project is open; open a folder, or give --project")
        projects = [opened for opened in known if not opened.hosted.is_lost]
        if not projects:
            root = known[0].project.root
            raise ProjectUnavailable(f"{root} is gone: it was deleted, moved or unmounted; open it where it is now")
        if not wanted.strip():
            return projects
        chosen = [opened for opened in projects if wanted.strip() in (opened.project.name, str(opened.project.root))]
        if not chosen:
            names = ", ".join(str(opened.project.root) for opened in projects)
            raise NotFound(f"no open project is called {wanted!r}; open are {names}")
        return chosen

    def _project_for(self, path: str, wanted: str) -> OpenProject:
        """The project that a path lies in; the first one for a path that does not say."""
        if path and Path(path).is_absolute() and (holder := self._client.project_of(path)):
            return holder
        projects = self._projects(wanted)
        for opened in projects:
            if path and opened.store.document(path) is not None:
                return opened
        return projects[0]


OPERATIONS: dict[str, Callable[[Operations, object], Json]] = {
    "search": Operations.search,
    "search_code": Operations.search_code,
    "get_chunk": Operations.get_chunk,
    "find_related": Operations.find_related,
    "index_status": Operations.index_status,
    "engine_status": Operations.engine_status,
    "status": Operations.status,
    "index": Operations.index,
    "reindex": Operations.reindex,
    "show": Operations.show,
    "store_memory": Operations.store_memory,
    "search_memory": Operations.search_memory,
    "get_memory": Operations.get_memory,
    "delete_memory": Operations.delete_memory,
    "list_memories": Operations.list_memories,
}
_PREPARATIONS: dict[str, Callable[[Operations, object, Report], None]] = {
    "index": Operations._index,
    "search": Operations._catch_up,
    "status": Operations._compare,
    "index_status": Operations._wait,
}


def _follow(opened: OpenProject, report: Report, *, embeddings: bool, deadline: float | None = None) -> None:
    """Report a project's progress until it is indexed, or indexing was cancelled."""
    indexing = opened.indexing
    while not indexing.wait_until_idle(_LOOK_S, embeddings=embeddings):
        if indexing.progress.phase is Phase.CANCELLED or (deadline is not None and time.monotonic() > deadline):
            return
        report(opened.project.name, indexing.progress)


def _one(query: str, answers: list[SearchAnswer], k: int) -> SearchAnswer:
    return answers[0] if len(answers) == 1 else merged(query, answers, k)


def _metadata(args: Arguments, opened: OpenProject, source_file: str) -> MemoryMetadata:
    importance = args.fraction("importance_score")
    return MemoryMetadata(
        tags=args.strings("tags"),
        source_file=opened.relative(source_file) if source_file else None,
        language=args.text("language").strip() or None,
        chunk_index=args.integer("chunk_index", least=0),
        parent_id=args.text("parent_id") or None,
        ast_node_type=args.text("ast_node_type") or None,
        importance_score=0.5 if importance is None else importance,
        custom=dict(args.mapping("custom")),
    )


def _memory_filters(args: Arguments) -> MemoryFilters:
    nested = Arguments("filters", args.mapping("filters"), _FILTER_KEYS)
    scope = args.choice("scope", (*_SCOPE_NAMES, "all"))
    filters = MemoryFilters(
        tags=nested.strings("tags") or args.strings("tags"),
        language=(nested.text("language") or args.text("language")).strip(),
    )
    kind = nested.choice("memory_type", _TYPE_NAMES) or args.choice("memory_type", _TYPE_NAMES)
    if kind:
        filters = replace(filters, memory_type=MemoryType(kind))
    return filters if scope in (None, "all") else replace(filters, scopes=(Scope(scope),))
