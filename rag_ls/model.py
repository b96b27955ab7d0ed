"""The words of rag-ls as data: chunks, memories, hits and answers. No I/O happens here."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from typing import NamedTuple

from rag_ls.util.records import dataclass, field


class Scope(StrEnum):
    """The scopes of memories, the nearest first."""

    SESSION = "session"
    PROJECT = "project"
    GLOBAL = "global"


class MemoryType(StrEnum):
    """The kind of knowledge in a memory."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"


class Freshness(StrEnum):
    """The source of a hit's text, and how it compares with the present document."""

    BUFFER = "buffer"
    """An editor's unsaved text."""
    DISK = "disk"
    """Equal to the file at the moment of the answer."""
    CHANGED = "changed"
    """The file has changed since it was indexed; its re-index is queued."""
    PUBLISHED = "published"
    """As a team published it on a server; there is no checkout here to compare it with."""


class AnchorState(StrEnum):
    """The state of a memory's code, compared with the code when the memory was stored."""

    FRESH = "fresh"
    DRIFTED = "drifted"
    ORPHANED = "orphaned"
    UNKNOWN = "unknown"
    """Its place cannot be read just now, or what is stored of it is damaged."""


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
    """Text before `text`, repeated for context: the end of what a larger node was split from, or the line that opens a fence."""
    symbol: str = ""
    """The qualified name, such as `Session.refresh`; empty if nothing is declared."""
    node_type: str = "text"
    parent_types: tuple[str, ...] = ()
    depth: int = 0
    is_declaration: bool = False
    signature: str = ""
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declaration in a document's outline."""

    name: str
    """The qualified name, such as `Session.refresh`."""
    kind: str
    """`function`, `type`, `value`, `module` or `section`."""
    start_line: int
    """1-based: the line of its first word, after comments and decorators."""
    end_line: int
    """1-based and inclusive."""
    signature: str
    doc: str
    exported: bool
    """Whether its module exports it, if the syntax shows that; else True."""


@dataclass(frozen=True, slots=True)
class Import:
    """An import in a document."""

    module: str
    """The name as written, without quotes: `os.path`, `./util`, `net/http`, `std::io`."""
    names: tuple[str, ...]
    """The imported names, `*` for all; empty for the module itself."""
    line: int
    uses: tuple[str, ...] = ()
    """The members that the document uses: `Name` of the module itself, `name.member` of an imported name."""
    aliases: tuple[tuple[str, str], ...] = ()
    """Imported names that have another name here: `(name, alias)`."""


class UseKind(IntEnum):
    """The way in which a name is used at a place."""

    MENTION = 0
    CALL = 1
    IMPLEMENT = 2
    """A base class, trait or interface of a declaration."""
    IMPORT = 3


class Use(NamedTuple):
    """A name in code, at one place. A tuple, because a document has thousands."""

    name: str
    kind: UseKind
    line: int
    """1-based."""
    column: int
    """In bytes of UTF-8, from 0."""
    receiver: str = ""
    """The text that it is taken from, its parts joined by dots: `self.store` in `self.store.save()`; `Store()` for a call's
    result; `?` where that is another expression; empty for a bare name."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The declarations and imports of a document, in the order of the text."""

    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    own_names: tuple[str, ...] = ()
    """The names that it uses without an import of their own (`languages.own_names`)."""


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the index holds it."""

    id: str
    """Stable while path and text stay: an edit elsewhere in the file does not change it."""
    chunk: Chunk
    content_hash: str
    """SHA-256 of the chunk's own text, in hex."""
    session: str = ""
    """The editing session of unsaved text; empty for text read from disk."""


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
    fingerprint: str = ""
    """The fingerprint of the declaration's code (`memory.fingerprints`); empty for a whole file, and for old anchors."""
    body: str = ""
    """The same without the declaration's own name."""
    sketch: str = ""
    """Tells how alike another declaration is."""
    neighbours: str = ""
    """The hashes of the names that the file declared."""
    line_offset: int = 0
    """The remembered line, counted from the declaration's first one."""
    line_print: str = ""
    """The print of the remembered line; empty if the whole declaration is meant."""
    file_hash: str = ""
    """SHA-256 of the file, if the whole file is meant: its copy elsewhere is what it became."""
    former_symbol: str = ""
    """The name that the declaration had when it was anchored, if it has another one now. It is not stored."""


@dataclass(frozen=True, slots=True)
class MemoryMetadata:
    """The optional data that a caller gives with a memory's content."""

    tags: tuple[str, ...] = ()
    source_file: str | None = None
    language: str | None = None
    chunk_index: int | None = None
    parent_id: str | None = None
    ast_node_type: str | None = None
    importance_score: float = 0.5
    custom: Mapping[str, object] = field(default_factory=dict)


