"""What operations answer, as data. Their JSON has the same names; the types of the VS Code extension are made from these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rag_ls.operations.fields import optional

# --- code


@dataclass(frozen=True, slots=True)
class CodeRecord:
    """A chunk, or more of its document around it."""

    kind: str
    id: str
    path: str
    start_line: int
    end_line: int
    language: str
    symbol: str
    node_type: str
    score: float
    matched_by: tuple[str, ...]
    freshness: str | None
    file: str = optional("")
    """Where an agent's own tools find the document: absolute, or a URI."""
    scope: str = optional("")
    """The declaration that it is a part of, where its text does not say."""
    why: str = optional("")
    """What speaks for it, in a few words."""
    context: str = optional("")
    text: str | None = optional()
    truncated: bool = optional(False)
    note: str = optional("")
    project: str = optional("")
    """The root, where several projects answer; the name of a published one."""


@dataclass(frozen=True, slots=True)
class Percent:
    """How much of a project each tier of its index holds."""

    words: int
    vectors: int


@dataclass(frozen=True, slots=True)
class Stats:
    """How an answer came about, and what it could not see."""

    took_ms: float
    dense: bool
    candidates: int
    complete: bool
    pending_documents: int | None = optional()
    pending_embeddings: int | None = optional()
    indexed_percent: Percent | None = optional()
    note: str = optional("")
    idle: bool = optional(False)
    """Whether nothing works on what is pending now."""


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """Chunks, best first."""

    query: str
    results: tuple[CodeRecord, ...]
    stats: Stats


@dataclass(frozen=True, slots=True)
class SymbolRecord:
    """A declaration."""

    path: str
    symbol: str
    kind: str
    start_line: int
    end_line: int
    signature: str
    exported: bool
    project: str = optional("")


@dataclass(frozen=True, slots=True)
class SymbolsAnswer:
    """Declarations."""

    symbols: tuple[SymbolRecord, ...]
    total: int
    note: str = optional("")


@dataclass(frozen=True, slots=True)
class TestRecord:
    """A document of tests, at the place in it that is nearest."""

    path: str
    file: str
    score: float
    why: tuple[str, ...]
    id: str = optional("")
    symbol: str | None = optional()
    start_line: int | None = optional()
    end_line: int | None = optional()
    mentioned_in: tuple[str, ...] = optional(())


@dataclass(frozen=True, slots=True)
class TestsAnswer:
    """Tests, those that most speaks for first."""

    tests: tuple[TestRecord, ...]
    note: str = optional("")


# --- memories


@dataclass(frozen=True, slots=True)
class AnchorRecord:
    """The place in the code that a memory is about."""

    path: str
    state: str
    symbol: str = optional("")
    line: int = optional(0)
    project: str = optional("")
    former_symbol: str = optional("")
    """The name that the declaration had, if it was renamed."""


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """What a caller said about a memory."""

    tags: tuple[str, ...] = optional(())
    source_file: str | None = optional()
    language: str | None = optional()
    chunk_index: int | None = optional()
    parent_id: str | None = optional()
    ast_node_type: str | None = optional()
    importance_score: float | None = optional()
    custom: Mapping[str, object] = optional({})


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """A former version of a memory."""

    version: int
    content: str
    metadata: MetadataRecord
    memory_type: str
    updated_at: str
    replaced_at: str
    reason: str


@dataclass(frozen=True, slots=True)
class EmbeddingRecord:
    """The vectors of a memory's parts."""

    model: str
    vectors: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory; in search answers with its score, alone with all that is known of it."""

    id: str
    content: str
    scope: str
    metadata: MetadataRecord
    memory_type: str
    created_at: str
    updated_at: str
    version: int
    anchor: AnchorRecord | None
    kind: str = optional("")
    truncated: bool = optional(False)
    branch: str = optional("")
    uses: int | None = optional()
    used_at: str | None = optional()
    summary_key: str | None = optional()
    content_hash: str = optional("")
    source_uri: str | None = optional()
    source_memory_ids: tuple[str, ...] | None = optional()
    score: float | None = optional()
    matched_by: tuple[str, ...] = optional(())
    similarity: float | None = optional()
    embedding: EmbeddingRecord | None = optional()
    history: tuple[VersionRecord, ...] | None = optional()
    deleted_at: str = optional("")
    reason: str = optional("")
    """Why it was deleted."""


@dataclass(frozen=True, slots=True)
class MemoryAnswer:
    """Memories, best first, and the same as a text with citations."""

    query: str
    results: tuple[MemoryRecord, ...]
    stats: Stats
    context: str


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Chunks and memories."""

    query: str
    results: tuple[CodeRecord | MemoryRecord, ...]
    stats: Stats


