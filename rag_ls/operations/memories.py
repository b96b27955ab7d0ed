"""Operations on memories."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from rag_ls.engine.project_view import ProjectView
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.memory import NewMemory, sorted_memories
from rag_ls.memory.context import DEFAULT_TOKENS, context_text
from rag_ls.memory.recall import memory_of
from rag_ls.memory.summarise import SummaryRequest
from rag_ls.memory.summary import MAX_WORDS
from rag_ls.model import Anchor, Memory, MemoryFilters, MemoryOrder, MemoryType, Scope
from rag_ls.operations.answers import (
    Json,
    answer_json,
    consolidation_json,
    contained,
    memory_json,
    metadata_json,
    stored_json,
    version_json,
)
from rag_ls.operations.arguments import Arguments
from rag_ls.operations.indexing import one
from rag_ls.operations.memory_arguments import (
    ANCHOR_STATES,
    FILTER_KEYS,
    METADATA_KEYS,
    PLACE_KEYS,
    SCOPE_NAMES,
    TYPE_NAMES,
    branch_of,
    filters_of,
    metadata_of,
    on_branch,
    patched,
    scopes_of,
    time_range,
)
from rag_ls.operations.projects import Projects

_LISTED = 50
_MOST_LISTED = 1000
_MOST_WORDS = 2000
_MOST_TOKENS = 20_000
_MOST_ASKED = 100
_PLACE = ("source_file", *PLACE_KEYS)


class MemoryOperations:
    """Operations on the memories that a client sees through its projects."""

    def __init__(self, projects: Projects, *, wait_s: float) -> None:
        """A question waits `wait_s` for a model that is still loading."""
        self._projects = projects
        self._wait_s = wait_s

    def store_memory(self, arguments: object) -> Json:
        """Keep a memory."""
        args = Arguments(
            "store_memory", arguments, ("content", "scope", "metadata", "project", "force", *METADATA_KEYS)
        )
        scope = args.choice("scope", SCOPE_NAMES)
        if scope is None:
            raise InvalidRequest(f"store_memory needs 'scope', one of {', '.join(SCOPE_NAMES)}")
        given = {key: value for key in METADATA_KEYS if (value := args.raw(key)) is not None}
        meta = Arguments("store_memory metadata", {**given, **args.mapping("metadata")}, METADATA_KEYS)
        view = self._projects.holding(meta.text("source_file").strip(), args.text("project"))
        new = NewMemory(
            content=args.text("content", required=True),
            scope=Scope(scope),
            metadata=metadata_of(meta, view),
            memory_type=MemoryType(meta.choice("memory_type", TYPE_NAMES) or MemoryType.SEMANTIC),
            source_uri=meta.text("source_uri").strip() or None,
            branch=branch_of(meta, view, Scope(scope)),
            force=args.flag("force"),
        )
        stored = view.code_memories.remember(
            new, line=meta.integer("line", least=1) or 0, symbol=meta.text("symbol").strip()
        )
        return stored_json(stored)

    def search_memory(self, arguments: object) -> Json:
        """Memories that fit a query, and a text of them for a prompt."""
        known = ("query", "k", "scope", "filters", "min_similarity", "project", "budget_tokens", *FILTER_KEYS)
        args = Arguments("search_memory", arguments, known)
        query, filters = args.text("query", required=True), filters_of(args)
        k, minimum = args.integer("k"), args.fraction("min_similarity")
        budget = min(args.integer("budget_tokens", least=1) or DEFAULT_TOKENS, _MOST_TOKENS)
        projects = self._projects.named(args.text("project"))
        state, path = _anchor_filter(args)
        is_about_code = bool(state or path)
        answers = [
            view.code_memories.recall(
                query,
                replace(on_branch(filters, view), anchored=is_about_code),
                # What became of the code is known of a memory that was found, and of no other.
                k=_MOST_ASKED if is_about_code else k,
                min_similarity=minimum,
                wait_for_model_s=self._wait_s,
            )
            for view in projects
        ]
        count = k or projects[0].settings.search.default_k
        answer = one(query, answers, _MOST_ASKED if is_about_code else count)
        if is_about_code:
            wanted = projects[0].relative(path) if path else ""
            hits = [hit for hit in answer.hits if _has_anchor(memory_of(hit), state, wanted)]
            answer = replace(answer, hits=tuple(hits[:count]))
        return {**answer_json(answer), "context": context_text(answer.hits, budget)}

    def get_memory(self, arguments: object) -> Json:
        """One memory by its id, with all that its record holds."""
        args = Arguments("get_memory", arguments, ("id", "embedding", "history"))
        view, memory = self._held(args.text("id", required=True))
        record = memory_json(view.code_memories.with_anchor_state(memory), full=True)
        if args.flag("embedding"):
            record["embedding"] = view.code_memories.embedding_of(memory)
        if args.flag("history"):
            record["history"] = [version_json(item) for item in view.memories.history(memory.id)]
        return record

    def update_memory(self, arguments: object) -> Json:
        """Change a memory's content or metadata; with neither, confirm that it still holds for the code it is about."""
        args = Arguments("update_memory", arguments, ("id", "content", "metadata", "expected_version", "force"))
        view, memory = self._held(args.text("id", required=True))
        content = args.text("content") if args.raw("content") is not None else None
        if content is None and args.raw("metadata") is None and memory.anchor is None:
            raise InvalidRequest(
                "update_memory needs content or metadata; only a memory about code can be confirmed as it is"
            )
        change = functools.partial(_changed, view=view, content=content, metadata=args.mapping("metadata"))
        stored = view.memories.update(
            memory.id,
            change,
            view.shared.model(0.0),
            expected=args.integer("expected_version", least=1),
            force=args.flag("force"),
        )
        return stored_json(replace(stored, memory=view.code_memories.with_anchor_state(stored.memory)))

    def delete_memory(self, arguments: object) -> Json:
        """Delete one memory by its id."""
        args = Arguments("delete_memory", arguments, ("id",))
        view, found = self._held(args.text("id", required=True))
        view.memories.delete(found.id)
        return {"id": found.id, "deleted": True, "scope": found.scope.value}

    def restore_memory(self, arguments: object) -> Json:
        """Bring a former version of a memory back, or one that was deleted."""
        args = Arguments("restore_memory", arguments, ("id", "version"))
        memory_id, version = args.text("id", required=True), args.integer("version", least=1)
        view = self._first_with(lambda project: project.memories.history(memory_id))[0]
        return stored_json(view.memories.restore(memory_id, version, view.shared.model(0.0)))

    def list_memories(self, arguments: object = None) -> Json:
        """A page of the memories that pass the filters."""
        # `limit` is an alias of `k` (see arguments.py).
        known = ("scope", "filters", "k", "offset", "order", "project", *FILTER_KEYS)
        args = Arguments("list_memories", arguments, known)
        limit = min(args.integer("k", least=1) or _LISTED, _MOST_LISTED)
        offset = args.integer("offset", least=0) or 0
        order = MemoryOrder(args.choice("order", tuple(item.value for item in MemoryOrder)) or MemoryOrder.UPDATED)
        projects = self._projects.named(args.text("project"))
        found, total = _listed(projects, filters_of(args), _anchor_filter(args), order, limit, offset)
        page = contained([memory_json(item) for item in found])
        listed: Json = {"memories": page, "total": total, "limit": limit, "offset": offset}
        if offset + len(page) < total:
            listed["next_offset"] = offset + len(page)
        damage = next((note for view in projects if (note := view.memories.damage())), "")
        return {**listed, "note": damage} if damage else listed

    def consolidate_memories(self, arguments: object = None) -> Json:
        """Merge memories that say the same, or show what would be merged, or undo it."""
        args = Arguments("consolidate_memories", arguments, ("scope", "threshold", "dry_run", "undo", "project"))
        view = self._projects.named(args.text("project"))[0]
        scopes = scopes_of(args)
        if args.raw("undo"):
            number = "" if args.raw("undo") is True else args.text("undo").strip()
            back = view.code_memories.undo_consolidation(scopes, number)
            return {"restored": [memory_json(item) for item in back]}
        threshold = args.fraction("threshold")
        if threshold is None:
            threshold = view.settings.consolidation.similarity_threshold
        dry_run = args.flag("dry_run")
        done = view.code_memories.consolidate(scopes, threshold, dry_run=dry_run)
        return {"dry_run": dry_run, "threshold": threshold, **consolidation_json(done)}

    def clear_session(self, arguments: object = None) -> Json:
        """Forget the session's memories."""
        Arguments("clear_session", arguments, ())
        return {"cleared": self._projects.first().memories.clear_session()}

    def summarize_memories(self, arguments: object) -> Json:
        """Summarise what was remembered in a time, and keep the summary."""
        known = (
            "time_range",
            "scope",
            "filters",
            "max_words",
            "summary_key",
            "project",
            "tags",
            "language",
            "memory_type",
        )
        args = Arguments("summarize_memories", arguments, known)
        if not args.mapping("time_range"):
            raise InvalidRequest(
                'summarize_memories needs \'time_range\': {"start": "2026-01-01", "end": "2026-01-31"}'
            )
        time_range(Arguments("time_range", args.mapping("time_range"), ("start", "end")))
        view = self._projects.named(args.text("project"))[0]
        words = min(args.integer("max_words", least=5) or MAX_WORDS, _MOST_WORDS)
        request = SummaryRequest(on_branch(filters_of(args), view), words, args.text("summary_key").strip())
        summary = view.code_memories.summarise(request)
        memory = summary.stored.memory
        result: Json = {
            **stored_json(summary.stored),
            "summary": memory.content,
            "summary_key": memory.summary_key,
            "source_memory_ids": list(memory.source_memory_ids),
            "count": summary.count,
        }
        return {**result, "note": summary.note} if summary.note else result

    def memories_about(self, arguments: object) -> Json:
        """What is known about a place in the code: memories about it, then those that fit what stands there."""
        args = Arguments("memories_about", arguments, ("path", "line", "text", "k", "budget_tokens"))
        path = args.text("path", required=True)
        budget = args.integer("budget_tokens", least=1) or DEFAULT_TOKENS
        view = self._projects.holding(path)
        answer = view.code_memories.about(
            path, args.integer("line", least=1) or 1, args.text("text"), args.integer("k")
        )
        return {**answer_json(answer), "context": context_text(answer.hits, budget)}

    def _held(self, memory_id: str) -> tuple[ProjectView, Memory]:
        return self._first_with(lambda view: view.memories.get(memory_id))

    def _first_with(self, look: Callable[[ProjectView], Any]) -> tuple[ProjectView, Any]:
        """The first project in which something is found, with it. Raises the last one's `NotFound`."""
        error: NotFound | None = None
        for view in self._projects.all():
            try:
                return view, look(view)
            except NotFound as not_here:
                error = not_here
        assert error is not None
        raise error


