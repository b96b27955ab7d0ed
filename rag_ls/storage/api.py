"""The interfaces (ports) of storage, whatever holds the rows and vectors.

The data of one checkout (documents, unsaved text, queue, outlines) is always local: `CheckoutIndex`. Data that can be
large, shared or remote has its own port: vectors, addressed by the texts that they stand for (`VectorStore`), postings
(`LexicalIndex`) and memories (`MemoryStore`). Each port has one contract test suite, in `tests/storage/contracts`.

Every method may raise `StoreUnavailable`, `StoreDamaged` or `StoreFull`, which name the store. All are safe from
several threads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag_ls.model import Chunk, Memory, MemoryFilters, MemoryOrder, MemoryVersion, Outline, Scope
from rag_ls.storage.records import (
    DISK,
    Backup,
    Batch,
    ChunkRow,
    DocumentRecord,
    IndexCounts,
    Neighbour,
    NewChunk,
    Posting,
    Priority,
    Replaced,
    Skipped,
    StoredImport,
    StoredSymbol,
    Vectors,
)
from rag_ls.storage.search_api import (
    AnsweringModel,
    SearchedChunks,
    SearchedDocuments,
    SearchedOutlines,
    SearchedPostings,
)

Vector = NDArray[np.float32]
"""A vector of shape (dimensions,) and length one."""


class VectorStore(Protocol):
    """Vectors by model and by the SHA-256 digest of the text that they stand for. A stored vector never changes.

    `model` is a name with its revision: vectors of equal models can be compared.
    """

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        """Store vectors of shape (len(text_hashes), dimensions) and length one; existing ones are not replaced.

        Raises `ValueError` for NaN, infinite or zero vectors, and then stores none: they would spoil every search.
        """
        ...

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        """The existing vectors of these texts."""
        ...

    def similarities(self, model: str, query: Vector, text_hashes: Collection[bytes]) -> dict[bytes, float]:
        """The cosine similarity of `query` (of length one) to each of these texts that has a vector."""
        ...

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        """The texts among `text_hashes` that have no vector of this model."""
        ...

    def nearest(self, model: str, query: Vector, count: int, among: Collection[bytes] | None = None) -> list[Neighbour]:
        """The `count` vectors nearest to `query` (of length one), best first; `among` restricts them to some texts.

        Sees the commits of all processes at once.
        """
        ...

    def maintain(self) -> None:
        """Make searching fast and small, if it pays. Call it in a background thread, because it takes a while."""
        ...

    def close(self) -> None:
        """Stop background work."""
        ...


class LexicalIndex(SearchedPostings, Protocol):
    """The full-text index. Its rows are chunk rows of the checkout that it belongs to."""

    def add(self, postings: Iterable[Posting]) -> None:
        """Index chunks that were just stored."""
        ...

    def remove(self, rows: Collection[int]) -> None:
        """Remove chunks that are about to be deleted; they must still be stored."""
        ...


class ChunkReader(SearchedChunks, Protocol):
    """Looks chunks of a checkout up, those of unsaved text among them."""

    def with_content(self, digest: str) -> list[ChunkRow]:
        """All chunks whose own text has this SHA-256 (hex), by path."""
        ...

    def of_symbol(self, symbol: str) -> list[ChunkRow]:
        """All chunks of the symbol with exactly this qualified name, by path."""
        ...

    def of_document(self, document_id: int) -> list[ChunkRow]:
        """A document's chunks in order."""
        ...


class Outlines(SearchedOutlines, Protocol):
    """The declarations and imports of a checkout's documents."""

    def named(self, names: Collection[str], limit: int) -> list[StoredSymbol]:
        """Declarations whose last name, lower-case, is one of `names`; exported ones first."""
        ...

    def containing(self, part: str, limit: int) -> list[StoredSymbol]:
        """Declarations whose lower-case last name without `_`, `-` and spaces contains `part`; exported ones first."""
        ...

    def imports(self, documents: Collection[int] | None = None) -> list[StoredImport]:
        """The imports of some documents, or of all."""
        ...

    def importers(self, keys: Collection[str]) -> list[StoredImport]:
        """The imports with one of these keys (`import_keys`)."""
        ...

    def own_names(self, documents: Collection[int]) -> dict[str, tuple[str, ...]]:
        """The names that some documents use without an import of their own, by path; without those that use none."""
        ...


class ReadingQueue(Protocol):
    """The files that wait to be read. The queue outlives the process."""

    def add(self, paths: Iterable[str]) -> None:
        """Queue files to be read."""
        ...

    def paths(self) -> list[str]:
        """The files that wait to be read, by path."""
        ...

    def has_any(self) -> bool:
        """Whether any file waits to be read."""
        ...

    def holds(self, path: str) -> bool:
        """Whether a file waits to be read."""
        ...

    def unknown_count(self) -> int:
        """The number of waiting files that were never read before."""
        ...

    def all_read_since(self, paths: Collection[str], since_ns: int) -> bool:
        """Whether each of some files was read after `since_ns` (wall clock), or does not wait to be read."""
        ...


