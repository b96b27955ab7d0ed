"""Operations that recall memories: by a question, by a place in the code, by id."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rag_ls import model
from rag_ls.engine import ProjectSession, code_memories, find_embedding, resolve_anchor
from rag_ls.errors import StoreUnavailable
from rag_ls.memory import DEFAULT_TOKENS, context_text, memory_of, sort_memories
from rag_ls.model import Memory, MemoryFilters, MemoryOrder, MemoryVersion, Scope
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
    EmbeddingRecord,
    MemoryRecord,
    fit_list,
    fit_memory,
    has_anchor,
    locate_memory,
    make_memory_hit,
    make_memory_record,
    make_version_record,
    make_whole_record,
)
from rag_ls.operations.operation import Caller, Tool, Verb, operation
from rag_ls.operations.stats import Stats, add_notes, make_stats, merge_answers
from rag_ls.util.paths import compose
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import count_of, nearest, nearest_text

_MAX_CONTEXT_TOKENS = 20_000
_MAX_RECALLED = 100
_MAX_TAGS_NAMED = 8
_SHOWN_FILTERS = ("tags", "time_range", "path")


@dataclass(frozen=True, slots=True)
class SearchMemory:
    """A question about what was remembered. Filters may stand beside `filters`, too."""

    query: str = argument(doc="a question, words or tags")
    k: int | None = argument(None, "memories at most", flag="-k")
    scope: str = argument("", "memories of this scope", choices=SCOPES_OR_ALL)
    filters: MemoryFilterArguments = argument(
        {}, "what they must be like", properties=MemoryFilterArguments, beside=True, shown=_SHOWN_FILTERS
    )
    min_similarity: float | None = argument(None, "how close in meaning, 0 to 1")
    project: str = argument("", "the name or root of a project, or all")
    budget_tokens: int | None = argument(None, "how long `context` may be", least=1)
    is_unsaved: bool = argument(False, "the query is unsaved text: it is not sent to another machine", flag="-")


@dataclass(frozen=True, slots=True)
class MemoryAnswer:
    """Memories, best first, and the same as a text with citations."""

    query: str
    results: tuple[MemoryRecord, ...]
    stats: Stats
    context: str


@operation(
    needs_code=False,
    tool=Tool(
        "memory",
        "What was decided or learned? Ask before you change code. anchor.state drifted: the code has changed.",
        ("query", "k", "scope", "filters"),
        ("results",),
        # `context` repeats the memories as one text, for prompts.
        omits=("query", "context"),
        nothing="no memory fits: try other words, a lower min_similarity, or list_memories",
    ),
    command="ragLs.searchMemory",
    shared_verb="search",
)
def search_memory(caller: Caller, request: SearchMemory) -> MemoryAnswer:
    """Recall memories by meaning, words and tags."""
    wanted = request.filters
    filters, views = make_memory_filters(request.scope, wanted), caller.memory_projects.find(request.project)
    path = wanted.path.strip()
    is_about_code = bool(wanted.anchor or path)

    def recall(view: ProjectSession, *, is_weak: bool = False) -> model.SearchAnswer:
        return code_memories.recall(
            view,
            request.query,
            replace(set_branch(filters, view), anchored=is_about_code),
            # Anchors are resolved only after the search, so fetch many and filter by anchor below.
            k=_MAX_RECALLED if is_about_code else request.k,
            min_similarity=request.min_similarity,
            wait_for_model_s=caller.wait_s,
            is_unsaved=request.is_unsaved,
            is_weak=is_weak,
        )

    answers = [recall(view) for view in views]
    if not any(answer.hits for answer in answers):
        if hint := hint_at_tags(wanted.tags, views):
            answers = [replace(answers[0], stats=replace(answers[0].stats, notes=(hint,)))]
        elif not is_about_code:
            answers = _keep_nearest(answers, [recall(view, is_weak=True) for view in views])
    count = request.k or views[0].settings.search.default_k
    if len(views) > 1:
        answers = [_locate_answer(answer, view) for answer, view in zip(answers, views, strict=True)]
    answer = merge_answers(request.query, answers, _MAX_RECALLED if is_about_code else count)
    if is_about_code:
        place = views[0].relative(path) if path else ""
        hits = [hit for hit in answer.hits if has_anchor(memory_of(hit), wanted.anchor, place)]
        answer = replace(answer, hits=tuple(hits[:count]))
    found = _make_memory_answer(answer, min(request.budget_tokens or DEFAULT_TOKENS, _MAX_CONTEXT_TOKENS))
    shown, left_out = fit_list(found.results, AGENTS_MEMORY_TOKENS if caller.budget_tokens else 0)
    if not left_out:
        return found
    note = f"{count_of(left_out, 'more memory')} did not fit one answer: ask for fewer (k), or more precisely"
    return replace(found, results=tuple(shown), stats=add_notes(found.stats, note))


def _keep_nearest(empty: Sequence[model.SearchAnswer], weak: Sequence[model.SearchAnswer]) -> list[model.SearchAnswer]:
    """The answers of several projects, which found nothing, with the nearest of their weak hits alone."""
    nearest_hit = max((hit for answer in weak for hit in answer.hits), key=lambda hit: hit.score, default=None)
    return [
        replace(other, stats=replace(other.stats, notes=(*answer.stats.notes, *other.stats.notes)))
        if nearest_hit in other.hits
        else answer
        for answer, other in zip(empty, weak, strict=True)
    ]


def hint_at_tags(wanted: Sequence[str], views: Sequence[ProjectSession]) -> str:
    """A hint that names the tags that may be meant by those that no memory has; empty if all are known."""
    stores = [store for view in views for store in view.memories.usable(tuple(Scope))]
    known = list(dict.fromkeys(tag for store in stores for tag in store.words.tag_counts()))
    names = {compose(tag).lower() for tag in known}
    unknown = [tag for tag in wanted if compose(tag).lower() not in names]
    if not unknown:
        return ""
    near = nearest_text(alike for tag in unknown for alike in nearest(tag, known))
    return f"no memory has the tag {', '.join(map(repr, unknown))}; {near}in use are {', '.join(known[:_MAX_TAGS_NAMED]) or 'none'}"


def _locate_answer(answer: model.SearchAnswer, view: ProjectSession) -> model.SearchAnswer:
    return replace(answer, hits=tuple(replace(hit, item=locate_memory(memory_of(hit), view)) for hit in answer.hits))


def _make_memory_answer(answer: model.SearchAnswer, budget_tokens: int) -> MemoryAnswer:
    return MemoryAnswer(
        answer.query,
        tuple(map(make_memory_hit, answer.hits)),
        make_stats(answer.stats),
        context_text(answer.hits, budget_tokens),
    )


@dataclass(frozen=True, slots=True)
class GetMemory:
    id: str = argument(doc="a memory's id, or its first 4 or more characters")
    embedding: bool = argument(False, "with its vectors")
    history: bool = argument(False, "with its former versions")
    offset: int | None = argument(None, "the character to begin with, of a long one", least=0)
    budget_tokens: int | None = argument(None, "cut it to about so many tokens; 0 for no limit", least=0)


@operation(
    needs_code=False,
    tool=Tool(
        "memory",
        "Read one memory whole, with tags and place; history: former versions.",
        ("id", "history"),
        ("content",),
    ),
    command="ragLs.getMemory",
    shared_verb="show",
)
def get_memory(caller: Caller, request: GetMemory) -> MemoryRecord:
    """One memory with its whole record."""
    view, memory = find_memory(caller, request.id)
    found_in = view if len(caller.memory_projects.all()) > 1 else None
    record = make_whole_record(locate_memory(resolve_anchor(view, memory), found_in))
    if request.embedding and (found := find_embedding(view, memory)):
        record = replace(record, embedding=EmbeddingRecord(*found))
    if request.history:
        record = replace(record, history=tuple(map(make_version_record, view.memories.history(memory.id))))
    default = AGENTS_MEMORY_TOKENS if caller.budget_tokens else 0
    return fit_memory(record, request.offset or 0, default if request.budget_tokens is None else request.budget_tokens)


@dataclass(frozen=True, slots=True)
class MemoriesAbout:
    path: str = argument(doc="a file", is_path=True)
    line: int | None = argument(None, "a line of it, from 1", least=1)
    text: str = argument("", "what the question is, where it is not what stands there")
    k: int | None = argument(None, "memories at most")
    budget_tokens: int | None = argument(None, "how long `context` may be", least=1)


@operation()
def memories_about(caller: Caller, request: MemoriesAbout) -> MemoryAnswer:
    """The memories about a place in the code."""
    view = caller.memory_projects.find_holding(request.path)
    answer = code_memories.recall_about(view, request.path, request.line or 1, request.text, request.k)
    return _make_memory_answer(answer, request.budget_tokens or DEFAULT_TOKENS)


def find_memory(caller: Caller, memory_id: str) -> tuple[ProjectSession, Memory]:
    return caller.memory_projects.find_first(lambda view: view.memories.get(memory_id))


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
    page, left_out = fit_list([make_memory_record(item) for item in found], _budget_tokens(caller))
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
    page_, left_out = fit_list(records, _budget_tokens(caller))
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


def _budget_tokens(caller: Caller) -> int:
    return AGENTS_MEMORY_TOKENS if caller.budget_tokens else _MAX_LISTED_TOKENS