def _changed(memory: Memory, *, view: ProjectView, content: str | None, metadata: Any) -> Memory:
    """A memory with a caller's changes; whoever edits or confirms it says that it holds for the code as it is now."""
    present = {**metadata_json(memory.metadata), "memory_type": memory.memory_type.value}
    present |= {key: value for key, value in (("source_uri", memory.source_uri), ("branch", memory.branch)) if value}
    wanted = patched(present, metadata)
    if "source_file" not in metadata:
        # It may be of another project, or was imported: only what is given is looked at.
        wanted.pop("source_file", None)
    meta = Arguments("update_memory metadata", wanted, METADATA_KEYS)
    changed = metadata_of(meta, view)
    if "source_file" not in metadata:
        changed = replace(changed, source_file=memory.metadata.source_file)
    return replace(
        memory,
        content=memory.content if content is None else content,
        metadata=changed,
        memory_type=MemoryType(meta.choice("memory_type", TYPE_NAMES) or memory.memory_type),
        source_uri=meta.text("source_uri").strip() or None,
        branch=branch_of(meta, view, memory.scope) if "branch" in metadata else memory.branch,
        anchor=_anchor(memory, meta, metadata, view),
    )


def _anchor(memory: Memory, meta: Arguments, changes: Mapping[str, Any], view: ProjectView) -> Anchor | None:
    if any(key in changes for key in _PLACE):
        line, symbol = meta.integer("line", least=1) or 0, meta.text("symbol").strip()
        source_file = meta.text("source_file").strip() or (
            memory.metadata.source_file if "source_file" not in changes else ""
        )
        return view.code_memories.anchor(source_file or None, line, symbol)
    return view.code_memories.confirmed_anchor(memory)