class PendingEmbeddings(AnsweringModel, Protocol):
    """Tracks which chunks of a checkout lack vectors. The `VectorStore` holds the vectors."""

    def activate(self, model: str) -> None:
        """Make `model` the one that answers searches; chunks without a vector of it become pending."""
        ...

    def pending(
        self, model: str, limit: int, *, interactive_only: bool = False, saved_only: bool = False
    ) -> list[tuple[bytes, Chunk]]:
        """Chunks without a vector of `model`, by priority: (hash of the embedded text, what to embed).

        `saved_only` leaves out unsaved text, which must not leave the machine.
        """
        ...

    def pending_count(self, model: str, *, saved_only: bool = False) -> int:
        """The number of chunks without a vector of `model`."""
        ...

    def withhold_unsaved(self) -> None:
        """Note that unsaved text is to be found by its words alone, so that its chunks are no longer pending."""
        ...

    def waiting_hashes(self, model: str, *, saved_only: bool = False) -> list[bytes]:
        """The hashes of the texts without a vector of `model`, each once."""
        ...

    def saved_hashes(self, among: Collection[bytes] | None = None) -> list[bytes]:
        """The hashes of embedded texts that files hold, not unsaved documents alone; of all, or of some texts."""
        ...

    def note_embedded(self, text_hashes: Collection[bytes]) -> None:
        """Note that the active model has vectors of these texts, so that their chunks are no longer pending."""
        ...

    def refuse(self, text_hash: bytes) -> None:
        """Note that the model makes no usable vector of this text, so that its chunks are no longer pending."""
        ...

    def prefer(self, documents: Collection[int], priority: Priority) -> None:
        """Raise the embedding priority of some documents' chunks."""
        ...


class CheckoutIndex(SearchedDocuments, Protocol):
    """The data of one checkout. All writes of one call commit together."""

    @property
    def chunks(self) -> ChunkReader:
        """Its chunks, for reading."""
        ...

    @property
    def outlines(self) -> Outlines:
        """Its declarations and imports."""
        ...

    @property
    def queue(self) -> ReadingQueue:
        """The files that wait to be read."""
        ...

    @property
    def embeddings(self) -> PendingEmbeddings:
        """The chunks that wait for vectors."""
        ...

    def together(self) -> AbstractContextManager[None]:
        """Commit several writes together; other writers wait meanwhile."""
        ...

    def changes(self) -> int:
        """A number that differs after every commit of any thread or process."""
        ...

    def files_at(self, path: str, *, with_skipped: bool = False, at_most: int = -1) -> list[str]:
        """The files that are indexed or queued, and on request skipped: the one at a path, or those below the folder there.

        At most `at_most` of them if it is not negative.
        """
        ...

    def replace_document(
        self,
        document: DocumentRecord,
        chunks: Sequence[NewChunk],
        *,
        outline: Outline = ...,
        priority: Priority = ...,
    ) -> Replaced:
        """Store a document's chunks and outline in place of its former ones; unchanged chunks keep their rows.

        `priority` orders the embedding of the new chunks, higher first. The path leaves the queue.
        """
        ...

    def touch_document(self, document: DocumentRecord) -> None:
        """Record a file's new state: it was checked, and still holds the indexed text."""
        ...

    def remove_documents(self, paths: Iterable[str], session: str = DISK) -> int:
        """Drop documents with their chunks, queue and skip entries; returns how many there were."""
        ...

    def forget_documents(self, paths: Iterable[str]) -> int:
        """As `remove_documents`, for files that must not be read any more: nothing of them stays in the store's files.

        Vectors of texts that no other document holds go as well.
        """
        ...

    def remove_session(self, session: str) -> None:
        """Drop all unsaved documents of an editing session."""
        ...

    def forget_digests(self) -> None:
        """Make every file count as changed, so that the next read cuts it again."""
        ...

    def skip(self, skipped: Skipped) -> None:
        """Record why a file is not indexed, and drop its indexed document."""
        ...

    def skipped(self, at_most: int = -1) -> dict[str, Skipped]:
        """The files that are not indexed, by path; at most `at_most` of them if it is not negative."""
        ...

    def skipped_counts(self) -> dict[str, int]:
        """How many files are not indexed for each reason."""
        ...

    def meta(self, key: str) -> str | None:
        """A fact about the index as a whole, or None."""
        ...

    def set_meta(self, key: str, value: str) -> None:
        """Record a fact about the index as a whole."""
        ...

    def counts(self) -> IndexCounts:
        """The numbers of indexed and queued items; unsaved documents are counted separately."""
        ...

    def queue_lengths(self) -> tuple[int, int]:
        """The numbers of documents to read and of chunks to embed."""
        ...

    def language_counts(self) -> dict[str, tuple[int, int]]:
        """The numbers of documents and chunks by language, the most chunks first; without unsaved documents."""
        ...

    def optimise(self) -> None:
        """Optimise the index."""
        ...

    def vacuum(self) -> tuple[int, int]:
        """Release free space; returns the size in bytes before and after."""
        ...

    def close(self) -> None:
        """Close the index."""
        ...


