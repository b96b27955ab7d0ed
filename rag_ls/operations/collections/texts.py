"""Operations that keep texts in collections, find them and sum them up."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
from urllib.parse import urlsplit

from rag_ls.engine import DEFAULT
from rag_ls.errors import InvalidRequest, RagLsError
from rag_ls.memory import (
    MAX_WORDS,
    PushedText,
    Question,
    Summary,
    SummaryRequest,
    SummaryStrategy,
    check_name,
    context_text,
    embed_missing,
    make_summary,
    memory_of,
)
from rag_ls.memory import push as push_text
from rag_ls.model import Hit, MemoryType
from rag_ls.operations.collections.upkeep import SeenCollections, UsedFilters
from rag_ls.operations.fields import argument, make_record, optional
from rag_ls.operations.memories.arguments import TYPE_NAMES, TimeRange
from rag_ls.operations.operation import WRITES, Caller, Tool, operation
from rag_ls.util.records import asdict, dataclass, replace

_log = logging.getLogger(__name__)


_DEFAULT_LIMIT, _MAX_LIMIT = 5, 100
_MAX_SUMMARISED = 500
_MAX_CONTEXT_TOKENS = 2000
# Programs want the nearest texts; agents' memories must also be close enough (`search.min_similarity`).
_MIN_SIMILARITY = 0.5
# A push embeds this many itself, so that they are found at once; the background embeds the rest.
_MAX_EMBEDDED_AT_ONCE = 64
STRATEGIES = ("auto", *(strategy.value for strategy in SummaryStrategy))


@dataclass(frozen=True, slots=True)
class Push:
    text: str = argument(doc="the text; it is cut into chunks")
    collection: str = argument("", "where to keep it (default: default)")
    project_id: str = argument("", "what it belongs to (default: default)", aliases=("project",))
    memory_type: str = argument("", "what kind of knowledge it is", choices=TYPE_NAMES, aliases=("type",))
    tags: tuple[str, ...] = argument((), "words to find it by")
    source_uri: str = argument("", "where it comes from; pushed again, it replaces the former text")
    force: bool = argument(False, "even if it looks like it holds a secret")


@dataclass(frozen=True, slots=True)
class PushedAnswer:
    """The outcome of pushing a text."""

    collection: str
    chunks_indexed: int
    """New or changed."""
    chunk_size: int
    """Tokens of the longest chunk, about."""
    inserted: int
    updated: int
    skipped_duplicates: int
    memory_ids: tuple[str, ...]


@operation(
    effects=WRITES,
    needs_code=False,
    tool=Tool(
        "collections",
        "Keep a text, cut into chunks; what is there already is skipped.",
        ("text", "collection", "project_id", "memory_type", "tags", "source_uri"),
        ("memory_ids",),
        names=("push", "index"),
    ),
)
def push(caller: Caller, request: Push) -> PushedAnswer:
    """Keep a text in a collection, cut into chunks."""
    seen = SeenCollections(caller.client.engine, caller.client.project_ids)
    text = PushedText(
        text=request.text,
        project_id=seen.choose_project_id(request.project_id.strip()),
        memory_type=MemoryType(request.memory_type or MemoryType.SEMANTIC),
        tags=request.tags,
        source_uri=request.source_uri.strip() or None,
        force=request.force,
    )
    name = check_name(request.collection or DEFAULT)
    store = seen.collections.make(name)
    done = push_text(store, text, seen.collections.memories(store).stamp())
    if (model := seen.model(name)) is not None:
        try:
            embed_missing(store, model, _MAX_EMBEDDED_AT_ONCE)
        except (RagLsError, ValueError) as error:
            # The text is stored and found by its words; its vectors are made in the background.
            _log.warning("%s", error)
    return make_record(
        PushedAnswer, done, collection=name, chunks_indexed=done.inserted + done.updated, chunk_size=done.longest,
        skipped_duplicates=done.skipped,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SearchCollection:
    query_text: str = argument(doc="a question or words", aliases=("query",))
    project_id: str = argument("", "only what belongs to this", aliases=("project",))
    memory_type: str = argument("", "only this kind", choices=TYPE_NAMES, aliases=("type",))
    tags: tuple[str, ...] = argument((), "with any of these")
    time_range: TimeRange = argument({}, "pushed in this time", properties=TimeRange, shown=("start", "end"))
    limit: int | None = argument(None, "results at most", least=1, aliases=("k", "top_k"))
    score_threshold: float | None = argument(None, "only results with at least this score, 0 to 1")
    collection: str = argument("", "where to search (default: default)")


@dataclass(frozen=True, slots=True)
class PushedMetadata:
    """Facts that are kept with a chunk."""

    project_id: str
    memory_type: str
    tags: tuple[str, ...]
    source_uri: str | None
    timestamp: str
    chunk_hash: str
    chunk_index: int | None


@dataclass(frozen=True, slots=True)
class PushedResult:
    """One chunk that answers a question."""

    id: str
    score: float
    text: str
    metadata: PushedMetadata


@dataclass(frozen=True, slots=True)
class CollectionAnswer:
    """The chunks that answer a question, and a text of them for a prompt."""

    results: tuple[PushedResult, ...]
    context: str
    used_filters: UsedFilters
    note: str = optional("")


@operation(
    needs_code=False,
    tool=Tool(
        "collections",
        "Find what was pushed; context has it with citations.",
        (
            "query_text",
            "project_id",
            "memory_type",
            "tags",
            "time_range",
            "limit",
            "score_threshold",
            "collection",
        ),
        ("results",),
        names=("search",),
    ),
)
def search_collection(caller: Caller, request: SearchCollection) -> CollectionAnswer:
    """The texts of a collection that answer a question."""
    seen = SeenCollections(caller.client.engine, caller.client.project_ids)
    store = seen.find_existing(request.collection)
    filters, used = seen.make_filters(request.project_id, request.memory_type, request.tags, request.time_range)
    limit = min(request.limit or _DEFAULT_LIMIT, _MAX_LIMIT)
    model = seen.model(request.collection)
    # Two sources may hold the same text.
    question = Question(request.query_text, 2 * limit, _MIN_SIMILARITY, filters)
    hits = seen.collections.memories(store).recall(question, model)
    least = request.score_threshold or 0.0
    distinct = {memory_of(hit).content_hash: hit for hit in reversed(hits) if hit.score >= least}
    kept = list(reversed(distinct.values()))[:limit]
    is_awaited = model is None and not seen.engine.models.is_off
    note = "the model is not ready: found by words alone" if is_awaited else ""
    used = replace(used, limit=request.limit, score_threshold=request.score_threshold)
    return CollectionAnswer(tuple(map(_make_result, kept)), context_text(kept, _MAX_CONTEXT_TOKENS), used, note)


def _make_result(hit: Hit) -> PushedResult:
    memory = memory_of(hit)
    meta = PushedMetadata(
        project_id=memory.project_id or "", memory_type=memory.memory_type.value, tags=memory.metadata.tags,
        source_uri=memory.source_uri, timestamp=memory.updated_at, chunk_hash=memory.content_hash,
        chunk_index=memory.metadata.chunk_index,
    )  # fmt: skip
    return PushedResult(memory.id, round(hit.score, 4), memory.content, meta)


@dataclass(frozen=True, slots=True)
class SummarizeCollection:
    time_range: TimeRange = argument(
        {}, "start and end, both", properties=TimeRange, shown=("start", "end"), agents_required=True
    )
    project_id: str = argument("", "only what belongs to this", aliases=("project",))
    memory_type: str = argument("", "only this kind", choices=TYPE_NAMES, aliases=("type",))
    tags: tuple[str, ...] = argument((), "with any of these")
    limit: int | None = argument(None, "chunks at most, those pushed last", least=1, aliases=("k",))
    max_words: int | None = argument(None, "how long it may be", least=5)
    strategy: str = argument("", "how it is made (default: auto)", choices=STRATEGIES)
    collection: str = argument("", "where to look (default: default)")


@dataclass(frozen=True, slots=True)
class CollectionSummaryAnswer:
    """A summary, and how it was made."""

    summary: str
    source_memory_ids: tuple[str, ...]
    upserted_memory_id: str
    summary_key: str
    strategy: str
    provider: str
    used_filters: UsedFilters
    note: str = optional("")


@operation(
    effects=WRITES,
    needs_code=False,
    tool=Tool(
        "collections",
        "Summarise what was pushed in a time and keep that; done again, it is replaced.",
        ("time_range", "project_id", "memory_type", "tags", "limit", "max_words", "strategy", "collection"),
        ("summary",),
        names=("summarize",),
    ),
)
def summarize_collection(caller: Caller, request: SummarizeCollection) -> CollectionSummaryAnswer:
    """Summarise what was pushed in a time, and keep the summary."""
    seen = SeenCollections(caller.client.engine, caller.client.project_ids)
    if not (request.time_range.start and request.time_range.end):
        raise InvalidRequest("summarize needs time_range with start and end, e.g. 2026-01-01 and 2026-01-31")
    store = seen.find_existing(request.collection)
    filters, used = seen.make_filters(request.project_id, request.memory_type, request.tags, request.time_range)
    # Of texts that were pushed: a summary of summaries would grow with each one.
    filters = replace(filters, no_summaries=True)
    settings = caller.projects.user_settings.summaries
    strategy = request.strategy or "auto"
    if strategy == SummaryStrategy.ABSTRACTIVE and not settings.endpoint:
        raise InvalidRequest(
            "strategy = abstractive needs summaries.endpoint in the user's settings; extractive needs nothing"
        )
    if strategy == SummaryStrategy.EXTRACTIVE:
        settings = replace(settings, endpoint="")
    wanted = SummaryRequest(
        filters,
        request.max_words or MAX_WORDS,
        _make_summary_key(request, filters.project_ids),
        request.limit or _MAX_SUMMARISED,
        filters.project_ids[0] if filters.project_ids and len(filters.project_ids) == 1 else None,
    )
    done = make_summary(seen.collections.memories(store), wanted, seen.model(request.collection), settings)
    return _make_summary_answer(done, used, settings.endpoint)


def _make_summary_key(request: SummarizeCollection, project_ids: tuple[str, ...] | None) -> str:
    """Equal for equal arguments of callers that see the same projects."""
    values = {item.name: getattr(request, item.name) for item in dataclasses.fields(request)}
    seen = None if project_ids is None else sorted(project_ids)
    plain = {**values, "time_range": asdict(request.time_range), "tags": sorted(request.tags), "seen": seen}
    text = json.dumps(plain, sort_keys=True)
    return "summary:" + hashlib.sha256(text.encode()).hexdigest()[:32]


def _make_summary_answer(done: Summary, used: UsedFilters, endpoint: str) -> CollectionSummaryAnswer:
    assert done.stored is not None
    is_written = done.strategy is SummaryStrategy.ABSTRACTIVE
    return CollectionSummaryAnswer(
        summary=done.new.content, source_memory_ids=done.new.source_memory_ids,
        upserted_memory_id=done.stored.memory.id, summary_key=done.new.summary_key or "", strategy=done.strategy.value,
        provider=(urlsplit(endpoint).hostname or endpoint) if is_written else "local", used_filters=used,
        note=done.note,
    )  # fmt: skip
