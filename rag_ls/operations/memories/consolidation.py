"""Operations that merge memories which say the same, and that sum up a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rag_ls.engine import Consolidated, MemoryChange, consolidate_scopes, summarise_memories, undo_changes
from rag_ls.errors import InvalidRequest
from rag_ls.memory import CONSOLIDATED, MAX_WORDS, Summary, SummaryRequest
from rag_ls.model import Scope
from rag_ls.operations.fields import argument, make_record, optional
from rag_ls.operations.memories.arguments import (
    SCOPES_OR_ALL,
    MemoryFilterArguments,
    TimeRange,
    make_memory_filters,
    read_scopes,
    read_times,
    set_branch,
)
from rag_ls.operations.memories.memory_records import (
    AnchorRecord,
    BriefMemory,
    MemoryRecord,
    make_memory_record,
    shorten_memory,
)
from rag_ls.operations.memories.storing import make_stored_answer
from rag_ls.operations.operation import DESTROYS, WRITES, Caller, Changed, Tool, Verb, mark_changed, operation
from rag_ls.util.records import dataclass

_MAX_SUMMARY_WORDS = 2000


@dataclass(frozen=True, slots=True)
class ConsolidateMemories:
    scope: str = argument("", "memories of this scope (default: all)", choices=SCOPES_OR_ALL, agents_type="string")
    threshold: float | None = argument(None, "how close they must be to be proposed, 0 to 1 (default: 0.8)")
    ids: tuple[str, ...] = argument((), "merge these, as was proposed", flag="-")
    dry_run: bool = argument(False, "show what would be done, and do nothing")
    undo: bool | str = argument("", "true takes the latest one back, an id that one", agents_type="boolean", flag="-")
    project: str = argument("", "the name or root of a project")


@dataclass(frozen=True, slots=True)
class MergeRecord:
    """Memories that say the same."""

    kept: BriefMemory
    merged: tuple[BriefMemory, ...]


@dataclass(frozen=True, slots=True)
class ProposalRecord:
    """Memories that may say the same; `ids` merges them."""

    memories: tuple[BriefMemory, ...]
    cosine: float


@dataclass(frozen=True, slots=True)
class ContradictionRecord:
    """Two memories that cannot both hold."""

    memories: tuple[BriefMemory, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class ConsolidationAnswer:
    """The changes that a consolidation made, or would make; or those that taking it back restored."""

    dry_run: bool | None = optional()
    threshold: float | None = optional()
    merges: tuple[MergeRecord, ...] | None = optional()
    proposals: tuple[ProposalRecord, ...] | None = optional()
    contradictions: tuple[ContradictionRecord, ...] | None = optional()
    never_recalled: tuple[BriefMemory, ...] | None = optional()
    undo: Mapping[str, str] | None = optional()
    restored: tuple[MemoryRecord, ...] | None = optional()


@operation(
    effects=DESTROYS,
    changes=MemoryChange.CHANGED,
    needs_code=False,
    tool=Tool(
        "memory",
        "Merge memories that say the same (dry_run: show them); lists contradictions.",
        ("scope", "dry_run"),
        ("dry_run",),
    ),
    command="ragLs.consolidateMemories",
    verb=Verb(
        "consolidate",
        "merge memories that say the same, and show which contradict each other",
        example="rag-ls consolidate --dry-run",
    ),
)
def consolidate_memories(caller: Caller, request: ConsolidateMemories) -> Changed[ConsolidationAnswer]:
    """Merge memories that say the same, and show which contradict each other."""
    scopes = read_scopes(request.scope)
    is_of_project = Scope.PROJECT in scopes
    view = (
        caller.memory_projects.find_one(request.project)
        if is_of_project
        else caller.memory_projects.find(request.project)[0]
    )
    if request.undo:
        batch_id = "" if request.undo is True else request.undo.strip()
        undone = undo_changes(view, scopes, batch_id, kind=CONSOLIDATED, dry_run=request.dry_run)
        back = [memory for item in undone for memory in item.result.inserted]
        answer = ConsolidationAnswer(
            dry_run=request.dry_run or None, restored=tuple(make_memory_record(item) for item in back)
        )
        return mark_changed(answer, view, *(scope for item in undone for scope in item.result.changed_scopes))
    threshold = request.threshold
    if threshold is None:
        threshold = view.settings.consolidation.similarity_threshold
    chosen = [view.memories.get(memory_id) for memory_id in request.ids]
    if request.ids and (len(chosen) < 2 or len({memory.scope for memory in chosen}) > 1):
        raise InvalidRequest("to merge memories, name two or more of one scope")
    done = consolidate_scopes(view, scopes, threshold, chosen=chosen, dry_run=request.dry_run)
    answer = make_consolidation_answer(done, dry_run=request.dry_run, threshold=threshold)
    return mark_changed(answer, view, *(scope for scope, batch_id in done.ids.items() if batch_id))


def make_consolidation_answer(done: Consolidated, *, dry_run: bool, threshold: float) -> ConsolidationAnswer:
    """A consolidation's merges (planned ones in a dry run), contradictions, and memories that were never recalled."""

    def join(name: str) -> list[Any]:
        return [item for plan in done.plans.values() for item in getattr(plan, name)]

    return ConsolidationAnswer(
        dry_run=dry_run,
        threshold=threshold,
        merges=tuple(
            MergeRecord(shorten_memory(item.kept), tuple(map(shorten_memory, item.merged))) for item in join("merges")
        ),
        proposals=tuple(
            ProposalRecord(tuple(map(shorten_memory, item.memories)), round(item.cosine, 4))
            for item in join("proposals")
        ),
        contradictions=tuple(
            ContradictionRecord((shorten_memory(item.one), shorten_memory(item.other)), item.reason)
            for item in join("contradictions")
        ),
        never_recalled=tuple(map(shorten_memory, join("never_recalled"))),
        undo={scope.value: batch_id for scope, batch_id in done.ids.items() if batch_id},
    )


