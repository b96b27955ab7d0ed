"""The ports of storage: what a store must do, whatever rows and vectors rest in.

What describes one checkout (documents, unsaved text, queue, outlines) is local with every store: `CheckoutIndex`. What can be
large, shared or remote has a port of its own: vectors, addressed by the text that they stand for (`VectorStore`), postings
(`LexicalIndex`) and memories (`MemoryStore`). Each port has one contract test suite, in `tests/storage/contracts`.

Every method may raise `StoreUnavailable`, `StoreDamaged` or `StoreFull`, which name the store. All are safe from several threads.
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
    Candidate,
    ChunkRow,
    Counts,
    DocumentRecord,
    Neighbour,
    NewChunk,
    Posting,
    Priority,
    RankRow,
    Replaced,
    Skipped,
    StoredImport,
    StoredSymbol,
    Vectors,
)

Vector = NDArray[np.float32]
"""Of shape (dimensions,) and length one."""


class VectorStore(Protocol):
    """Vectors by model and by the SHA-256 digest of the text that they stand for. A vector, once put, never changes.

    `model` is a name with its revision: vectors of equal models can be compared.
    """

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        """Keep vectors, shape (len(text_hashes), dimensions) and of length one; those that are there already stay.

        Raises `ValueError` for NaN, infinite or zero vectors, and keeps none of them: they would poison every search.
        """
        ...

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        """Those of the vectors that are there."""
        ...

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        """Those of the texts that have no vector by this model."""
        ...

    def nearest(self, model: str, query: Vector, count: int, among: Collection[bytes] | None = None) -> list[Neighbour]:
        """The `count` vectors nearest to `query`, of length one, best first; of these texts alone, where `among` is given.

        A commit of any process is seen at once.
        """
        ...

    def maintain(self) -> None:
        """Do what makes searching fast and small, where it pays; takes a while, for a background thread."""
        ...

    def close(self) -> None:
        """Stop what goes on in the background."""
        ...


class LexicalIndex(Protocol):
    """Which chunks hold which terms. Rows are those of the checkout that the index belongs to."""

    def add(self, postings: Iterable[Posting]) -> None:
        """Index chunks that were just stored."""
        ...

    def remove(self, rows: Collection[int]) -> None:
        """Take chunks out that are about to be deleted, and are still stored."""
        ...

    def search(self, terms: Sequence[str], limit: int, documents: Collection[int] | None = None) -> list[Candidate]:
        """The chunks that hold any of `terms`, by BM25, best first; of these documents alone, where they are given."""
        ...

    def frequency(self, term: str, most: int) -> int:
        """How many chunks hold a term, counted up to `most`."""
        ...

    def terms_like(self, term: str) -> list[str]:
        """Terms of the index that begin as a stemmed term does, and are about as long."""
        ...


class ChunkReader(Protocol):
    """Looks chunks of a checkout up, those of unsaved text among them."""

    def by_row(self, rows: Collection[int]) -> dict[int, ChunkRow]:
        """The chunks with these row numbers; those gone meanwhile are missing."""
        ...

    def for_ranking(self, rows: Collection[int]) -> list[RankRow]:
        """What ranking needs of the chunks with these row numbers, by row; those gone meanwhile are missing."""
        ...

    def by_id(self, chunk_id: str) -> list[ChunkRow]:
        """All versions of the chunk with this id: on disk, and in unsaved text."""
        ...

    def with_content(self, digest: str) -> list[ChunkRow]:
        """All chunks whose own text has this SHA-256 (hex), by path."""
        ...

    def with_texts(self, text_hashes: Collection[bytes]) -> list[tuple[int, bytes, int]]:
        """Row, text hash and document of every embedded chunk whose embedded text is one of these."""
        ...

    def of_symbol(self, symbol: str) -> list[ChunkRow]:
        """All chunks of the symbol with exactly this qualified name, by path."""
        ...

    def of_document(self, document_id: int) -> list[ChunkRow]:
        """A document's chunks in order."""
        ...

    def at(self, document_id: int, line: int) -> ChunkRow | None:
        """The chunk that covers a 1-based line of a document (the last one that begins on it or before)."""
        ...

    def pieces(self, document_id: int, symbol: str, around: int) -> list[ChunkRow]:
        """The chunks of one symbol that follow each other without a gap, the one with the ordinal `around` among them."""
        ...

    def named(self, names: Collection[str], limit: int) -> list[tuple[int, str, bool]]:
        """Row, lower-case last name and whether it is a declaration, of chunks whose symbol ends in one of `names`."""
        ...

    def first_of(self, document_ids: Collection[int], limit: int) -> list[int]:
        """The rows of the first chunks of some documents."""
        ...

    def documents_of(self, rows: Collection[int]) -> dict[int, int]:
        """The document of each chunk row."""
        ...

    def text_hashes(self, rows: Collection[int]) -> dict[int, bytes]:
        """The text hash of each of these chunk rows that is embedded."""
        ...

    def text_hashes_of_documents(self, document_ids: Collection[int]) -> list[bytes]:
        """The text hashes of the embedded chunks of some documents."""
        ...

    def estimated_count(self) -> int:
        """About how many chunks there are, at no cost."""
        ...