@dataclass(frozen=True, slots=True)
class BriefMemory:
    """A memory in a few words."""

    id: str
    content: str
    scope: str
    similarity: float | None = optional()
    """How surely it is about the same, 0 to 1, on the same scale for all models."""
    cosine: float | None = optional()
    """The cosine that the similarity comes from; consolidation merges by cosines."""
    contradicts: str = optional("")
    """Why both cannot hold, if it looks so."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What storing a memory did."""

    id: str
    status: str
    version: int
    scope: str
    anchor: AnchorRecord | None
    duplicate_of: str = optional("")
    known: tuple[BriefMemory, ...] = optional(())
    evicted: tuple[str, ...] = optional(())
    note: str = optional("")


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


@dataclass(frozen=True, slots=True)
class DeletedAnswer:
    """A memory that was deleted."""

    id: str
    deleted: bool
    scope: str


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
    """What to try where no memory passes."""
    happened: str = optional("")
    """What happened to the memories since they were asked for last: told once."""


@dataclass(frozen=True, slots=True)
class MergeRecord:
    """Memories that say the same."""

    kept: BriefMemory
    merged: tuple[BriefMemory, ...]
    cosine: float


@dataclass(frozen=True, slots=True)
class ContradictionRecord:
    """Two memories that cannot both hold."""

    memories: tuple[BriefMemory, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class ConsolidationAnswer:
    """What a consolidation did, or would do; or what taking it back restored."""

    dry_run: bool | None = optional()
    threshold: float | None = optional()
    merges: tuple[MergeRecord, ...] | None = optional()
    contradictions: tuple[ContradictionRecord, ...] | None = optional()
    never_recalled: tuple[BriefMemory, ...] | None = optional()
    undo: Mapping[str, str] | None = optional()
    restored: tuple[MemoryRecord, ...] | None = optional()


@dataclass(frozen=True, slots=True)
class ClearedAnswer:
    """How many memories were forgotten."""

    cleared: int


# --- looking after memories and indexes


@dataclass(frozen=True, slots=True)
class ScopeFigures:
    """What a scope holds."""

    memories: int
    types: Mapping[str, int]
    tags: Mapping[str, int]
    anchored: int
    never_recalled: int
    bytes: int
    newest: str | None
    model: str = optional("")
    not_embedded: int | None = optional()


@dataclass(frozen=True, slots=True)
class FiguresAnswer:
    """Figures by scope."""

    scopes: Mapping[str, ScopeFigures]


@dataclass(frozen=True, slots=True)
class OptimizedAnswer:
    """What was brought into its best shape."""

    optimized: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BytesRecord:
    """How large a file was, and is."""

    before: int
    after: int


@dataclass(frozen=True, slots=True)
class VacuumAnswer:
    """Space given back, by store."""

    bytes: Mapping[str, BytesRecord]


@dataclass(frozen=True, slots=True)
class ExportAnswer:
    """What was written."""

    exported: int
    scope: str
    output: str
    format: str


# --- the index, the engine, the projects


@dataclass(frozen=True, slots=True)
class LanguageRecord:
    """How much there is of a language."""

    documents: int
    chunks: int


@dataclass(frozen=True, slots=True)
class SkippedRecord:
    """A file that is not indexed, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ClientRecord:
    """Who is connected to the engine."""

    surface: str
    name: str
    pid: int | None
    connected_at: str


@dataclass(frozen=True, slots=True)
class LatencyRecord:
    """How long an operation takes, in milliseconds."""

    count: int
    p50_ms: float
    p95_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """A model that is loaded."""

    model: str
    ready: bool
    worker_pid: int | None


@dataclass(frozen=True, slots=True)
class EngineRecord:
    """The engine; with its clients and latencies, where they are asked for."""

    mode: str
    pid: int
    version: str
    uptime_s: float
    address: str | None = optional()
    log: str | None = optional()
    memory_bytes: int | None = optional()
    processor_s: float | None = optional()
    models: tuple[ModelRecord, ...] | None = optional()
    clients: tuple[ClientRecord, ...] | None = optional()
    latency: Mapping[str, LatencyRecord] | None = optional()


@dataclass(frozen=True, slots=True)
class OpenProjectRecord:
    """One of the engine's projects, in short."""

    root: str
    documents: int
    chunks: int
    queued_documents: int
    pending_embeddings: int
    activity: str
    clients: int


@dataclass(frozen=True, slots=True)
class ProjectStatusRecord:
    """How a project stands."""

    root: str
    complete: bool
    documents: int
    chunks: int
    queued_documents: int
    pending_embeddings: int
    indexed_percent: Percent
    unsaved_buffers: int
    skipped: Mapping[str, int]
    activity: str
    sync: str
    last_sync: str | None
    model: str
    model_ready: bool
    memories: Mapping[str, int]
    note: str = optional("")
    share_problem: str = optional("")
    """Why vectors or memories are not shared with the team."""
    languages: Mapping[str, LanguageRecord] | None = optional()
    """Told with `details` alone, as what follows."""
    skipped_files: tuple[SkippedRecord, ...] | None = optional()
    engine: EngineRecord | None = optional()
    projects: tuple[OpenProjectRecord, ...] | None = optional()


@dataclass(frozen=True, slots=True)
class StatusAnswer:
    """How the projects of a client stand, and the engine."""

    version: str
    complete: bool
    projects: tuple[ProjectStatusRecord, ...]
    engine: EngineRecord


@dataclass(frozen=True, slots=True)
class ReindexAnswer:
    """The projects whose files are being compared."""

    started: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScanAnswer:
    """How the indexed projects stand."""

    complete: bool
    projects: tuple[ProjectStatusRecord, ...]


@dataclass(frozen=True, slots=True)
class RepoRecord:
    """A project that can be named."""

    name: str
    root: str
    source: str
    open: bool
    documents: int
    chunks: int
    complete: bool
    branch: str
    bytes: int
    last_opened: str | None
    missing: bool = optional(False)
    note: str = optional("")


@dataclass(frozen=True, slots=True)
class ReposAnswer:
    """The projects that can be named."""

    repos: tuple[RepoRecord, ...]
    problems: tuple[str, ...] = optional(())
    published: tuple[str, ...] = optional(())
    """Projects that a team published on its server: only search_code knows them."""


@dataclass(frozen=True, slots=True)
class AddedProjectAnswer:
    """A project that is known by name now."""

    name: str
    root: str
    source: str
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    branch: str
    note: str


@dataclass(frozen=True, slots=True)
class ConfigLines:
    """Where the user's settings list a project."""

    file: str
    first_line: int | None
    last_line: int | None


@dataclass(frozen=True, slots=True)
class RemovalRecord:
    """What removing a project deletes."""

    name: str
    root: str
    source: str
    reason: str
    documents: int
    chunks: int
    embeddings: int
    bytes: int
    memories: int | None
    memory_bytes: int
    files: tuple[str, ...]
    config: ConfigLines | None
    copy: str = optional("")
    """Where a copy of the deleted memories stays."""
    shared_with: tuple[str, ...] = optional(())
    """Other work trees and clones that have the same memories."""


@dataclass(frozen=True, slots=True)
class RemovalPlan:
    """What would be removed."""

    projects: tuple[RemovalRecord, ...]
    memories: bool


@dataclass(frozen=True, slots=True)
class RemovedAnswer:
    """What was removed."""

    removed: tuple[RemovalRecord, ...]
    memories: bool
