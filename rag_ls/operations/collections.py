"""Operations on collections: texts that programs push, and what they ask of them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from rag_ls.config import Settings
from rag_ls.embedding import Embedder
from rag_ls.engine.collections import DEFAULT
from rag_ls.engine.engine import Engine
from rag_ls.errors import AccessRefused, InvalidRequest, ModelMissing, NotFound, RagLsError
from rag_ls.memory.collections import PushedText, checked_name, push, sources
from rag_ls.memory.context import context_text
from rag_ls.memory.parts import embed_missing
from rag_ls.memory.recall import Question, memory_of
from rag_ls.memory.summarise import Summary, SummaryRequest, summarise
from rag_ls.memory.summary import MAX_WORDS
from rag_ls.model import Hit, MemoryFilters, MemoryType, Scope, SummaryStrategy
from rag_ls.operations import collection_records as records
from rag_ls.operations import collection_requests as requests
from rag_ls.operations.memory_arguments import times_of
from rag_ls.operations.requests import TYPE_NAMES, NoArguments
from rag_ls.storage import MemoryStore
from rag_ls.util.nearest import nearest, nearest_text

_log = logging.getLogger(__name__)

_DEFAULT_LIMIT, _MAX_LIMIT = 5, 100
_MAX_SUMMARISED = 500
_CONTEXT_TOKENS = 2000
# Programs want the nearest texts, agents' memories only what is about the same (`search.min_similarity`).
_MIN_SIMILARITY = 0.5
# A push embeds this much itself, so that it is found at once; the background does the rest.
_EMBEDDED_AT_ONCE = 64
_USAGE = (
    "push {text, project_id, tags, source_uri} keeps a text; pushed again it is skipped, or replaced where its source_uri "
    "is the same. search {query_text, project_id, tags, time_range, limit} answers with results and a context with "
    "citations. summarize {time_range: {start, end}} keeps a summary of a time."
)

ProjectIds = Callable[[], tuple[str, ...] | None]


class CollectionOperations:
    """Operations on an engine's collections, for a client that may see some project ids alone."""

    def __init__(self, engine: Engine, project_ids: ProjectIds, user_settings: Callable[[], Settings]) -> None:
        """`project_ids` gives those that the client sees, None for all; `user_settings` those in force now."""
        self._engine = engine
        self._collections = engine.collections
        self._project_ids = project_ids
        self._user_settings = user_settings

    def push(self, asked: requests.Push) -> records.PushedAnswer:
        """Keep a text."""
        text = PushedText(
            asked.text,
            self._pushed_to(asked.project_id.strip()),
            MemoryType(asked.memory_type or MemoryType.SEMANTIC),
            asked.tags,
            asked.source_uri.strip() or None,
            asked.force,
        )
        name = checked_name(asked.collection or DEFAULT)
        store = self._collections.make(name)
        done = push(store, text, self._collections.memories(store).stamp())
        if (model := self._model(name)) is not None:
            try:
                embed_missing(store, model, _EMBEDDED_AT_ONCE)
            except (RagLsError, ValueError) as error:
                # The text is kept, and found by its words; its vectors are made in the background.
                _log.warning("%s", error)
        return records.PushedAnswer(
            name, done.inserted + done.updated, done.longest, done.inserted, done.updated, done.skipped, done.memory_ids
        )

    def search(self, asked: requests.SearchCollection) -> records.CollectionAnswer:
        """The chunks that answer a question."""
        store = self._existing(asked.collection)
        filters, used = self._filters(asked.project_id, asked.memory_type, asked.tags, asked.time_range)
        limit = min(asked.limit or _DEFAULT_LIMIT, _MAX_LIMIT)
        model = self._model(asked.collection)
        # Two sources may hold the same text.
        question = Question(asked.query_text, 2 * limit, _MIN_SIMILARITY, filters)
        hits = self._collections.memories(store).recall(question, model)
        least = asked.score_threshold or 0.0
        distinct = {memory_of(hit).content_hash: hit for hit in reversed(hits) if hit.score >= least}
        kept = list(reversed(distinct.values()))[:limit]
        note = "" if model is not None else "the model is not ready: found by words alone"
        used = replace(used, limit=asked.limit, score_threshold=asked.score_threshold)
        return records.CollectionAnswer(tuple(map(_result, kept)), context_text(kept, _CONTEXT_TOKENS), used, note)

    def summarize(self, asked: requests.SummarizeCollection) -> records.CollectionSummaryAnswer:
        """Summarise a time, and keep the summary; done again, it is replaced."""
        if not (asked.time_range.get("start") and asked.time_range.get("end")):
            raise InvalidRequest("summarize needs time_range with start and end, e.g. 2026-01-01 and 2026-01-31")
        store = self._existing(asked.collection)
        filters, used = self._filters(asked.project_id, asked.memory_type, asked.tags, asked.time_range)
        settings = self._user_settings().summaries
        strategy = asked.strategy or "auto"
        if strategy == SummaryStrategy.ABSTRACTIVE and not settings.endpoint:
            raise InvalidRequest(
                "strategy = abstractive needs summaries.endpoint in the user's settings; extractive needs nothing"
            )
        if strategy == SummaryStrategy.EXTRACTIVE:
            settings = replace(settings, endpoint="")
        request = SummaryRequest(
            filters,
            asked.max_words or MAX_WORDS,
            _summary_key(asked, filters.project_ids),
            asked.limit or _MAX_SUMMARISED,
            filters.project_ids[0] if filters.project_ids and len(filters.project_ids) == 1 else None,
        )
        done = summarise(self._collections.memories(store), request, self._model(asked.collection), settings)
        return _summary_answer(done, used, settings.endpoint)

    def get_collections(self, asked: NoArguments) -> records.CollectionsAnswer:
        """All collections."""
        return records.CollectionsAnswer(tuple(self._record(name) for name in self._names()))

    def new_collection(self, asked: requests.NewCollection) -> records.NewCollectionAnswer:
        """Make a collection, or have its vectors made in another size."""
        name, most = checked_name(asked.name), self._model_size()
        if self._project_ids() is not None:
            return self._made_for_some(asked, name)
        is_new = name not in self._collections.names()
        former = most if is_new else self._vector_size(name)
        size = asked.vector_size or former
        if asked.vector_size and most and size > most:
            raise InvalidRequest(
                f"vector_size = {size}: the configured model makes vectors of {most} numbers; give {most} or less, leave "
                "vector_size out, or configure another embedding.model"
            )
        held = 0 if is_new else self._collections.existing(name).count()
        if size != former and held and not asked.force:
            raise InvalidRequest(
                f"vector_size = {size}: the collection {name} would lose its vectors of {former} numbers, and {held} chunks "
                "would be embedded anew; give force to do that"
            )
        self._collections.make(name)
        if size != former:
            self._collections.resize(name, size)
        status = "created" if is_new else "unchanged" if size == former else "resized"
        made = self._record(name)
        return records.NewCollectionAnswer(made.name, status, made.vector_size, made.count)

    def metrics(self, asked: requests.OfCollection) -> records.CollectionMetricsAnswer:
        """What the collections hold."""
        names = [checked_name(asked.collection)] if asked.collection else self._names()
        stores = [self._existing(name) for name in names]
        filters = self._seen()
        chunks = [memory for store in stores for memory in store.find(filters)]
        newest = max(chunks, key=lambda memory: memory.updated_at, default=None)
        types = {kind: sum(memory.memory_type.value == kind for memory in chunks) for kind in TYPE_NAMES}
        return records.CollectionMetricsAnswer(
            sources(iter(chunks)), len(chunks), len(newest.content) if newest else 0, len(names),
            {kind: count for kind, count in types.items() if count}, self._pending(names),
        )  # fmt: skip

    def facts(self, asked: requests.CollectionFacts) -> records.FactsAnswer:
        """A fact that agents read as a resource."""
        answers: dict[str, Callable[[], records.FactsAnswer]] = {
            "memory-types": lambda: records.FactsAnswer("memory-types", names=tuple(TYPE_NAMES)),
            "projects": lambda: records.FactsAnswer("projects", names=tuple(sorted(self._known_project_ids()))),
            "tags": lambda: records.FactsAnswer("tags", names=tuple(sorted(self._tags(asked.project_id)))),
            "health": lambda: records.FactsAnswer("health", values=self._health()),
            "settings": lambda: records.FactsAnswer("settings", values=self._settings()),
            "usage": lambda: records.FactsAnswer("usage", text=_USAGE),
        }
        return answers[asked.what]()

    def _made_for_some(self, asked: requests.NewCollection, name: str) -> records.NewCollectionAnswer:
        """A collection for a client that must not learn whether others have made it before."""
        if asked.vector_size:
            raise AccessRefused("a token of some projects cannot choose vector_size: others may use the collection too")
        status = "unchanged" if name in self._names() else "created"
        self._collections.make(name)
        made = self._record(name)
        return records.NewCollectionAnswer(made.name, status, made.vector_size, made.count)

    # --- what the client may see

    def _existing(self, name: str) -> MemoryStore:
        """A collection that there is for the client. Raises `NotFound`, the same whether others have one or nobody has."""
        wanted, seen = checked_name(name or DEFAULT), self._names()
        if wanted not in seen:
            near = nearest_text(nearest(wanted, seen))
            raise NotFound(f"there is no collection {wanted!r}; {near}push makes it")
        return self._collections.existing(wanted)

    def _pushed_to(self, project_id: str) -> str:
        allowed = self._project_ids()
        if allowed is None:
            return project_id or DEFAULT
        if project_id:
            self._check_seen(project_id)
            return project_id
        if len(allowed) != 1:
            raise InvalidRequest(f"push: name the project_id: one of {', '.join(allowed)}")
        return allowed[0]

    def _check_seen(self, project_id: str) -> None:
        allowed = self._project_ids()
        if allowed is not None and project_id not in allowed:
            raise NotFound(f"there is no project_id {project_id!r} here; there are {', '.join(allowed) or 'none'}")

    def _names(self) -> list[str]:
        """The collections that there are for the client: all, or those that hold something of its projects."""
        names = self._collections.names()
        if self._project_ids() is None:
            return names
        return [name for name in names if self._collections.existing(name).count(self._seen())]

    def _seen(self, project_id: str = "") -> MemoryFilters:
        if project_id:
            self._check_seen(project_id)
            return MemoryFilters((Scope.GLOBAL,), project_ids=(project_id,))
        return MemoryFilters((Scope.GLOBAL,), project_ids=self._project_ids())

    def _filters(
        self, project_id: str, memory_type: str, tags: tuple[str, ...], time_range: Mapping[str, object]
    ) -> tuple[MemoryFilters, records.UsedFilters]:
        since, until = times_of(time_range)
        filters = replace(
            self._seen(project_id.strip()), tags=tags, memory_type=MemoryType(memory_type) if memory_type else None,
            since=since, until=until, no_summaries=True,
        )  # fmt: skip
        return filters, records.UsedFilters(project_id.strip(), memory_type, tags, since, until)

    # --- figures

    def _record(self, name: str) -> records.PushedCollection:
        store = self._collections.existing(name)
        # Who chose another size tells that there are others.
        size = self._vector_size(name) if self._project_ids() is None else self._model_size()
        return records.PushedCollection(name, size, store.count(self._seen()))

    def _vector_size(self, name: str) -> int:
        return self._collections.vector_size(name) or self._model_size()

    def _model_size(self) -> int:
        try:
            return self._engine.models.configured().dimensions
        except ModelMissing:
            return 0

    def _model(self, collection: str = DEFAULT) -> Embedder | None:
        """The model as a collection uses it; None while it cannot be used."""
        try:
            found = self._engine.models.get(self._engine.models.configured().id)
        except ModelMissing:
            return None
        return self._collections.model_of(collection, found)

    def _pending(self, names: Iterable[str]) -> int:
        """How many chunks have no vectors yet; it is counted for all projects alone."""
        if self._project_ids() is not None:
            return 0
        models = ((name, self._model(name)) for name in names)
        missing = (
            self._collections.existing(name).vectors.missing_count(model.card.id) for name, model in models if model
        )
        return sum(missing)

    def _known_project_ids(self) -> set[str]:
        allowed = self._project_ids()
        if allowed is not None:
            return set(allowed)
        stores = map(self._collections.existing, self._collections.names())
        return {memory.project_id for store in stores for memory in store.find(self._seen()) if memory.project_id}

    def _tags(self, project_id: str) -> set[str]:
        filters = self._seen(project_id.strip())
        stores = map(self._collections.existing, self._names())
        return {tag for store in stores for memory in store.find(filters) for tag in memory.metadata.tags}

    def _health(self) -> dict[str, object]:
        try:
            for name in self._names():
                self._collections.existing(name).count()
            is_stored = True
        except RagLsError:
            is_stored = False
        return {"live": True, "store": is_stored, "model": self._model() is not None}

    def _settings(self) -> dict[str, object]:
        settings = self._user_settings()
        return {
            "embedding.model": self._engine.settings.embedding.model,
            "vector_size": self._model_size(),
            "search.query_expansion": settings.search.query_expansion,
            "summaries": (
                SummaryStrategy.ABSTRACTIVE if settings.summaries.endpoint else SummaryStrategy.EXTRACTIVE
            ).value,
        }