class Outlines(Protocol):
    """What the documents of a checkout declare and import."""

    def named(self, names: Collection[str], limit: int) -> list[StoredSymbol]:
        """Declarations whose last name, lower-case, is one of `names`; exported ones first."""
        ...

    def containing(self, part: str, limit: int) -> list[StoredSymbol]:
        """Declarations whose last name, lower-case and without `_`, `-` and spaces, holds `part`; exported ones first."""
        ...

    def of_documents(self, documents: Collection[int], limit: int) -> list[StoredSymbol]:
        """The declarations of some documents, in order."""
        ...

    def imports(self, documents: Collection[int] | None = None) -> list[StoredImport]:
        """What some documents import, or all."""
        ...


class ReadingQueue(Protocol):
    """The files that wait to be read; it outlives the process."""

    def add(self, paths: Iterable[str]) -> None:
        """Note files that must be read again."""
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
        """How many files wait to be read that were never read before."""
        ...

    def all_read_since(self, paths: Collection[str], since_ns: int) -> bool:
        """Whether each of some files was read after a time of the wall clock, or does not wait to be read."""
        ...


class PendingEmbeddings(Protocol):
    """Which chunks of a checkout wait for their vectors. The vectors themselves are the `VectorStore`'s."""

    def active_model(self) -> str:
        """The model whose vectors answer searches; empty before the first one is set."""
        ...

    def activate(self, model: str) -> None:
        """Make `model` the one that answers; chunks that it has no vector of are pending from now on."""
        ...

    def pending(self, model: str, limit: int, *, interactive_only: bool = False) -> list[tuple[bytes, Chunk]]:
        """Chunks without a vector of `model`, by priority: (hash of the embedded text, what to embed)."""
        ...

    def pending_count(self, model: str) -> int:
        """How many chunks have no vector of `model`."""
        ...

    def waiting_hashes(self) -> list[bytes]:
        """The texts that the active model has no vector of, each once."""
        ...

    def note_embedded(self, text_hashes: Collection[bytes]) -> None:
        """The active model has vectors of these texts now: their chunks wait no longer."""
        ...

    def refuse(self, text_hash: bytes) -> None:
        """Let chunks with this text wait no longer: the model makes no usable vector of it."""
        ...

    def prefer(self, documents: Collection[int], priority: Priority) -> None:
        """Let the chunks of some documents be embedded before those of lower priority."""
        ...


