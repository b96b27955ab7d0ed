"""The operation that lists memories by pages, deleted ones too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rag_ls.engine.code.anchors import resolve_anchor
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import StoreUnavailable
from rag_ls.memory import sort_memories
from rag_ls.model import Memory, MemoryFilters, MemoryOrder, MemoryVersion
from rag_ls.operations.fields import argument, join_notes, optional
from rag_ls.operations.memories.arguments import (
    ALL_BRANCHES,
    SCOPES_OR_ALL,
    MemoryFilterArguments,
    make_memory_filters,
    read_scopes,
    set_branch,
)
from rag_ls.operations.memories.memory_records import (
    AGENTS_MEMORY_TOKENS,
    MemoryRecord,
    fit_list,
    has_anchor,
    locate_memory,
    make_memory_record,
)
from rag_ls.operations.memories.recalling import hint_at_tags
from rag_ls.operations.operation import Caller, Tool, Verb, operation
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import count_of

_DEFAULT_LISTED = 50
_MAX_LISTED = 1000
# The most tokens of memories in one answer of a list, for programs.
_MAX_LISTED_TOKENS = 100_000
_BEYOND = "offset is beyond the last one"
_NEXT = "more did not fit one answer: offset = {} has the next"


@dataclass(frozen=True, slots=True)
class ListMemories:
    """A page of memories. Filters may stand beside `filters`, too."""

    scope: str = argument("", "memories of this scope (default: all)", choices=SCOPES_OR_ALL, agents_type="string")
    filters: MemoryFilterArguments = argument(
        {}, "what they must be like", properties=MemoryFilterArguments, beside=True
    )
    k: int | None = argument(None, "how many at most", least=1, flag="--limit")
    offset: int | None = argument(None, "how many to pass over", least=0)
    order: str = argument("", "which come first", choices=tuple(item.value for item in MemoryOrder))
    deleted: bool = argument(False, "those that were deleted, the latest first; `restore ID` brings one back")
    project: str = argument("", "the name or root of a project, or all")


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """A page of memories."""

    memories: tuple[MemoryRecord, ...]
    total: int
    limit: int
    offset: int
    next_offset: int | None = optional()
    note: str = optional("")
    hint: str = optional("")
    """A way to go on where no memory passes."""
    happened: str = optional("")
    """The events of the memories since they were asked for last: told once."""


@operation(
    needs_code=False,
    tool=Tool(
        "memory",
        "List memories, newest change first.",
        ("scope", "tags", "path"),
        ("total",),
        nothing="no memory passes: store_memory keeps one",
    ),
    command="ragLs.listMemories",
    verb=Verb("list", "list memories", example="rag-ls list --tag money -k 10"),
)
def list_memories(caller: Caller, request: ListMemories) -> MemoryPage:
    """A page of the memories that pass the filters."""
    wanted = request.filters
    limit, offset = min(request.k or _DEFAULT_LISTED, _MAX_LISTED), request.offset or 0
    if request.deleted:
        return _list_deleted(caller, request, limit, offset)
    order = MemoryOrder(request.order or MemoryOrder.UPDATED)
    views = caller.memory_projects.find(request.project)
    anchor = (wanted.anchor, wanted.path.strip())
    filters = make_memory_filters(request.scope, wanted)
    found, total = _list_page(views, filters, anchor, order, limit, offset)
    page, left_out = fit_list([make_memory_record(item) for item in found], _budget(caller))
    following = offset + len(page)
    damage = next((note for view in views if (note := view.memories.damage(filters.scopes))), "")
    if damage and not total:
        # "No memories" would deny those that cannot be read.
        raise StoreUnavailable(damage)
    hint = "" if total else hint_at_tags(wanted.tags, views) or _hint_at_filters(views)
    happened = join_notes(*(view.memories.take_note() for view in views))
    return MemoryPage(
        memories=tuple(page),
        total=total,
        limit=limit,
        offset=offset,
        next_offset=following if following < total else None,
        note=join_notes(damage, _NEXT.format(following) if left_out else "", _BEYOND if offset >= total > 0 else ""),
        hint=hint,
        happened=happened,
    )


def _hint_at_filters(views: Sequence[ProjectSession]) -> str:
    """A hint that there are memories, none of which passes the filters; empty where there are none at all."""
    _, all_there = _list_page(views, MemoryFilters(branch=ALL_BRANCHES), ("", ""), MemoryOrder.UPDATED, 1, 0)
    return f"of {count_of(all_there, 'memory')} none passes the filters" if all_there else ""


def _list_deleted(caller: Caller, request: ListMemories, limit: int, offset: int) -> MemoryPage:
    """A page of deleted memories; of the filters, only the scope counts."""
    found: dict[str, MemoryVersion] = {}
    total = 0
    for view in caller.memory_projects.find(request.project):
        for store in view.memories.usable(read_scopes(request.scope)):
            page, count = store.deleted(offset + limit, with_erased=False)
            total += count
            found |= {item.memory.id: item for item in page}
    ordered = sorted(found.values(), key=lambda item: item.replaced_at, reverse=True)[offset : offset + limit]
    records = [
        replace(make_memory_record(item.memory), deleted_at=item.replaced_at, reason=item.reason) for item in ordered
    ]
    page_, left_out = fit_list(records, _budget(caller))
    following = offset + len(page_)
    note = _NEXT.format(following) if left_out else ""
    next_offset = following if following < total else None
    return MemoryPage(tuple(page_), total, limit=limit, offset=offset, next_offset=next_offset, note=note)


def _list_page(
    views: Iterable[ProjectSession],
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
        found, total = view.memories.list_page(set_branch(filters, view), order, limit, offset)
        return [resolve_anchor(view, item) for item in found], total
    known: dict[str, Memory] = {}
    for view in views:
        wanted = replace(set_branch(filters, view), anchored=bool(state or path))
        for item in (resolve_anchor(view, each) for each in view.memories.list_page(wanted, order)[0]):
            if has_anchor(item, state, view.relative(path) if path else ""):
                known.setdefault(item.id, locate_memory(item, view if len(views) > 1 else None))
    found = sort_memories(known.values(), order)
    return found[offset : offset + limit], len(found)


def _budget(caller: Caller) -> int:
    return AGENTS_MEMORY_TOKENS if caller.budget_tokens else _MAX_LISTED_TOKENS
