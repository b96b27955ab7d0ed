"""The words of rag-ls as data: chunks, memories, hits and answers. No I/O happens here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Scope(StrEnum):
    """Where a memory lives, the nearest first."""

    SESSION = "session"
    PROJECT = "project"
    GLOBAL = "global"


class MemoryType(StrEnum):
    """What kind of knowledge a memory holds."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"


class Freshness(StrEnum):
    """What a hit was read from, compared with the document as it is now."""

    BUFFER = "buffer"
    """An editor's unsaved text."""
    DISK = "disk"
    """Equal to the file at the moment of the answer."""
    CHANGED = "changed"
    """The file has changed since it was indexed; its re-index is queued."""


class AnchorState(StrEnum):
    """How the code that a memory is about compares with the code when it was stored."""

    FRESH = "fresh"
    DRIFTED = "drifted"
    ORPHANED = "orphaned"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document along syntax boundaries.

    The chunks of a document, in the order of `ordinal`, partition it: their `text`s joined give
    the document back, and each `start_byte` equals the `end_byte` of the chunk before it.
    """

    path: str
    """Relative to the project's root, with `/`; absolute or a URI for a guest document."""
    language: str
    ordinal: int
    start_byte: int
    end_byte: int
    """Half-open, in bytes of the document encoded as UTF-8."""
    start_line: int
    end_line: int
    """1-based and inclusive; lines end at LF, CRLF or CR."""
    text: str
    """The chunk's own text, without `overlap`."""
    overlap: str = ""
    """The text right before `text`, repeated for context where a larger node was split."""
    symbol: str = ""
    """Qualified name, such as `Session.refresh`; empty where nothing is declared."""
    node_type: str = "text"
    parent_types: tuple[str, ...] = ()
    depth: int = 0
    is_declaration: bool = False
    signature: str = ""
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declaration of a document, as its outline lists it."""

    name: str
    """Qualified, such as `Session.refresh`."""
    kind: str
    """`function`, `type`, `value`, `module` or `section`."""
    start_line: int
    """1-based: the line of its first word, after comments and decorators."""
    end_line: int
    """1-based and inclusive."""
    signature: str
    doc: str
    exported: bool
    """Whether its module offers it to others, where the syntax shows it; else True."""


@dataclass(frozen=True, slots=True)
class Import:
    """What a document takes from elsewhere."""

    module: str
    """As written, without quotes: `os.path`, `./util`, `net/http`, `std::io`."""
    names: tuple[str, ...]
    """The names that are taken from it, `*` for all; empty for the module itself."""
    line: int


@dataclass(frozen=True, slots=True)
class Outline:
    """What a document declares and imports, in the order of the text."""

    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the index holds it."""

    id: str
    """Stable while path and text stay: an edit elsewhere in the file does not change it."""
    chunk: Chunk
    content_hash: str
    """SHA-256 of the chunk's own text, in hex."""
    session: str = ""
    """The editing session whose unsaved text this is; empty for text read from disk."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The place in the code that a memory is about."""

    path: str
    symbol: str = ""
    content_hash: str = ""
    start_line: int = 0
    state: AnchorState = AnchorState.FRESH
    project: str = ""
    """The root of the project that it is in, for a memory that several projects see; empty for a project's own."""


@dataclass(frozen=True, slots=True)
class MemoryMetadata:
    """What a caller may say about a memory besides its content."""

    tags: tuple[str, ...] = ()
    source_file: str | None = None
    language: str | None = None
    chunk_index: int | None = None
    parent_id: str | None = None
    ast_node_type: str | None = None
    importance_score: float = 0.5
    custom: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Memory:
    """A text that a person or an agent stored on purpose."""

    id: str
    content: str
    scope: Scope
    metadata: MemoryMetadata
    memory_type: MemoryType
    created_at: str
    updated_at: str
    """RFC 3339, UTC."""
    version: int
    content_hash: str
    source_uri: str | None = None
    source_memory_ids: tuple[str, ...] = ()
    anchor: Anchor | None = None
    branch: str | None = None
    """The git branch that it is tied to; None for a memory that counts on all of them."""
    summary_key: str | None = None
    """What a summary is of; there is one summary for each key."""
    uses: int = field(default=0, compare=False)
    """How often it was recalled. Not part of the record: recalling a memory makes no version of it."""
    used_at: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """A memory as it was until `replaced_at`, and what replaced it there."""

    memory: Memory
    replaced_at: str
    reason: str
    """`updated`, `deleted`, `consolidated` or `restored`."""


class MemoryOrder(StrEnum):
    """In which order memories are listed, the greatest first."""

    UPDATED = "updated"
    CREATED = "created"
    IMPORTANCE = "importance"
    USES = "uses"
    LEAST_USED = "least_used"


@dataclass(frozen=True, slots=True)
class MemoryFilters:
    """What memories must be like; fields left alone let everything through."""

    scopes: tuple[Scope, ...] = tuple(Scope)
    tags: tuple[str, ...] = ()
    """Any one of them, in any case."""
    memory_type: MemoryType | None = None
    language: str = ""
    since: str = ""
    """When it was last changed, from here (RFC 3339, UTC)."""
    until: str = ""
    """And up to here, inclusive."""
    branch: str | None = None
    """Memories of other branches are left out; None lets those of all branches through, "" those of none."""
    never_used: bool = False
    anchored: bool = False
    no_summaries: bool = False

    @property
    def restricts(self) -> bool:
        """Whether it may leave many memories out; scopes are not looked at, and few memories are tied to a branch."""
        return self != MemoryFilters(self.scopes, branch=self.branch)


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result, its score in 0..1 (comparable within one answer) and why it matched."""

    item: StoredChunk | Memory
    score: float
    matched_by: tuple[str, ...]
    freshness: Freshness | None = None
    """None for memories."""
    similarity: float | None = None
    """How close in meaning, 0..1, on the scale of `[search] min_similarity`; None for chunks, and where no model answered."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a project each tier of its index holds, in percent; 100 only where nothing is left to do."""

    words: int = 100
    """Of the files, found by names, words and paths."""
    vectors: int = 100
    """Found by meaning too."""

    @classmethod
    def of(cls, *, documents: int, queued: int, chunks: int, pending: int) -> Coverage:
        """From what is there and what is to do: files that wait to be read, chunks that wait for their vectors."""
        words = documents / (documents + queued) if queued else 1.0
        embedded = 1 - pending / max(chunks, pending) if pending else 1.0
        return cls(int(100 * words), int(100 * words * embedded))


@dataclass(frozen=True, slots=True)
class SearchStats:
    """How an answer came about, and what it could not see."""

    took_ms: float
    dense: bool
    """False when the model was not ready and the answer is lexical only."""
    candidates: int
    complete: bool
    """False while documents or embeddings of the project are still queued."""
    pending_documents: int = 0
    pending_embeddings: int = 0
    coverage: Coverage = Coverage()
    note: str = ""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The hits for one query, best first."""

    query: str
    hits: tuple[Hit, ...]
    stats: SearchStats