class CheckoutIndex(Protocol):
    """What describes one checkout. All writes of one call commit together."""

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
        """What waits for vectors."""
        ...

    @property
    def is_damaged(self) -> bool:
        """Whether an error showed that it must be made anew."""
        ...

    def together(self) -> AbstractContextManager[None]:
        """Several writes that commit as one; other writers wait for them."""
        ...

    def changes(self) -> int:
        """A number that is another one after every commit, by whatever thread or process."""
        ...

    def documents(self, session: str = DISK) -> dict[str, DocumentRecord]:
        """All documents of one session (by default the files on disk) by path."""
        ...

    def document(self, path: str, session: str = DISK) -> DocumentRecord | None:
        """One document, or None."""
        ...

    def files_at(self, path: str) -> list[str]:
        """The files that are indexed, skipped or queued: the one at a path, or those in the folder there."""
        ...

    def unsaved_documents(self) -> list[DocumentRecord]:
        """Every session's unsaved documents, the latest change last."""
        ...

    def document_paths(self) -> list[tuple[int, str, str, str]]:
        """Id, path, language and session of every document."""
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
        """Record that a file was verified to hold the indexed text in a new state (touched, or read again)."""
        ...

    def remove_documents(self, paths: Iterable[str], session: str = DISK) -> int:
        """Drop documents with their chunks, queue and skip entries; returns how many there were."""
        ...

    def remove_session(self, session: str) -> None:
        """Drop all unsaved documents of an editing session."""
        ...

    def forget_digests(self) -> None:
        """Make every file count as changed, so that it is cut again when it is next read."""
        ...

    def skip(self, skipped: Skipped) -> None:
        """Record why a file is not indexed, and drop what was indexed of it."""
        ...

    def skipped(self, at_most: int = -1) -> dict[str, Skipped]:
        """The files that are not indexed, by path; the first ones, where `at_most` is not negative."""
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

    def counts(self) -> Counts:
        """How much is indexed and queued now; the unsaved documents count apart."""
        ...

    def queue_lengths(self) -> tuple[int, int]:
        """Documents and embeddings that are still to be made."""
        ...

    def language_counts(self) -> dict[str, tuple[int, int]]:
        """How many documents and chunks there are of each language, the most chunks first; unsaved documents left out."""
        ...

    def optimise(self) -> None:
        """Bring the index into its best shape."""
        ...

    def vacuum(self) -> tuple[int, int]:
        """Give free space back; how many bytes it took, and takes."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


class VectorLender(Protocol):
    """Another project's vectors, for reading alone."""

    @property
    def place(self) -> str:
        """Where they are, for the log."""
        ...

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        """Those of the vectors that are there. Raises `StoreUnavailable`."""
        ...


class MemoryVectors(Protocol):
    """The vectors of a store's memories: one for each part of a memory's content, of length one."""

    def add(self, memory_id: str, model: str, content_hash: str, parts: Vectors) -> None:
        """Keep the vectors of a memory's parts, shape (parts, dimensions); of none that was changed meanwhile.

        Raises `ValueError` for vectors that are zero or not finite.
        """
        ...

    def of(self, memory_id: str, model: str) -> Vectors:
        """The vectors of one memory, shape (parts, dimensions); of shape (0, 0) where it has none."""
        ...

    def all_of(self, contents: Mapping[str, str]) -> list[tuple[str, str, NDArray[np.float16]]]:
        """The vectors of several memories as they are stored: (id, model, shape (parts, dimensions)), in this order.

        `contents` gives each memory's id and content hash; vectors of a content that it has no more are left out.
        """
        ...

    def dimensions(self, model: str) -> int | None:
        """How long a model's vectors are; None where there are none."""
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
        """How close the closest part of each of these memories is to a vector; none for one without vectors."""
        ...

    def centres(self, model: str, filters: MemoryFilters) -> tuple[list[str], Vectors]:
        """The mean direction of each memory's parts: ids, and vectors of shape (n, dimensions)."""
        ...

    def maintain(self) -> None:
        """Do what makes searching fast, where it pays, in the background."""
        ...

    def optimise(self, model: str) -> None:
        """Do what makes searching fast now."""
        ...


