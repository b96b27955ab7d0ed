"""What storage takes and gives besides chunks and memories."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from rag_ls.model import Chunk, Coverage, Import, Memory, StoredChunk

DISK = ""
"""The session of text that was read from disk."""
INDEX_STORE = "index"
"""What errors call the index (`StoreError.store`)."""
SCANNED = "scanned"
"""The fact about an index that its files were compared with it at least once."""

# File systems stamp times in ticks of up to two seconds (FAT): a file changed within the tick in
# which it was read can keep its stamp, so such a stamp proves nothing (git calls it racily clean).
_RACY_WINDOW_NS = 2_000_000_000

Vectors = NDArray[np.float32]


class Priority(IntEnum):
    """In which order chunks are embedded, the highest first."""

    REST = 0
    RECENT = 1
    """Of a file that was changed lately."""
    RETURNED = 2
    """Of a file that a search gave."""
    IMPORTED = 3
    """Of a file that an open document imports."""
    INTERACTIVE = 9
    """Of an open document, or a file that was just written: embedded even where the rest waits."""


@dataclass(frozen=True, slots=True)
class FileState:
    """What identifies the version of a file that was read."""

    size: int
    mtime_ns: int
    ctime_ns: int
    read_ns: int
    """The wall clock when it was read."""

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
    """What storing a document changed, in chunks."""

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
    """A stored chunk with what ranking and freshness need, all of one moment."""

    row: int
    stored: StoredChunk
    document: DocumentRecord
    text_hash: bytes
    """SHA-256 of the text that is embedded for it: the address of its vector."""

    @property
    def document_id(self) -> int:
        """The row of its document."""
        return self.document.id


@dataclass(frozen=True, slots=True)
class RankRow:
    """What ranking needs of a chunk: all but its text."""

    row: int
    document_id: int
    path: str
    language: str
    symbol: str
    node_type: str
    is_declaration: bool
    ordinal: int
    is_embedded: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a project's index holds, and how much is queued."""

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
    """A declaration, and the document that it is in."""

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
    """An import, and the document that has it."""

    document_id: int
    path: str
    imported: Import


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A vector near another one: the hash of the text that it stands for, and the cosine similarity."""

    text_hash: bytes
    similarity: float


@dataclass(frozen=True, slots=True)
class Posting:
    """A chunk as the full-text index takes it."""

    row: int
    chunk_id: str
    columns: tuple[str, ...]
    """Its terms by column (`terms.columns_of`)."""
    session: str = DISK
    """The editing session whose unsaved text it is; such text never leaves the machine."""


@dataclass(frozen=True, slots=True)
class Hnsw:
    """How a graph of neighbours is built and searched (Malkov and Yashunin, 2016)."""

    m: int = 32
    ef_construction: int = 200
    ef_search: int = 50


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What an index holds, as one short look at it from outside says."""

    documents: int = 0
    chunks: int = 0
    embeddings: int = 0
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup of memories holds."""

    place: str
    """Where it is, for people."""
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Replacement:
    """A backup that was put in the place of damaged memories."""

    place: str
    count: int
    moved_aside: str | None
    """Where the damaged ones are now."""
