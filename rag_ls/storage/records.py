"""The records that storage takes and returns, besides chunks and memories."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag_ls.model import Chunk, Coverage, Import, Memory, StoredChunk
from rag_ls.util.records import dataclass

DISK = ""
"""The session of text that was read from disk."""
INDEX_STORE = "index"
"""The name of the index in errors (`StoreError.store`)."""
SCANNED = "scanned"
"""The `meta` key that is set once the files were compared with the index."""

# File systems stamp times in ticks of up to two seconds (FAT): a file changed within the tick in
# which it was read can keep its stamp, so such a stamp proves nothing (git calls it racily clean).
_RACY_WINDOW_NS = 2_000_000_000

Vectors = NDArray[np.float32]


class Priority(IntEnum):
    """The order in which chunks are embedded, the highest first."""

    REST = 0
    RETURNED = 2
    """Chunks of a file that a search returned."""
    INTERACTIVE = 9
    """Chunks of an open document or a file that was just written: embedded even while the rest waits."""


@dataclass(frozen=True, slots=True)
class FileState:
    """The facts that identify the version of a file that was read."""

    size: int
    mtime_ns: int
    ctime_ns: int
    read_ns: int
    """The time of reading (wall clock)."""

    def same_stamp(self, other: FileState) -> bool:
        """Whether size and times agree."""
        return (self.size, self.mtime_ns, self.ctime_ns) == (other.size, other.mtime_ns, other.ctime_ns)

    @property
    def racy(self) -> bool:
        """Whether the file could have changed again without a new stamp."""
        return self.read_ns - max(self.mtime_ns, self.ctime_ns) < _RACY_WINDOW_NS


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document as the index knows it."""

    path: str
    language: str
    sha256: str
    state: FileState
    session: str = DISK
    id: int = 0
    secret_lines: int = 0
    """The number of its lines that are left out, because they hold secrets."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not indexed, and why."""

    path: str
    reason: str
    state: FileState


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A chunk to store, with the SHA-256 digest of the text that is embedded for it."""

    chunk: Chunk
    text_hash: bytes
    columns: tuple[str, ...] = ()
    """Its terms by column of the full-text index (`terms.columns_of`), where they were made already."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """The numbers of chunks that storing a document kept, added and removed."""

    kept: int
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that a signal found: its row, and the signal's own number (higher is better)."""

    row: int
    value: float


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A stored chunk with its document, read at one moment."""

    row: int
    stored: StoredChunk
    document: DocumentRecord
    text_hash: bytes
    """The SHA-256 of its embedded text, which is the address of its vector."""

    @property
    def document_id(self) -> int:
        """The row of its document."""
        return self.document.id

    @property
    def is_saved(self) -> bool:
        """Whether a file holds it, not an editor's unsaved text."""
        return self.document.session == DISK


def find_runs(found: Iterable[tuple[int, ChunkRow]]) -> dict[int, list[ChunkRow]]:
    """The consecutive chunks around each wanted one: `found` has the wanted row with each chunk of its symbol, in order."""
    return {
        row: _take_run([chunk for _, chunk in chunks], row) for row, chunks in groupby(found, key=lambda item: item[0])
    }


def _take_run(chunks: Iterable[ChunkRow], row: int) -> list[ChunkRow]:
    """Of one symbol's chunks in order, the consecutive ones that include this row."""
    run: list[ChunkRow] = []
    for chunk in chunks:
        if run and chunk.stored.chunk.ordinal != run[-1].stored.chunk.ordinal + 1:
            if any(item.row == row for item in run):
                break
            run = []
        run.append(chunk)
    return run


