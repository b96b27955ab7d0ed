"""Summarises the memories of a period, and stores the summary as a memory."""

from __future__ import annotations

import itertools
import logging
import uuid
from collections.abc import Sequence

from rag_ls.config.settings import SummarySettings
from rag_ls.embedding import Embedder
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.memory.abstract import SummaryFailed, write_summary
from rag_ls.memory.batches import SUMMARIZED
from rag_ls.memory.contradictions import Contradiction, find_contradiction
from rag_ls.memory.memories import Memories, NewMemory, Stored
from rag_ls.memory.ranking import parse_stamp
from rag_ls.memory.summary import MAX_WORDS, extract, summary_key
from rag_ls.model import PRIVATE, Memory, MemoryFilters, MemoryMetadata, MemoryOrder, MemoryType, Scope, SummaryStrategy
from rag_ls.storage import Batch, MemoryStore, VersionChange
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import count_of

_log = logging.getLogger(__name__)

_MAX_MEMORIES = 500
_TAG = "summary"
_MAX_UNSETTLED = 10
_MAX_SIDE_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """The memories to summarise, and how long the summary may be."""

    filters: MemoryFilters
    """With `since` and `until`: the time range."""
    max_words: int = MAX_WORDS
    key: str = ""
    """The key of the summary; by default derived from the filters."""
    limit: int = _MAX_MEMORIES
    """The most memories that are summarised: those that were changed last."""
    project_id: str | None = None
    """In a collection: the name under which the summary is kept."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, the number of summarised memories, and a note for the user."""

    new: NewMemory
    stored: Stored | None
    """None in a preview."""
    count: int
    strategy: SummaryStrategy
    """The way it was made; a model that fails leaves it extractive, and the note says why."""
    note: str = ""
    replaces: Memory | None = None
    """The former summary with the same key, if it said something else."""
    batch_id: str = ""
    """For an undo, if a former summary was replaced."""


def summarise(
    memories: Memories,
    request: SummaryRequest,
    embedder: Embedder | None,
    settings: SummarySettings,
    *,
    dry_run: bool = False,
) -> Summary:
    """Summarise memories, and store the summary; it replaces a former one with the same key. A preview stores nothing.

    It sums up the memories of one scope, and is stored there: of the requested one, or of the project if there are
    several. Raises `NotFound` if no memory passes the filters, `InvalidRequest` for a time range that ends before it begins.
    """
    # Others see a project's summary: it must not reveal global memories, or memories of a session or a branch.
    scopes = request.filters.scopes
    scope = scopes[0] if len(scopes) == 1 else Scope.PROJECT
    filters = replace(request.filters, scopes=(scope,), no_summaries=True, branch="")
    if filters.since and filters.until and filters.since > filters.until:
        raise InvalidRequest(f"time_range ends ({filters.until}) before it starts ({filters.since})")
    found, total = memories.list_page(filters, MemoryOrder.UPDATED, min(request.limit, _MAX_MEMORIES))
    if not found:
        raise NotFound(
            f"there is no memory from {filters.since or 'the beginning'} to {filters.until or 'now'} to summarise in the "
            f"scope {scope}; give another scope"
        )
    unsettled = _find_contradictions(found)
    sides = {side.id for pair in unsettled for side in (pair.one, pair.other)}
    settled = [item for item in found if item.id not in sides]
    text, strategy, note = _write_summary(settled, request.max_words, settings)
    text = "\n".join([*([text] if text else []), *_word_contradictions(unsettled)])
    if not text:
        raise NotFound(f"no sentence to summarise is in the {count_of(total, 'memory')} of that time")
    if total > len(found):
        limit = f"of {total} memories, the {len(found)} that were changed last are summarised"
        note = f"{note}; {limit}" if note else limit
    new = NewMemory(
        text,
        scope,
        MemoryMetadata(tags=tuple(dict.fromkeys((_TAG, *filters.tags, *_private(found))))),
        MemoryType.SEMANTIC,
        summary_key=request.key or summary_key(filters.since, filters.until, request.filters),
        source_memory_ids=tuple(sorted(item.id for item in found)),
        project_id=request.project_id,
        force=True,
    )
    former = memories.of(scope).summary(new.summary_key or "")
    replaced = former if former is not None and former.content != text else None
    summary = Summary(new=new, stored=None, count=total, strategy=strategy, note=note, replaces=replaced)
    if dry_run:
        return summary
    stored = memories.store(new, embedder)
    batch_id = _record_replaced(memories.of(scope), stored) if replaced else ""
    return replace(summary, stored=stored, batch_id=batch_id)


def _private(found: Sequence[Memory]) -> tuple[str, ...]:
    """The tag that keeps a summary from a team, if it says what is private."""
    return (PRIVATE,) if any(PRIVATE in memory.metadata.tags for memory in found) else ()


def _record_replaced(store: MemoryStore, stored: Stored) -> str:
    """Record that a summary was replaced, so that it can be undone; returns the batch's id."""
    memory, batch_id = stored.memory, str(uuid.uuid4())
    change = VersionChange(memory.id, memory.version - 1, memory.version)
    store.add_batch(Batch(batch_id, SUMMARIZED, memory.updated_at, (change,)))
    return batch_id


def _find_contradictions(found: Sequence[Memory]) -> list[Contradiction]:
    """The pairs that contradict each other: a summary must state no side of them as a fact."""
    pairs = (find_contradiction(one, other) for one, other in itertools.combinations(found, 2))
    return [pair for pair in pairs if pair]


def _word_contradictions(unsettled: Sequence[Contradiction]) -> list[str]:
    """A line for each of the first contradictions, and how many more there are."""
    shown = [
        f"- Not settled ({pair.reason}): {_date_line(pair.other)}; {_date_line(pair.one)}"
        for pair in unsettled[:_MAX_UNSETTLED]
    ]
    more = len(unsettled) - len(shown)
    return [
        *shown,
        *(
            [f"- Not settled: {count_of(more, 'more pair')}, which `rag-ls consolidate --dry-run` lists"]
            if more
            else []
        ),
    ]


def _date_line(memory: Memory) -> str:
    content = " ".join(memory.content.split())
    short = content if len(content) <= _MAX_SIDE_CHARACTERS else content[: _MAX_SIDE_CHARACTERS - 1] + "…"
    return f"{short!r} ({parse_stamp(memory.updated_at).astimezone():%Y-%m-%d})"


def _write_summary(
    found: Sequence[Memory], max_words: int, settings: SummarySettings
) -> tuple[str, SummaryStrategy, str]:
    note = ""
    if settings.endpoint and found:
        try:
            return write_summary(found, max_words, settings), SummaryStrategy.ABSTRACTIVE, ""
        except SummaryFailed as error:
            _log.warning("%s", error)
            note = f"{error}; made of the memories' own sentences instead"
    return extract(found, max_words), SummaryStrategy.EXTRACTIVE, note