def _result(hit: Hit) -> records.PushedResult:
    memory = memory_of(hit)
    meta = records.PushedMetadata(
        memory.project_id or "", memory.memory_type.value, memory.metadata.tags, memory.source_uri, memory.updated_at,
        memory.content_hash, memory.metadata.chunk_index,
    )  # fmt: skip
    return records.PushedResult(memory.id, round(hit.score, 4), memory.content, meta)


def _summary_key(asked: requests.SummarizeCollection, project_ids: tuple[str, ...] | None) -> str:
    """Equal for equal arguments of callers that see the same projects."""
    values = {item.name: getattr(asked, item.name) for item in dataclasses.fields(asked)}
    seen = None if project_ids is None else sorted(project_ids)
    plain = {**values, "time_range": dict(asked.time_range), "tags": sorted(asked.tags), "seen": seen}
    text = json.dumps(plain, sort_keys=True)
    return "summary:" + hashlib.sha256(text.encode()).hexdigest()[:32]


def _summary_answer(done: Summary, used: records.UsedFilters, endpoint: str) -> records.CollectionSummaryAnswer:
    assert done.stored is not None
    is_written = done.strategy is SummaryStrategy.ABSTRACTIVE
    return records.CollectionSummaryAnswer(
        done.new.content, done.new.source_memory_ids, done.stored.memory.id, done.new.summary_key or "",
        done.strategy.value, (urlsplit(endpoint).hostname or endpoint) if is_written else "local", used, done.note,
    )  # fmt: skip