@dataclass(frozen=True, slots=True)
class SummarizeMemories:
    time_range: TimeRange = argument(
        {}, "start and end", properties=TimeRange, shown=("start", "end"), agents_required=True
    )
    scope: str = argument("", "memories of this scope (default: project)", choices=SCOPES_OR_ALL, agents_type="string")
    filters: MemoryFilterArguments = argument(
        {}, "what they must be like", properties=MemoryFilterArguments, beside=True
    )
    dry_run: bool = argument(False, "show what would be done, and do nothing")
    max_words: int | None = argument(None, "how long it may be", least=5)
    summary_key: str = argument("", "a name for the summary: the next one with this name replaces it")
    project: str = argument("", "the name or root of a project")


@dataclass(frozen=True, slots=True)
class SummaryAnswer:
    """A summary that was made, and what storing it did."""

    id: str
    status: str
    version: int
    scope: str
    anchor: AnchorRecord | None
    summary: str
    summary_key: str | None
    source_memory_ids: tuple[str, ...]
    count: int
    duplicate_of: str = optional("")
    known: tuple[BriefMemory, ...] = optional(())
    evicted: tuple[str, ...] = optional(())
    note: str = optional("")
    replaces: BriefMemory | None = optional()
    undo: str = optional("")


@operation(
    effects=WRITES,
    changes=MemoryChange.STORED,
    needs_code=False,
    tool=Tool(
        "memory",
        "Summarise the memories of a time.",
        ("time_range", "scope"),
        ("summary",),
    ),
    command="ragLs.summarizeMemories",
    verb=Verb(
        "summarize",
        "summarise the memories of a period, and keep the summary",
        example="rag-ls summarize --start 2026-01-01 --end 2026-01-31 --dry-run",
    ),
)
def summarize_memories(caller: Caller, request: SummarizeMemories) -> Changed[SummaryAnswer]:
    """Summarise what was remembered in a time, and keep the summary."""
    if request.time_range == TimeRange():
        raise InvalidRequest('summarize_memories needs \'time_range\': {"start": "2026-01-01", "end": "2026-01-31"}')
    read_times(request.time_range)
    view = caller.memory_projects.find_one(request.project)
    filters = set_branch(make_memory_filters(request.scope, request.filters), view)
    words = min(request.max_words or MAX_WORDS, _MAX_SUMMARY_WORDS)
    wanted = SummaryRequest(filters, words, request.summary_key.strip())
    done = summarise_memories(view, wanted, dry_run=request.dry_run)
    return mark_changed(_make_summary_answer(done), view, *(() if request.dry_run else (done.new.scope,)))


def _make_summary_answer(summary: Summary) -> SummaryAnswer:
    new, replaces = summary.new, shorten_memory(summary.replaces) if summary.replaces else None
    if summary.stored is None:
        return make_record(
            SummaryAnswer, new, id="", status="preview", version=0, anchor=None, summary=new.content, count=summary.count,
            note=summary.note, replaces=replaces,
        )  # fmt: skip
    stored, memory = make_stored_answer(summary.stored), summary.stored.memory
    return make_record(
        SummaryAnswer, stored, summary=memory.content, summary_key=memory.summary_key, count=summary.count,
        source_memory_ids=memory.source_memory_ids, note=summary.note or stored.note, replaces=replaces, undo=summary.batch_id,
    )  # fmt: skip
