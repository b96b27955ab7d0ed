"""Operations on memories."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rag_ls import model
from rag_ls.engine.client import merged
from rag_ls.engine.project_view import ProjectView
from rag_ls.errors import InvalidRequest
from rag_ls.memory import NewMemory, sorted_memories
from rag_ls.memory.batches import CONSOLIDATED
from rag_ls.memory.context import DEFAULT_TOKENS, context_text
from rag_ls.memory.recall import memory_of
from rag_ls.memory.summarise import Summary, SummaryRequest
from rag_ls.memory.summary import MAX_WORDS
from rag_ls.model import Anchor, Memory, MemoryFilters, MemoryOrder, MemoryType, MemoryVersion, Scope
from rag_ls.operations.changes import Changed, changed
from rag_ls.operations.json_of import json_of
from rag_ls.operations.memory_arguments import (
    PLACE_KEYS,
    all_filters,
    branch_of,
    filters_of,
    metadata_of,
    on_branch,
    patched,
    scopes_of,
    times_of,
)
from rag_ls.operations.parsing import parsed
from rag_ls.operations.projects import Projects
from rag_ls.operations.records import (
    ClearedAnswer,
    ConsolidationAnswer,
    DeletedAnswer,
    EmbeddingRecord,
    MemoryAnswer,
    MemoryPage,
    MemoryRecord,
    SummaryAnswer,
)
from rag_ls.operations.records_of import (
    brief,
    consolidation_answer,
    memory_hit,
    memory_record,
    metadata_record,
    stats_of,
    stored_answer,
    version_record,
    whole_memory_record,
)
from rag_ls.operations.requests import (
    SCOPE_NAMES,
    ConsolidateMemories,
    GetMemory,
    ListMemories,
    MemoriesAbout,
    MemoryId,
    Metadata,
    NoArguments,
    RestoreMemory,
    SearchMemory,
    StoreMemory,
    SummarizeMemories,
    UpdateMemory,
)
from rag_ls.util.nearest import nearest, nearest_text

_DEFAULT_LISTED = 50
_MAX_LISTED = 1000
_MAX_SUMMARY_WORDS = 2000
_MAX_CONTEXT_TOKENS = 20_000
_MAX_ASKED = 100
_MAX_TAGS_NAMED = 8
# The most characters of memories in one answer of a list.
_MAX_LISTED_CHARACTERS = 400_000
_PLACE = ("source_file", *PLACE_KEYS)


class MemoryOperations:
    """Operations on the memories that a client sees through its projects."""

    def __init__(self, projects: Projects, *, wait_s: float) -> None:
        """A question waits `wait_s` for a model that is still loading."""
        self._projects = projects
        self._wait_s = wait_s

    def store_memory(self, asked: StoreMemory) -> Changed:
        """Keep a memory."""
        if not asked.scope:
            raise InvalidRequest(f"store_memory needs 'scope', one of {', '.join(SCOPE_NAMES)}")
        beside = {key: value for key in Metadata.__dataclass_fields__ if (value := getattr(asked, key)) is not None}
        meta = parsed("store_memory metadata", Metadata, {**beside, **asked.metadata})
        scope, path = Scope(asked.scope), meta.source_file.strip()
        is_of_project = bool(path) or scope is Scope.PROJECT
        view = self._projects.holding(path, asked.project) if is_of_project else self._projects.named(asked.project)[0]
        new = NewMemory(
            content=asked.content,
            scope=scope,
            metadata=metadata_of(meta, view),
            memory_type=MemoryType(meta.memory_type or MemoryType.SEMANTIC),
            source_uri=meta.source_uri.strip() or None,
            branch=branch_of(meta, "store_memory metadata", view, scope),
            force=asked.force,
        )
        stored = view.code_memories.remember(new, line=meta.line or 0, symbol=meta.symbol.strip())
        return changed(stored_answer(stored), view, scope)

    def search_memory(self, asked: SearchMemory) -> MemoryAnswer:
        """Memories that fit a query, and a text of them for a prompt."""
        wanted = all_filters(asked)
        filters, views = filters_of(asked.scope, wanted), self._projects.named(asked.project)
        path = wanted.path.strip()
        is_about_code = bool(wanted.anchor or path)
        answers = [
            view.code_memories.recall(
                asked.query,
                replace(on_branch(filters, view), anchored=is_about_code),
                # Anchors are resolved only after the search, so fetch many and filter by anchor below.
                k=_MAX_ASKED if is_about_code else asked.k,
                min_similarity=asked.min_similarity,
                wait_for_model_s=self._wait_s,
                is_unsaved=asked.is_unsaved,
            )
            for view in views
        ]
        if not any(answer.hits for answer in answers) and (hint := _unknown_tags(wanted.tags, views)):
            answers = [replace(answers[0], stats=replace(answers[0].stats, note=hint))]
        count = asked.k or views[0].settings.search.default_k
        if len(views) > 1:
            answers = [_located_answer(answer, view) for answer, view in zip(answers, views, strict=True)]
        answer = _one(asked.query, answers, _MAX_ASKED if is_about_code else count)
        if is_about_code:
            place = views[0].relative(path) if path else ""
            hits = [hit for hit in answer.hits if _has_anchor(memory_of(hit), wanted.anchor, place)]
            answer = replace(answer, hits=tuple(hits[:count]))
        return _recalled(answer, min(asked.budget_tokens or DEFAULT_TOKENS, _MAX_CONTEXT_TOKENS))

    def get_memory(self, asked: GetMemory) -> MemoryRecord:
        """One memory by its id, complete."""
        view, memory = self._held(asked.id)
        found_in = view if len(self._projects.all()) > 1 else None
        record = whole_memory_record(_located(view.code_memories.with_anchor_state(memory), found_in))
        if asked.embedding and (found := view.code_memories.embedding_of(memory)):
            record = replace(record, embedding=EmbeddingRecord(*found))
        if asked.history:
            record = replace(record, history=tuple(map(version_record, view.memories.history(memory.id))))
        return record

    def update_memory(self, asked: UpdateMemory) -> Changed:
        """Change a memory's content or metadata; with neither, confirm that it still holds for the code it is about."""
        view, memory = self._held(asked.id)
        if asked.content is None and asked.metadata is None and memory.anchor is None:
            raise InvalidRequest(
                "update_memory needs content or metadata; only a memory about code can be confirmed as it is"
            )
        change = functools.partial(_changed, view=view, content=asked.content, metadata=asked.metadata or {})
        stored = view.memories.update(
            memory.id, change, view.model(), expected=asked.expected_version, force=asked.force
        )
        answer = stored_answer(replace(stored, memory=view.code_memories.with_anchor_state(stored.memory)))
        return changed(answer, view, memory.scope)

    def delete_memory(self, asked: MemoryId) -> Changed:
        """Delete one memory by its id."""
        view, found = self._held(asked.id)
        view.memories.delete(found.id)
        return changed(DeletedAnswer(found.id, True, found.scope.value), view, found.scope)

    def restore_memory(self, asked: RestoreMemory) -> Changed:
        """Restore a former version of a memory, or a deleted memory."""
        view = self._projects.first_with(lambda project: project.memories.history(asked.id))[0]
        stored = view.memories.restore(asked.id, asked.version, view.model())
        return changed(stored_answer(stored), view, stored.memory.scope)

    def list_memories(self, asked: ListMemories) -> MemoryPage:
        """A page of the memories that pass the filters."""
        wanted = all_filters(asked)
        limit, offset = min(asked.k or _DEFAULT_LISTED, _MAX_LISTED), asked.offset or 0
        if asked.deleted:
            return self._deleted(asked, limit, offset)
        order = MemoryOrder(asked.order or MemoryOrder.UPDATED)
        views = self._projects.named(asked.project)
        anchor = (wanted.anchor, wanted.path.strip())
        found, total = _listed(views, filters_of(asked.scope, wanted), anchor, order, limit, offset)
        page = _contained([memory_record(item) for item in found])
        following = offset + len(page)
        damage = next((note for view in views if (note := view.memories.damage())), "")
        hint = "" if total else _unknown_tags(wanted.tags, views)
        happened = "; ".join(filter(None, (view.memories.take_note() for view in views)))
        return MemoryPage(
            tuple(page), total, limit, offset, following if following < total else None, damage, hint, happened
        )

    def consolidate_memories(self, asked: ConsolidateMemories) -> Changed:
        """Merge memories that say the same, or show what would be merged, or undo it."""
        scopes = scopes_of(asked.scope)
        is_of_project = Scope.PROJECT in scopes
        view = self._projects.one(asked.project) if is_of_project else self._projects.named(asked.project)[0]
        if asked.undo:
            if asked.undo is not True and not isinstance(asked.undo, str):
                raise InvalidRequest("consolidate_memories: undo must be true, or the id of a consolidation")
            number = "" if asked.undo is True else asked.undo.strip()
            undone = view.code_memories.undo(scopes, number, kind=CONSOLIDATED, dry_run=asked.dry_run)
            back = [memory for item in undone for memory in item.result.inserted]
            answer = ConsolidationAnswer(restored=tuple(memory_record(item) for item in back))
            return changed(answer, view, *(scope for item in undone for scope in item.result.changed_scopes))
        threshold = asked.threshold
        if threshold is None:
            threshold = view.settings.consolidation.similarity_threshold
        done = view.code_memories.consolidate(scopes, threshold, dry_run=asked.dry_run)
        answer = consolidation_answer(done, dry_run=asked.dry_run, threshold=threshold)
        return changed(answer, view, *(scope for scope, batch_id in done.ids.items() if batch_id))

    def clear_session(self, asked: NoArguments) -> Changed:
        """Forget the session's memories."""
        view = self._projects.all()[0]
        return changed(ClearedAnswer(view.memories.clear_session()), view, Scope.SESSION)

    def summarize_memories(self, asked: SummarizeMemories) -> Changed:
        """Summarise the memories of a period, and keep the summary."""
        if not asked.time_range:
            raise InvalidRequest(
                'summarize_memories needs \'time_range\': {"start": "2026-01-01", "end": "2026-01-31"}'
            )
        times_of(asked.time_range)
        view = self._projects.one(asked.project)
        filters = on_branch(filters_of(asked.scope, all_filters(asked)), view)
        words = min(asked.max_words or MAX_WORDS, _MAX_SUMMARY_WORDS)
        request = SummaryRequest(filters, words, asked.summary_key.strip())
        done = view.code_memories.summarise(request, dry_run=asked.dry_run)
        return changed(_summary_answer(done), view, *(() if asked.dry_run else (done.new.scope,)))

    def memories_about(self, asked: MemoriesAbout) -> MemoryAnswer:
        """The memories about a place in the code, then those that fit the code there."""
        view = self._projects.holding(asked.path)
        answer = view.code_memories.about(asked.path, asked.line or 1, asked.text, asked.k)
        return _recalled(answer, asked.budget_tokens or DEFAULT_TOKENS)

    def _deleted(self, asked: ListMemories, limit: int, offset: int) -> MemoryPage:
        """A page of deleted memories; of the filters, only the scope counts."""
        found: dict[str, MemoryVersion] = {}
        total = 0
        for view in self._projects.named(asked.project):
            for store in view.memories.usable(scopes_of(asked.scope)):
                page, count = store.deleted(offset + limit)
                total += count
                found |= {item.memory.id: item for item in page}
        ordered = sorted(found.values(), key=lambda item: item.replaced_at, reverse=True)[offset : offset + limit]
        records = [
            replace(memory_record(item.memory), deleted_at=item.replaced_at, reason=item.reason) for item in ordered
        ]
        page_ = _contained(records)
        following = offset + len(page_)
        return MemoryPage(tuple(page_), total, limit, offset, following if following < total else None)

    def _held(self, memory_id: str) -> tuple[ProjectView, Memory]:
        return self._projects.first_with(lambda view: view.memories.get(memory_id))