class MemoryVectors(Protocol):
    """The vectors of a store's memories: one for each part of a memory's content, of length one."""

    def add(self, memory_id: str, model: str, content_hash: str, parts: Vectors) -> None:
        """Keep the vectors of a memory's parts, shape (parts, dimensions); of none that was changed meanwhile.

        Raises `ValueError` for vectors that are zero or not finite.
        """
        ...

    def of(self, memory_id: str, model: str) -> Vectors:
        """The vectors of one memory, shape (parts, dimensions); (0, 0) if it has none."""
        ...

    def all_of(self, contents: Mapping[str, str]) -> list[tuple[str, str, NDArray[np.float16]]]:
        """The stored vectors of several memories: (id, model, shape (parts, dimensions)), sorted by id and model.

        `contents` maps ids to content hashes; vectors of other content are left out.
        """
        ...

    def dimensions(self, model: str) -> int | None:
        """The dimensions of a model's vectors; None if there are none."""
        ...

    def missing(self, model: str, limit: int) -> list[tuple[str, str, str]]:
        """Memories that `model` has not embedded yet: (id, content, content hash)."""
        ...

    def missing_count(self, model: str) -> int:
        """How many memories `model` has not embedded yet."""
        ...

    def nearest(self, query: Vector, model: str, filters: MemoryFilters, count: int) -> list[tuple[str, float]]:
        """The ids of the `count` memories closest to a vector, each with the cosine of its closest part, best first."""
        ...

    def cosines(self, query: Vector, model: str, ids: Collection[str]) -> dict[str, float]:
        """The cosine of each memory's closest part with a vector, by id; memories without vectors are left out."""
        ...

    def centres(self, model: str, filters: MemoryFilters) -> tuple[list[str], Vectors]:
        """The mean direction of each memory's parts: ids, and vectors of shape (n, dimensions)."""
        ...

    def maintain(self) -> None:
        """Make searching fast in the background, if it pays."""
        ...

    def optimise(self, model: str) -> None:
        """Make searching fast now."""
        ...