def _anchor_filter(args: Arguments) -> tuple[str, str]:
    nested = Arguments("filters", args.mapping("filters"), FILTER_KEYS)
    state = nested.choice("anchor", ANCHOR_STATES) or args.choice("anchor", ANCHOR_STATES) or ""
    return state, (nested.text("path") or args.text("path")).strip()


def _listed(
    projects: Iterable[ProjectView],
    filters: MemoryFilters,
    anchor: tuple[str, str],
    order: MemoryOrder,
    limit: int,
    offset: int,
) -> tuple[list[Memory], int]:
    """A page over several projects, whose session and global memories are the same ones; and how many there are."""
    projects = list(projects)
    state, path = anchor
    if len(projects) == 1 and not (state or path):
        view = projects[0]
        found, total = view.memories.listed(on_branch(filters, view), order, limit, offset)
        return [view.code_memories.with_anchor_state(item) for item in found], total
    known: dict[str, Memory] = {}
    for view in projects:
        wanted = replace(on_branch(filters, view), anchored=bool(state or path))
        for item in map(view.code_memories.with_anchor_state, view.memories.listed(wanted, order)[0]):
            if _has_anchor(item, state, view.relative(path) if path else ""):
                known.setdefault(item.id, item)
    found = sorted_memories(known.values(), order)
    return found[offset : offset + limit], len(found)


def _has_anchor(memory: Memory, state: str, path: str) -> bool:
    if not (state or path):
        return True
    anchor = memory.anchor
    return anchor is not None and state in ("", "any", anchor.state.value) and path in ("", anchor.path)
