"""What operations on collections answer, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rag_ls.operations.fields import optional


@dataclass(frozen=True, slots=True)
class PushedAnswer:
    """What became of a text."""

    collection: str
    chunks_indexed: int
    """New or changed."""
    chunk_size: int
    """Characters of the longest chunk."""
    inserted: int
    updated: int
    skipped_duplicates: int
    memory_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PushedMetadata:
    """What is kept with a chunk."""

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
class UsedFilters:
    """What was left out, in the words of the request."""

    project_id: str = optional("")
    memory_type: str = optional("")
    tags: tuple[str, ...] = optional(())
    start: str = optional("")
    end: str = optional("")
    limit: int | None = optional()
    score_threshold: float | None = optional()


@dataclass(frozen=True, slots=True)
class CollectionAnswer:
    """The chunks that answer a question, and a text of them for a prompt."""

    results: tuple[PushedResult, ...]
    context: str
    used_filters: UsedFilters
    note: str = optional("")


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


@dataclass(frozen=True, slots=True)
class PushedCollection:
    """One collection."""

    name: str
    vector_size: int
    count: int


@dataclass(frozen=True, slots=True)
class CollectionsAnswer:
    """All collections."""

    collections: tuple[PushedCollection, ...]


@dataclass(frozen=True, slots=True)
class NewCollectionAnswer:
    """A collection that there is now."""

    name: str
    status: str
    """created, resized or unchanged."""
    vector_size: int
    count: int


@dataclass(frozen=True, slots=True)
class CollectionMetricsAnswer:
    """What the collections hold."""

    documents: int
    chunks: int
    last_chunk_size: int
    collections: int
    types: Mapping[str, int]
    pending_embeddings: int


@dataclass(frozen=True, slots=True)
class FactsAnswer:
    """A fact that agents read as a resource: names, or figures, or a text."""

    what: str
    names: tuple[str, ...] = optional(())
    values: Mapping[str, object] = optional({})
    text: str = optional("")
