"""The collections that a client sees, and what it may know of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rag_ls.embedding import Embedder
from rag_ls.engine.collections import DEFAULT, Collections
from rag_ls.engine.engine import Engine
from rag_ls.errors import InvalidRequest, ModelMissing, NotFound
from rag_ls.memory.collections import check_name
from rag_ls.model import MemoryFilters, MemoryType, Scope
from rag_ls.operations.fields import optional
from rag_ls.operations.memories.arguments import read_times
from rag_ls.storage import MemoryStore
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import nearest, nearest_text


@dataclass(frozen=True, slots=True)
class UsedFilters:
    """The filters that left something out, in the words of the request."""

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
    """An engine's collections, for a client that may see some project ids alone."""

    engine: Engine
    project_ids: tuple[str, ...] | None
    """Those that the client sees; None for all."""

    @property
    def collections(self) -> Collections:
        """All of the engine."""
        return self.engine.collections

    def find_existing(self, name: str) -> MemoryStore:
        """A collection that the client sees. Raises `NotFound`, with the same text whether or not it exists for other clients."""
        wanted, seen = check_name(name or DEFAULT), self.names()
        if wanted not in seen:
            near = nearest_text(nearest(wanted, seen))
            raise NotFound(f"there is no collection {wanted!r}; {near}push makes it")
        return self.collections.existing(wanted)

    def choose_project_id(self, project_id: str) -> str:
        """The project of a pushed text: as given, else the client's only. Raises `InvalidRequest` and `NotFound`."""
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
        """The collections that there are for the client: all, or those that hold something of its projects."""
        names = self.collections.names()
        if self.project_ids is None:
            return names
        return [name for name in names if self.collections.existing(name).count(self.seen_filters())]

    def seen_filters(self, project_id: str = "") -> MemoryFilters:
        """The filters for what the client sees, of one project id or all. Raises `NotFound`."""
        if project_id:
            self.check_seen(project_id)
            return MemoryFilters((Scope.GLOBAL,), project_ids=(project_id,))
        return MemoryFilters((Scope.GLOBAL,), project_ids=self.project_ids)

    def make_filters(
        self, project_id: str, memory_type: str, tags: tuple[str, ...], time_range: Mapping[str, object]
    ) -> tuple[MemoryFilters, UsedFilters]:
        """The filters of a request, as `seen_filters`, and in its own words."""
        since, until = read_times(time_range)
        filters = replace(
            self.seen_filters(project_id.strip()), tags=tags, memory_type=MemoryType(memory_type) if memory_type else None,
            since=since, until=until,
        )  # fmt: skip
        return filters, UsedFilters(project_id.strip(), memory_type, tags, since, until)

    def describe(self, name: str) -> PushedCollection:
        """One collection, as far as the client sees it."""
        store = self.collections.existing(name)
        # For a caller that sees some projects alone: the collection's own size would tell that others have pushed to it.
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
        """The number of chunks without vectors; it is counted for all projects alone."""
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
        """The tags of what the client sees, of one project id or all. Raises `NotFound`."""
        filters = self.seen_filters(project_id.strip())
        stores = map(self.collections.existing, self.names())
        return {tag for store in stores for memory in store.find(filters) for tag in memory.metadata.tags}
