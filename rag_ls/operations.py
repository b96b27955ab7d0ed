"""What every surface offers, under one name and with one shape: a JSON object in, a JSON object out.

The MCP tools, the `ragLs.*` commands of LSP and the command line all end here.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rag_ls import __version__
from rag_ls.arguments import Arguments
from rag_ls.engine import Engine, merged
from rag_ls.errors import InvalidRequest, NotFound, ProjectUnavailable
from rag_ls.memory import SCOPES, MemoryFilters, NewMemory
from rag_ls.model import Memory, MemoryMetadata, MemoryType, Scope, SearchAnswer
from rag_ls.requests import SearchRequest
from rag_ls.search import Filters
from rag_ls.wire import Json, answer_json, hit_json, memory_json, status_json, stored_json
from rag_ls.workspace import OpenProject

_SCOPE_NAMES = tuple(scope.value for scope in SCOPES)
_TYPE_NAMES = tuple(kind.value for kind in MemoryType)
_METADATA_KEYS = (
    "tags", "source_file", "language", "chunk_index", "parent_id", "ast_node_type", "importance_score", "custom", "line",
    "symbol", "memory_type",
)  # fmt: skip
_FILTER_KEYS = ("tags", "memory_type", "language")
_LISTED = 50


class Operations:
    """The operations on an engine's open projects. Errors are `RagLsError`s, written for the caller."""

    def __init__(self, engine: Engine, *, wait_for_model_s: float = 0.0) -> None:
        """`wait_for_model_s` is how long a question waits for a model that is still loading."""
        self._engine = engine
        self._wait_s = wait_for_model_s

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
        k = request.k or self._engine.load_settings().settings.search.k
        return answer_json(_one(request.query, answers, k))

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
        """How each open project stands."""
        args = Arguments("index_status", arguments, ("project",))
        statuses = [status_json(opened.status()) for opened in self._projects(args.text("project"))]
        return {
            "version": __version__,
            "complete": all(status["complete"] for status in statuses),
            "projects": statuses,
        }

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
        answers = [
            opened.recall(query, filters, k=k, min_similarity=minimum, wait_for_model_s=self._wait_s)
            for opened in self._projects("")
        ]
        return answer_json(_one(query, answers, k or self._engine.load_settings().settings.memory.k))

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
        projects = self._engine.projects()
        if not projects:
            raise ProjectUnavailable("no project is open; open a folder, or give --project")
        if not wanted.strip():
            return projects
        chosen = [opened for opened in projects if wanted.strip() in (opened.project.name, str(opened.project.root))]
        if not chosen:
            names = ", ".join(str(opened.project.root) for opened in projects)
            raise NotFound(f"no open project is called {wanted!r}; open are {names}")
        return chosen

    def _project_for(self, path: str, wanted: str) -> OpenProject:
        """The project that a path lies in; the first one for a path that does not say."""
        if path and Path(path).is_absolute() and (holder := self._engine.project_of(path)):
            return holder
        projects = self._projects(wanted)
        for opened in projects:
            if path and opened.store.document(path) is not None:
                return opened
        return projects[0]


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