def _unknown_tags(wanted: Sequence[str], views: Sequence[ProjectView]) -> str:
    """A hint that names the tags that may be meant by those that no memory has; empty if all are known."""
    stores = [store for view in views for store in view.memories.usable(tuple(Scope))]
    known = list(dict.fromkeys(tag for store in stores for tag in store.tag_counts()))
    names = {tag.lower() for tag in known}
    unknown = [tag for tag in wanted if tag.lower() not in names]
    if not unknown:
        return ""
    near = nearest_text(alike for tag in unknown for alike in nearest(tag, known))
    return f"no memory has the tag {', '.join(map(repr, unknown))}; {near}in use are {', '.join(known[:_MAX_TAGS_NAMED]) or 'none'}"


def _summary_answer(summary: Summary) -> SummaryAnswer:
    new, replaces = summary.new, brief(summary.replaces) if summary.replaces else None
    if summary.stored is None:
        return SummaryAnswer(
            "", "preview", 0, new.scope.value, None, new.content, new.summary_key, new.source_memory_ids, summary.count,
            note=summary.note, replaces=replaces,
        )  # fmt: skip
    stored, memory = stored_answer(summary.stored), summary.stored.memory
    return SummaryAnswer(
        stored.id, stored.status, stored.version, stored.scope, stored.anchor, memory.content, memory.summary_key,
        memory.source_memory_ids, summary.count, stored.duplicate_of, stored.known, stored.evicted,
        summary.note or stored.note, replaces, summary.batch_id,
    )  # fmt: skip


