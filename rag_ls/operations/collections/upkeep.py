"""Operations that make collections and describe them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from rag_ls.config import Settings
from rag_ls.embedding import Embedder
from rag_ls.engine import DEFAULT, Collections, Engine
from rag_ls.errors import AccessRefused, InvalidRequest, ModelMissing, NotFound, RagLsError
from rag_ls.memory import SummaryStrategy, check_name, count_tokens, sources
from rag_ls.model import MemoryFilters, MemoryType, Scope
from rag_ls.operations.fields import NoArguments, argument, make_record, optional
from rag_ls.operations.memories.arguments import TYPE_NAMES, TimeRange, read_times
from rag_ls.operations.operation import WRITES, Caller, Tool, operation
from rag_ls.storage import MemoryStore
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import count_of, nearest, nearest_text


@dataclass(frozen=True, slots=True)
class UsedFilters:
    """The filters that were applied, as the request names them."""

    project_id: str = optional("")
    memory_type: str = optional("")
    tags: tuple[str, ...] = optional(())
    start: str = optional("")
    end: str = optional("")
    limit: int | None = optional()
    score_threshold: float | None = optional()


@dataclass(frozen=True, slots=True)
class PushedCollection:
    """One collection."""

    name: str
    vector_size: int
    count: int


@dataclass(frozen=True, slots=True)
class SeenCollections:
    """An engine's collections, as far as a client may see them: some see only certain project ids."""

    engine: Engine
    project_ids: tuple[str, ...] | None
    """The project ids that the client sees; None for all."""

    @property
    def collections(self) -> Collections:
        """All collections of the engine."""
        return self.engine.collections

    def find_existing(self, name: str) -> MemoryStore:
        """A collection that the client sees. Raises `NotFound`, with the same text whether or not it exists for other clients."""
        wanted, seen = check_name(name or DEFAULT), self.names()
        if wanted not in seen:
            near = nearest_text(nearest(wanted, seen))
            raise NotFound(f"there is no collection {wanted!r}; {near}push makes it")
        return self.collections.existing(wanted)

    def choose_project_id(self, project_id: str) -> str:
        """The project of a pushed text: the given one, else the only one that the client sees. Raises `InvalidRequest`, `NotFound`."""
        allowed = self.project_ids
        if allowed is None:
            return project_id or DEFAULT
        if project_id:
            self.check_seen(project_id)
            return project_id
        if len(allowed) != 1:
            raise InvalidRequest(f"push: name the project_id: one of {', '.join(allowed)}")
        return allowed[0]

    def check_seen(self, project_id: str) -> None:
        """Raise `NotFound` for a project id that the client does not see."""
        allowed = self.project_ids
        if allowed is not None and project_id not in allowed:
            raise NotFound(f"there is no project_id {project_id!r} here; there are {', '.join(allowed) or 'none'}")

    def names(self) -> list[str]:
        """The names of the collections that the client sees: all, or those that hold texts of its projects."""
        names = self.collections.names()
        if self.project_ids is None:
            return names
        return [name for name in names if self.collections.existing(name).count(self.seen_filters())]

    def seen_filters(self, project_id: str = "") -> MemoryFilters:
        """The filters that admit the texts that the client sees, of one project id or all. Raises `NotFound`."""
        if project_id:
            self.check_seen(project_id)
            return MemoryFilters((Scope.GLOBAL,), project_ids=(project_id,))
        return MemoryFilters((Scope.GLOBAL,), project_ids=self.project_ids)

    def make_filters(
        self, project_id: str, memory_type: str, tags: tuple[str, ...], time_range: TimeRange
    ) -> tuple[MemoryFilters, UsedFilters]:
        """The filters of a request, limited to the texts that the client sees, and the same filters as the request names them."""
        since, until = read_times(time_range)
        filters = replace(
            self.seen_filters(project_id.strip()), tags=tags, memory_type=MemoryType(memory_type) if memory_type else None,
            since=since, until=until,
        )  # fmt: skip
        return filters, UsedFilters(project_id.strip(), memory_type, tags, since, until)

    def describe(self, name: str) -> PushedCollection:
        """Describe a collection as far as the client sees it."""
        store = self.collections.existing(name)
        # A client of some projects gets the model's size: the collection's own would reveal that others have pushed to it.
        size = self.vector_size(name) if self.project_ids is None else self.model_size()
        return PushedCollection(name, size, store.count(self.seen_filters()))

    def vector_size(self, name: str) -> int:
        """The length of a collection's vectors."""
        return self.collections.vector_size(name) or self.model_size()

    def model_size(self) -> int:
        """The length of the configured model's vectors; 0 where it is missing."""
        try:
            return self.engine.models.configured().dimensions
        except ModelMissing:
            return 0

    def model(self, collection: str = DEFAULT) -> Embedder | None:
        """The model as a collection uses it; None while it cannot be used."""
        try:
            found = self.engine.models.get(self.engine.models.configured().id)
        except ModelMissing:
            return None
        return self.collections.model_of(collection, found)

    def count_pending(self, names: Iterable[str]) -> int:
        """The number of chunks without vectors; 0 for a client that sees only some projects."""
        if self.project_ids is not None:
            return 0
        models = ((name, self.model(name)) for name in names)
        missing = (
            self.collections.existing(name).vectors.missing_count(model.card.id) for name, model in models if model
        )
        return sum(missing)

    def known_project_ids(self) -> set[str]:
        """The project ids of the collections that the client sees."""
        allowed = self.project_ids
        if allowed is not None:
            return set(allowed)
        stores = map(self.collections.existing, self.collections.names())
        return {
            memory.project_id for store in stores for memory in store.find(self.seen_filters()) if memory.project_id
        }

    def tags(self, project_id: str) -> set[str]:
        """The tags of the texts that the client sees, of one project id or all. Raises `NotFound`."""
        filters = self.seen_filters(project_id.strip())
        stores = map(self.collections.existing, self.names())
        return {tag for store in stores for memory in store.find(filters) for tag in memory.metadata.tags}


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
    """The collection after the request."""

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
        return _make_for_limited_client(seen, request, name)
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
    return make_record(NewCollectionAnswer, seen.describe(name), status=status)


def _make_for_limited_client(seen: SeenCollections, request: NewCollection, name: str) -> NewCollectionAnswer:
    """Make a collection for a client of some projects, which must not learn whether others have made it before."""
    if request.vector_size:
        raise AccessRefused("a token of some projects cannot choose vector_size: others may use the collection too")
    status = "unchanged" if name in seen.names() else "created"
    seen.collections.make(name)
    return make_record(NewCollectionAnswer, seen.describe(name), status=status)


@dataclass(frozen=True, slots=True)
class OfCollection:
    collection: str = argument("", "only this one")


@dataclass(frozen=True, slots=True)
class CollectionMetricsAnswer:
    """The size of the collections, in numbers."""

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
    """Count the documents and chunks of the collections."""
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
    """Types, project ids, tags, health and settings of collections, which agents read as resources."""
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
    return {"live": True, "store": is_stored, "model": _can_model_embed(seen)}


def _can_model_embed(seen: SeenCollections) -> bool:
    """Whether the model can embed now: its server may have gone away since it was loaded."""
    model = seen.model()
    if model is None:
        return False
    try:
        # The time makes a text that no cache holds.
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