class MemoryStore(Protocol):
    """The memories of one scope. Every change keeps the former version. Filters' scopes are left to the caller."""

    @property
    def scope(self) -> Scope:
        """The scope of all its memories."""
        ...

    @property
    def place(self) -> str:
        """Where they rest, for people; empty for RAM."""
        ...

    @property
    def vectors(self) -> MemoryVectors:
        """The memories' vectors."""
        ...

    def newest(self) -> tuple[int, str, int]:
        """What is another value after a memory was stored, changed or deleted; recalling changes nothing of it."""
        ...

    def changes(self) -> int:
        """A number that is another one after every commit, by whatever process."""
        ...

    def transaction(self) -> AbstractContextManager[object]:
        """What is read and written inside commits together; no other writer comes between."""
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
        """Delete a memory, keeping its last version in the history; whether there was one."""
        ...

    def clear(self) -> int:
        """Forget everything, history included; how many memories there were. For a session's store alone."""
        ...

    def evict(self, limit: int, keep: str = "") -> list[str]:
        """Delete down to `limit` memories, the least important first, of these the oldest; their ids."""
        ...

    def get(self, memory_id: str) -> Memory | None:
        """One memory by its id, or None."""
        ...

    def by_ids(self, ids: Collection[str]) -> dict[str, Memory]:
        """Memories by their ids, as far as they exist."""
        ...

    def with_content(self, content_hash: str, branch: str | None = None) -> Memory | None:
        """The memory with exactly this content, on this branch; None where there is none. Summaries do not count."""
        ...

    def summary(self, summary_key: str) -> Memory | None:
        """The summary with this key, or None."""
        ...

    def twin(self, memory: Memory) -> Memory | None:
        """Another memory that has the place of this one: with its content on its branch, or with its summary key."""
        ...

    def all(self, *, anchored_only: bool = False) -> list[Memory]:
        """Every memory (or every one with an anchor), the newest change first."""
        ...

    def find(
        self, filters: MemoryFilters = ..., order: MemoryOrder = ..., limit: int = -1, offset: int = 0
    ) -> list[Memory]:
        """The memories that pass, a page of them where `limit` says so."""
        ...

    def count(self, filters: MemoryFilters = ...) -> int:
        """How many memories pass."""
        ...

    def ids_starting(self, prefix: str) -> list[str]:
        """Ids that start with `prefix`, so that a person can give an id's first characters."""
        ...

    def former_ids_starting(self, prefix: str) -> list[str]:
        """Ids of memories that were changed or deleted, which start with `prefix`."""
        ...

    def history(self, memory_id: str) -> list[MemoryVersion]:
        """The former versions of a memory, the newest first; also of one that was deleted."""
        ...

    def about(self, path: str, symbols: Collection[str], content_hashes: Collection[str]) -> list[Memory]:
        """Memories whose anchor may be in a document: by its path, what it declares, or code that it holds."""
        ...

    def lexical(self, terms: Sequence[str], limit: int, filters: MemoryFilters = ...) -> dict[str, float]:
        """BM25 by id of the memories that hold any of the terms (higher is better), best first."""
        ...

    def frequency(self, term: str, most: int) -> int:
        """How many memories hold a term, counted up to `most`."""
        ...

    def tagged(self, words: Collection[str], limit: int, filters: MemoryFilters = ...) -> dict[str, float]:
        """How many of the words are tags of a memory, by its id, the most and then the newest first."""
        ...

    def tag_counts(self) -> dict[str, int]:
        """How many memories have each tag, the most frequent first."""
        ...

    def type_counts(self) -> dict[str, int]:
        """How many memories there are of each type."""
        ...

    def note_uses(self, ids: Iterable[str], at: str) -> None:
        """Count memories as recalled. Written beside the answer, which does not wait for it."""
        ...

    def add_consolidation(self, number: str, at: str, merges: object) -> None:
        """Note what a consolidation merged, so that it can be undone."""
        ...

    def consolidation(self, number: str = "") -> tuple[str, object] | None:
        """A consolidation that was not undone (id and what it merged), the latest without `number`; None for none."""
        ...

    def latest_consolidation(self) -> tuple[str, str]:
        """When the latest consolidation that was not undone was made, and its id; empty for none."""
        ...

    def note_undone(self, number: str, at: str) -> None:
        """A consolidation was undone."""
        ...

    def backup(self, now: datetime | None = None) -> Path | None:
        """Back the memories up, where that is due; where to. One that fails is logged: what was stored is stored."""
        ...

    def read_backup(self, name: str) -> Backup:
        """What a backup holds: `latest` (the newest good one), a date, or a file. Raises `NotFound`."""
        ...

    def optimise(self) -> None:
        """Bring the store into its best shape."""
        ...

    def vacuum(self) -> None:
        """Give free space back."""
        ...

    def size(self) -> int:
        """Bytes that it takes."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


BatchOfIds = Iterator[tuple[NDArray[np.int64], Vectors]]
"""Ids, ascending, with their vectors."""