def _one(query: str, answers: list[model.SearchAnswer], k: int) -> model.SearchAnswer:
    """The answers of several projects as one."""
    return answers[0] if len(answers) == 1 else merged(query, answers, k)


def _located_answer(answer: model.SearchAnswer, view: ProjectView) -> model.SearchAnswer:
    return replace(answer, hits=tuple(replace(hit, item=_located(memory_of(hit), view)) for hit in answer.hits))


def _recalled(answer: model.SearchAnswer, budget_tokens: int) -> MemoryAnswer:
    return MemoryAnswer(
        answer.query,
        tuple(map(memory_hit, answer.hits)),
        stats_of(answer.stats),
        context_text(answer.hits, budget_tokens),
    )


def _changed(memory: Memory, *, view: ProjectView, content: str | None, metadata: Mapping[str, Any]) -> Memory:
    """A memory with a caller's changes. An update, even an empty one, confirms that it holds for the present code."""
    present = {**json_of(metadata_record(memory.metadata)), "memory_type": memory.memory_type.value}
    present |= {key: value for key, value in (("source_uri", memory.source_uri), ("branch", memory.branch)) if value}
    wanted = patched(present, metadata)
    if "source_file" not in metadata:
        # The stored one may belong to another project or an import; `metadata_of` would reject it.
        wanted.pop("source_file", None)
    meta = parsed("update_memory metadata", Metadata, wanted)
    changed = metadata_of(meta, view)
    if "source_file" not in metadata:
        changed = replace(changed, source_file=memory.metadata.source_file)
    branch = memory.branch
    if "branch" in metadata:
        branch = branch_of(meta, "update_memory metadata", view, memory.scope)
    return replace(
        memory,
        content=memory.content if content is None else content,
        metadata=changed,
        memory_type=MemoryType(meta.memory_type or memory.memory_type),
        source_uri=meta.source_uri.strip() or None,
        branch=branch,
        anchor=_anchor(memory, meta, metadata, view),
    )


