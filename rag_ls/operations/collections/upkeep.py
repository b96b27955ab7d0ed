"""Operations that make collections and describe them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from rag_ls.config.settings import Settings
from rag_ls.errors import AccessRefused, InvalidRequest, RagLsError
from rag_ls.memory.collections import check_name, count_tokens, sources
from rag_ls.model import SummaryStrategy
from rag_ls.operations.caller import Caller
from rag_ls.operations.collections.seen import PushedCollection, SeenCollections
from rag_ls.operations.fields import NoArguments, argument, optional
from rag_ls.operations.memories.arguments import TYPE_NAMES
from rag_ls.operations.operation import WRITES, Tool, operation
from rag_ls.util.records import dataclass
from rag_ls.util.text import count_of

FACTS = ("memory-types", "projects", "tags", "health", "settings", "usage")
_USAGE = (
    "push {text, project_id, tags, source_uri} keeps a text; pushed again it is skipped, or replaced where its source_uri "
    "is the same. search {query_text, project_id, tags, time_range, limit} answers with results and a context with "
    "citations. summarize {time_range: {start, end}} keeps a summary of a time."
)


@dataclass(frozen=True, slots=True)
class CollectionsAnswer:
    """All collections."""

    collections: tuple[PushedCollection, ...]


@operation(needs_code=False, tool=Tool("collections", "The collections.", (), ("collections",)))
def get_collections(caller: Caller, request: NoArguments) -> CollectionsAnswer:
    """All collections, with how many chunks each holds."""
    seen = SeenCollections(caller.client.engine, caller.client.project_ids)
    return CollectionsAnswer(tuple(seen.describe(name) for name in seen.names()))


@dataclass(frozen=True, slots=True)
class NewCollection:
    name: str = argument(doc="its name")
    vector_size: int | None = argument(
        None, "how many numbers a vector has, at most the model's (default: all)", least=1
    )
    force: bool = argument(False, "resize it though its vectors are lost and made anew")


@dataclass(frozen=True, slots=True)
class NewCollectionAnswer:
    """A collection that there is now."""

    name: str
    status: str
    """created, resized or unchanged."""
    vector_size: int
    count: int


@operation(
    effects=WRITES,
    needs_code=False,
    tool=Tool("collections", "Make or resize a collection.", ("name", "vector_size", "force"), ("status",)),
)
def new_collection(caller: Caller, request: NewCollection) -> NewCollectionAnswer:
    """Make a collection, or resize its vectors."""
    seen = SeenCollections(caller.client.engine, caller.client.project_ids)
    name, most = check_name(request.name), seen.model_size()
    if seen.project_ids is not None:
        return _make_for_some(seen, request, name)
    is_new = name not in seen.collections.names()
    former = most if is_new else seen.vector_size(name)
    size = request.vector_size or former
    if request.vector_size and most and size > most:
        raise InvalidRequest(
            f"vector_size = {size}: the configured model makes vectors of {most} numbers; give {most} or less, leave "
            "vector_size out, or configure another embedding.model"
        )
    held = 0 if is_new else seen.collections.existing(name).count()
    if size != former and held and not request.force:
        raise InvalidRequest(
            f"vector_size = {size}: the collection {name} would lose its vectors of {former} numbers, and "
            f"{count_of(held, 'chunk')} would be embedded anew; give force to do that"
        )
    seen.collections.make(name)
    if size != former:
        seen.collections.resize(name, size)
    status = "created" if is_new else "unchanged" if size == former else "resized"
    made = seen.describe(name)
    return NewCollectionAnswer(made.name, status, made.vector_size, made.count)


def _make_for_some(seen: SeenCollections, request: NewCollection, name: str) -> NewCollectionAnswer:
    """A collection for a client that must not learn whether others have made it before."""
    if request.vector_size:
        raise AccessRefused("a token of some projects cannot choose vector_size: others may use the collection too")
    status = "unchanged" if name in seen.names() else "created"
    seen.collections.make(name)
    made = seen.describe(name)
    return NewCollectionAnswer(made.name, status, made.vector_size, made.count)


@dataclass(frozen=True, slots=True)
class OfCollection:
    collection: str = argument("", "only this one")


@dataclass(frozen=True, slots=True)
class CollectionMetricsAnswer:
    """The content of the collections, in numbers."""

    documents: int
    chunks: int
    last_chunk_size: int
    collections: int
    types: Mapping[str, int]
    pending_embeddings: int


@operation(
    needs_code=False,
    tool=Tool("collections", "How much the collections hold.", ("collection",), ("chunks",), names=("metrics",)),
)
def collection_metrics(caller: Caller, request: OfCollection) -> CollectionMetricsAnswer:
    """The contents of the collections, as numbers."""
    seen = SeenCollections(caller.client.engine, caller.client.project_ids)
    names = [check_name(request.collection)] if request.collection else seen.names()
    stores = [seen.find_existing(name) for name in names]
    filters = seen.seen_filters()
    chunks = [memory for store in stores for memory in store.find(filters)]
    newest = max(chunks, key=lambda memory: memory.updated_at, default=None)
    types = {kind: sum(memory.memory_type.value == kind for memory in chunks) for kind in TYPE_NAMES}
    return CollectionMetricsAnswer(
        documents=sources(iter(chunks)), chunks=len(chunks), last_chunk_size=count_tokens(newest.content) if newest else 0,
        collections=len(names), types={kind: count for kind, count in types.items() if count},
        pending_embeddings=seen.count_pending(names),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class CollectionFacts:
    what: str = argument(doc="which", choices=FACTS)
    project_id: str = argument("", "whose tags", aliases=("project",))


@dataclass(frozen=True, slots=True)
class FactsAnswer:
    """A fact that agents read as a resource: names, or figures, or a text."""

    what: str
    names: tuple[str, ...] = optional(())
    values: Mapping[str, object] = optional({})
    text: str = optional("")


@operation(needs_code=False)
def collection_facts(caller: Caller, request: CollectionFacts) -> FactsAnswer:
    """Types, project ids, tags, health and settings of collections, as agents read them as resources."""
    seen = SeenCollections(caller.client.engine, caller.client.project_ids)
    answers: dict[str, Callable[[], FactsAnswer]] = {
        "memory-types": lambda: FactsAnswer("memory-types", names=tuple(TYPE_NAMES)),
        "projects": lambda: FactsAnswer("projects", names=tuple(sorted(seen.known_project_ids()))),
        "tags": lambda: FactsAnswer("tags", names=tuple(sorted(seen.tags(request.project_id)))),
        "health": lambda: FactsAnswer("health", values=_check_health(seen)),
        "settings": lambda: FactsAnswer("settings", values=_describe_settings(seen, caller.projects.user_settings)),
        "usage": lambda: FactsAnswer("usage", text=_USAGE),
    }
    return answers[request.what]()


def _check_health(seen: SeenCollections) -> dict[str, object]:
    try:
        for name in seen.names():
            seen.collections.existing(name).count()
        is_stored = True
    except RagLsError:
        is_stored = False
    return {"live": True, "store": is_stored, "model": _answers(seen)}


def _answers(seen: SeenCollections) -> bool:
    """Whether the model embeds now: one that was reached before may be on a server that is gone."""
    model = seen.model()
    if model is None:
        return False
    try:
        # A text that no cache holds.
        model.embed_query(f"{time.time_ns()}")
    except (RagLsError, ValueError):
        return False
    return True


def _describe_settings(seen: SeenCollections, settings: Settings) -> dict[str, object]:
    return {
        "embedding.model": seen.engine.settings.embedding.model,
        "vector_size": seen.model_size(),
        "search.query_expansion": settings.search.query_expansion,
        "summaries": (SummaryStrategy.ABSTRACTIVE if settings.summaries.endpoint else SummaryStrategy.EXTRACTIVE).value,
    }