class MemoryStore(Protocol):
    """The memories of one scope. Every change keeps the former version. The scopes of filters are ignored."""

    @property
    def scope(self) -> Scope:
        """The scope of all its memories."""
        ...

    @property
    def place(self) -> str:
        """The place of the memories, for people; empty for RAM."""
        ...

    @property
    def vectors(self) -> MemoryVectors:
        """The memories' vectors."""
        ...

    @property
    def unused_s(self) -> float:
        """Seconds since the last call."""
        ...

    def let_go(self) -> bool:
        """Close the files and drop what was read from them; whether none is open. All is opened again when it is needed."""
        ...

    @property
    def was_written(self) -> bool:
        """Whether another process wrote the file since it was let go. Opens nothing."""
        ...

    def newest(self) -> tuple[int, str, int]:
        """A value that differs after a memory was stored, changed or deleted, but not after a recall."""
        ...

    def changes(self) -> int:
        """A number that differs after every commit of any process."""
        ...

    def transaction(self) -> AbstractContextManager[object]:
        """A transaction: reads and writes inside commit together, and no other writer comes between."""
        ...

    def insert(self, memory: Memory) -> None:
        """Store a new memory."""
        ...

    def replace(self, memory: Memory, *, reason: str = "updated") -> None:
        """Store a memory's new version; the former one goes to its history. Raises `KeyError` for an unknown id."""
        ...

    def touch(self, memory_id: str, updated_at: str) -> None:
        """Note that the very same was stored again; that makes no version."""
        ...

    def delete(self, memory_id: str, *, reason: str = "deleted") -> bool:
        """Delete a memory, but keep its last version in the history; whether there was one."""
        ...

    def clear(self) -> int:
        """Delete everything, even the history; returns the number of memories. Only for a session's store."""
        ...

    def evict(self, limit: int, keep: str = "") -> list[str]:
        """Delete down to `limit` memories, the least important and then the oldest first; returns their ids."""
        ...

    def get(self, memory_id: str) -> Memory | None:
        """One memory by its id, or None."""
        ...

    def by_ids(self, ids: Collection[str]) -> dict[str, Memory]:
        """The existing memories among these ids, by id."""
        ...

    def with_content(self, content_hash: str, branch: str | None = None) -> Memory | None:
        """The memory with exactly this content on this branch, or None. Summaries and pushed texts do not count."""
        ...

    def pushed(self, content_hash: str, project_id: str) -> list[Memory]:
        """In a collection: what was pushed under this name with exactly this content, once for each source."""
        ...

    def summary(self, summary_key: str) -> Memory | None:
        """The summary with this key, or None."""
        ...

    def twin(self, memory: Memory) -> Memory | None:
        """Another memory with the same content and branch, or with the same summary key; else None."""
        ...

    def all(self, *, anchored_only: bool = False) -> list[Memory]:
        """Every memory (or every one with an anchor), the newest change first."""
        ...

    def find(
        self, filters: MemoryFilters = ..., order: MemoryOrder = ..., limit: int = -1, offset: int = 0
    ) -> list[Memory]:
        """The memories that pass the filters; only a page of them if `limit` is not negative."""
        ...

    def count(self, filters: MemoryFilters = ...) -> int:
        """The number of memories that pass the filters."""
        ...

    def ids_starting(self, prefix: str) -> list[str]:
        """Ids that start with `prefix`, so that a person can give an id's first characters."""
        ...

    def former_ids_starting(self, prefix: str) -> list[str]:
        """Ids of changed or deleted memories that start with `prefix`."""
        ...

    def history(self, memory_id: str) -> list[MemoryVersion]:
        """The former versions of a memory, the newest first; also of one that was deleted."""
        ...

    def keep_version(self, version: MemoryVersion) -> None:
        """Add a former version to a memory's history, unless it has one of that number."""

    def about(self, path: str, symbols: Collection[str], content_hashes: Collection[str]) -> list[Memory]:
        """Memories whose anchors may be in a document: by its path, its symbols, or the hashes of its chunks."""
        ...

    def lexical(self, terms: Sequence[str], limit: int, filters: MemoryFilters = ...) -> dict[str, float]:
        """BM25 by id of the memories that hold any of the terms (higher is better), best first."""
        ...

    def frequency(self, term: str, most: int) -> int:
        """How many memories hold a term, counted up to `most`."""
        ...

    def tagged(self, words: Collection[str], limit: int, filters: MemoryFilters = ...) -> dict[str, float]:
        """For each memory id, how many of the words are its tags; the most first, then the newest."""
        ...

    def tag_counts(self) -> dict[str, int]:
        """How many memories have each tag, the most frequent first."""
        ...

    def type_counts(self) -> dict[str, int]:
        """How many memories there are of each type."""
        ...

    def note_uses(self, ids: Iterable[str], at: str) -> None:
        """Count memories as recalled. Written in the background, so that the answer does not wait."""
        ...

    def versions(self) -> dict[str, int]:
        """The version of each memory, by its id."""
        ...

    def deleted(self, limit: int, offset: int = 0) -> tuple[list[MemoryVersion], int]:
        """A page of the last versions of deleted memories, the latest deletion first, and how many there are.

        A negative `limit` means all.
        """
        ...

    def add_batch(self, batch: Batch) -> None:
        """Record what an operation changed, so that it can be undone."""
        ...

    def batches(self, limit: int = -1) -> list[Batch]:
        """The recorded batches, the latest first."""
        ...

    def note_undone(self, batch_id: str, at: str) -> None:
        """Record that a batch was undone."""
        ...

    def backup(self, now: datetime | None = None, *, always: bool = False) -> Path | None:
        """Back the memories up if it is due, or `always`; returns the backup's file. A failure is only logged."""
        ...

    def read_backup(self, name: str) -> Backup:
        """The content of a backup: `latest` (the newest good one), a date, or a file. Raises `NotFound`."""
        ...

    def optimise(self) -> None:
        """Optimise the store."""
        ...

    def vacuum(self) -> None:
        """Release free space."""
        ...

    def size(self) -> int:
        """The size in bytes."""
        ...

    def close(self) -> None:
        """Close the store."""
        ...


class SearchedIndex(Protocol):
    """All that is searched together. Safe from several threads."""

    @property
    def checkout(self) -> SearchedDocuments:
        """Its documents with their chunks and declarations."""
        ...

    @property
    def lexical(self) -> SearchedPostings:
        """Its full-text index."""
        ...

    @property
    def vectors(self) -> VectorStore:
        """Its vectors."""
        ...

    @property
    def vectors_here(self) -> VectorStore:
        """Those of them that are on this machine."""
        ...

    def changes(self) -> int:
        """A number that differs after every commit that can change an answer."""
        ...


BatchOfIds = Iterator[tuple[NDArray[np.int64], Vectors]]
"""Ids, ascending, with their vectors."""