def _anchor(memory: Memory, meta: Metadata, changes: Mapping[str, Any], view: ProjectView) -> Anchor | None:
    if any(key in changes for key in _PLACE):
        source_file = meta.source_file.strip() or (memory.metadata.source_file if "source_file" not in changes else "")
        return view.code_memories.anchor(source_file or None, meta.line or 0, meta.symbol.strip())
    return view.code_memories.confirmed_anchor(memory)


def _listed(
    views: Iterable[ProjectView],
    filters: MemoryFilters,
    anchor: tuple[str, str],
    order: MemoryOrder,
    limit: int,
    offset: int,
) -> tuple[list[Memory], int]:
    """A page of memories of several projects, and their total number; shared session and global memories count once."""
    views = list(views)
    state, path = anchor
    if len(views) == 1 and not (state or path):
        view = views[0]
        found, total = view.memories.listed(on_branch(filters, view), order, limit, offset)
        return [view.code_memories.with_anchor_state(item) for item in found], total
    known: dict[str, Memory] = {}
    for view in views:
        wanted = replace(on_branch(filters, view), anchored=bool(state or path))
        for item in map(view.code_memories.with_anchor_state, view.memories.listed(wanted, order)[0]):
            if _has_anchor(item, state, view.relative(path) if path else ""):
                known.setdefault(item.id, _located(item, view if len(views) > 1 else None))
    found = sorted_memories(known.values(), order)
    return found[offset : offset + limit], len(found)


def _located(memory: Memory, view: ProjectView | None) -> Memory:
    """A memory that says which project its place is in, where several may be meant."""
    if view is None or memory.anchor is None or memory.anchor.project:
        return memory
    return replace(memory, anchor=replace(memory.anchor, project=str(view.project.root)))


def _has_anchor(memory: Memory, state: str, path: str) -> bool:
    if not (state or path):
        return True
    anchor = memory.anchor
    return anchor is not None and state in ("", "any", anchor.state.value) and path in ("", anchor.path)


def _contained(records: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """The first records, as many as one answer may hold, but at least one."""
    size = 0
    shown: list[MemoryRecord] = []
    for record in records:
        size += len(record.content) + len(str(json_of(record.metadata)))
        if shown and size > _MAX_LISTED_CHARACTERS:
            break
        shown.append(record)
    return shown