PRIVATE = "private"
"""A memory with this tag is not shared with a team."""


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
    """The git branch that it is tied to; None if it counts on all branches."""
    summary_key: str | None = None
    """The key of a summary; each key has only one summary."""
    project_id: str | None = None
    """The name under which a program pushed it into a collection; None for a memory of a person or an agent."""
    uses: int = field(default=0, compare=False)
    """The number of times that it was recalled. Not part of the record, because a recall makes no new version."""
    used_at: str | None = field(default=None, compare=False)

    def may_be_one_with(self, other: Memory) -> bool:
        """Whether this and another memory with the same text may become one: nothing else of either would be lost.

        A private one stays apart from one that a team shares, which would be gone for the others.
        """
        traits = [(each.branch, each.memory_type, PRIVATE in each.metadata.tags) for each in (self, other)]
        return traits[0] == traits[1] and (self.place == other.place or not (self.place and other.place))

    @property
    def place(self) -> tuple[str, ...]:
        """The code that it is about; empty for none."""
        if anchor := self.anchor:
            return (anchor.project, anchor.path, anchor.symbol or str(anchor.start_line))
        return (self.metadata.source_file,) if self.metadata.source_file else ()


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """A memory's version until `replaced_at`, and why it was replaced."""

    memory: Memory
    replaced_at: str
    reason: str
    """`updated`, `deleted`, `consolidated` or `restored`."""


class MemoryOrder(StrEnum):
    """The order of listed memories, the greatest value first."""

    UPDATED = "updated"
    CREATED = "created"
    IMPORTANCE = "importance"
    USES = "uses"
    LEAST_USED = "least_used"


@dataclass(frozen=True, slots=True)
class MemoryFilters:
    """Conditions on memories; a field with its default allows everything."""

    scopes: tuple[Scope, ...] = tuple(Scope)
    tags: tuple[str, ...] = ()
    """Memories with any of these tags, in any case."""
    memory_type: MemoryType | None = None
    language: str = ""
    since: str = ""
    """The earliest time of the last change (RFC 3339, UTC)."""
    until: str = ""
    """The latest time of the last change, inclusive."""
    branch: str | None = None
    """Leaves out memories of other branches. None allows all branches, "" only memories without a branch."""
    never_used: bool = False
    anchored: bool = False
    no_summaries: bool = False
    project_ids: tuple[str, ...] | None = None
    """In a collection: what was pushed under any of these names."""
    source_uri: str = ""
    """In a collection: what was pushed from this source."""

    @property
    def restricts(self) -> bool:
        """Whether it may leave out many memories. Ignores scopes, and branch, because few memories are tied to one."""
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
    """The similarity in meaning (0..1, as `[search] min_similarity`); None for chunks, or if no model answered."""
    why: str = ""
    """The evidence for a chunk, in a few words; empty where nobody asked in words."""
    offset: int = 0
    """The character at which the part of a long memory begins that answers."""
    superseded_by: str = ""
    alike: tuple[str, ...] = ()
    """The other data files that answer by the text of the same key."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A line that holds a literal text or matches a regular expression."""

    path: str
    line: int
    """From 1."""
    column: int
    """The column of the match, in characters from 1."""
    byte_column: int
    """The same in bytes, as grep counts."""
    text: str
    """The line, or what is around the match if it is very long."""
    is_whole: bool
    """Whether no letter, digit or `_` continues the match."""
    role: int = 0
    """0 in code, 1 in tests, 2 in documentation and data."""
    symbol: str = ""
    """The innermost declaration around it; empty outside of all, and in files that are not cut yet."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The indexed share of a project in percent, by tier; 100 only if nothing is left to do."""

    words: int = 100
    """The share that is found by names, words and paths."""
    vectors: int = 100
    """The share that is also found by meaning."""

    @classmethod
    def of(cls, *, documents: int, queued: int, chunks: int, pending: int) -> Coverage:
        """Compute the coverage from the indexed items, the queued files and the chunks without vectors."""
        words = documents / (documents + queued) if queued else 1.0
        embedded = 1 - pending / max(chunks, pending) if pending else 1.0
        return cls(int(100 * words), int(100 * words * embedded))


class Closeness(IntEnum):
    """Whether any hit may answer."""

    NONE = 0
    WEAK = 1
    """No place has the question's rarer words together, or is near enough in meaning: it may answer in other words."""
    CLOSE = 2


@dataclass(frozen=True, slots=True)
class SearchStats:
    """The statistics of an answer, and how complete it is."""

    took_ms: float
    dense: bool
    """False when the model was not ready and the answer is lexical only."""
    candidates: int
    complete: bool
    """False while documents or embeddings of the project are still queued."""
    pending_documents: int = 0
    pending_embeddings: int = 0
    coverage: Coverage = Coverage()
    notes: tuple[str, ...] = ()
    """Sentences for who asked."""
    absences: tuple[str, ...] = ()
    """That no file of the project holds the words or passes the filters: untrue of several projects unless all say it."""
    is_idle: bool = False
    """Whether work is left that nothing does now, because no client keeps the project open."""
    closeness: Closeness = Closeness.CLOSE
    """Of the hits of code; where none is close they are at most the two nearest."""
    is_read: bool = True
    """Whether all files were compared with the index, and none waits to be read."""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The hits for one query, best first."""

    query: str
    hits: tuple[Hit, ...]
    stats: SearchStats