class RankRow(NamedTuple):
    """A chunk's data for ranking, without its text. A tuple, because each question makes hundreds."""

    row: int
    document_id: int
    path: str
    language: str
    symbol: str
    node_type: str
    is_declaration: bool
    ordinal: int
    text_hash: bytes
    """The digest of its embedded text; empty while the active model has no vector of it."""
    size: int
    """The size of its document in bytes."""
    lines: int
    """The number of its lines."""

    @property
    def declaration(self) -> tuple[int, str]:
        """The key of the declaration that it is a piece of; its own key if it has no symbol."""
        return self.document_id, self.symbol or f"#{self.ordinal}"

    @property
    def is_embedded(self) -> bool:
        """Whether the active model has a vector of it."""
        return bool(self.text_hash)


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """The numbers of items that a project's index holds, and of queued ones."""

    documents: int
    chunks: int
    queued_documents: int
    pending_embeddings: int
    buffers: int

    @property
    def coverage(self) -> Coverage:
        """The same in percent."""
        return Coverage.of(
            documents=self.documents, queued=self.queued_documents, chunks=self.chunks, pending=self.pending_embeddings
        )


@dataclass(frozen=True, slots=True)
class StoredSymbol:
    """A declaration with its document."""

    document_id: int
    path: str
    language: str
    symbol: str
    kind: str
    start_line: int
    end_line: int
    signature: str
    exported: bool


@dataclass(frozen=True, slots=True)
class StoredImport:
    """An import with its document."""

    document_id: int
    path: str
    imported: Import
    language: str


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A vector near another one: the hash of the text that it stands for, and the cosine similarity."""

    text_hash: bytes
    similarity: float


@dataclass(frozen=True, slots=True)
class Posting:
    """A chunk's entry for the full-text index."""

    row: int
    columns: tuple[str, ...]
    """Its terms by column (`terms.columns_of`)."""


@dataclass(frozen=True, slots=True)
class Hnsw:
    """The parameters of an HNSW graph (Malkov and Yashunin, 2016)."""

    m: int = 32
    ef_construction: int = 200
    ef_search: int = 50


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """The contents of an index, as read from outside without opening the project."""

    documents: int = 0
    chunks: int = 0
    embeddings: int = 0
    is_read: bool = False
    """Whether all files were read."""
    pending_embeddings: int = 0

    def is_complete(self, count_awaited: Callable[[int], int]) -> bool:
        """Whether nothing is missing; `count_awaited` tells how many of the texts without a vector will get one."""
        return self.is_read and not count_awaited(self.pending_embeddings)


@dataclass(frozen=True, slots=True)
class VersionChange:
    """The change that a batch made to one memory."""

    id: str
    before: int | None
    """Its version before; None if the batch inserted it."""
    after: int | None
    """Its version after; None if the batch deleted it."""


@dataclass(frozen=True, slots=True)
class Batch:
    """An operation that changed memories of one store together, and that can be undone as a whole."""

    id: str
    """The same in all stores that one operation changed."""
    kind: str
    """The operation: `consolidated`, `imported`, `restored`, `deleted`, `summarized` or `undone`."""
    at: str
    changes: tuple[VersionChange, ...]
    undone_at: str | None = None


@dataclass(frozen=True, slots=True)
class Backup:
    """The contents of a backup of memories."""

    place: str
    """The backup's place, for people."""
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Replacement:
    """A backup that was put in the place of damaged memories."""

    place: str
    count: int
    moved_aside: str | None
    """The new place of the damaged file."""


@dataclass(frozen=True, slots=True)
class StoredProject:
    """A project on a server."""

    name: str
    bytes: int
    """The space that it takes there; 0 if the server does not tell."""
    vectors: int
    """The estimated number of its vectors."""
    chunks: int = 0
    """The number of its published chunks, which are readable there."""


@dataclass(frozen=True, slots=True)
class Publication:
    """The stamp of a publication: which state of a project was published, and when."""

    model: str
    """The model of the vectors."""
    commit: str = ""
    """The commit that was checked out, with `+` behind it if files differed from it; empty without git."""
    branch: str = ""
    at: str = ""
    """The time when it was finished: RFC 3339, UTC."""
    is_changing: bool = False
    """Whether some files are otherwise: another one was begun and not finished, or could not send them."""


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file with its chunks and declarations."""

    path: str
    language: str
    size: int
    digest: str
    """Differs whenever anything that is published of the file does."""
    chunks: tuple[ChunkRow, ...]
    """With an empty `text_hash` where the model made no vector."""
    symbols: tuple[StoredSymbol, ...]
