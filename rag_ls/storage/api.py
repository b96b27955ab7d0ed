"""The interfaces (ports) of storage that have several implementations, or that a checkout's index and published code share.

The data of one checkout (documents, unsaved text, queue, outlines, postings) and memories are always local:
`CheckoutIndex`, `MemoryStore`. Vectors, addressed by the texts that they stand for (`VectorStore`), may lie on a server. A
search reads a checkout, or code that a team published on a server, through the ports `Searched...`. Each port has one
contract test suite, in `tests/storage/contracts`.

Every method may raise `StoreUnavailable`, `StoreDamaged` or `StoreFull`, which name the store. All are safe from
several threads.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag_ls.storage.records import (
    DISK,
    Candidate,
    ChunkRow,
    DocumentRecord,
    Neighbour,
    RankRow,
    StoredProject,
    StoredSymbol,
    Vectors,
)
from rag_ls.storage.terms import Need

Vector = NDArray[np.float32]
"""A vector of shape (dimensions,) and length one."""
Numbers = NDArray[np.int64]


class StoredVectors(Protocol):
    """Vectors by model and by the SHA-256 digest of the text that they stand for. A stored vector never changes.

    `model` is a name with its revision: vectors of equal models can be compared.
    """

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        """Store vectors of shape (len(text_hashes), dimensions) and length one; existing ones are not replaced.

        Raises `ValueError` for NaN, infinite or zero vectors, and then stores none: they would spoil every search.
        """

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        """The existing vectors of these texts; those that are damaged are left out."""

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        """The texts among `text_hashes` that have no vector of this model."""

    def close(self) -> None:
        """Stop background work, and close all connections."""


class VectorStore(StoredVectors, Protocol):
    """Vectors that can be searched."""

    def similarities(self, model: str, query: Vector, text_hashes: Collection[bytes]) -> dict[bytes, float]:
        """The cosine similarity of `query` (of length one) to each of these texts that has a vector."""

    def nearest(self, model: str, query: Vector, count: int, among: Collection[bytes] | None = None) -> list[Neighbour]:
        """The `count` vectors nearest to `query` (of length one), best first; `among` restricts them to some texts.

        Sees the commits of all processes at once.
        """

    def maintain(self) -> None:
        """Make searching fast and small, if it pays. Call it in a background thread, because it takes a while."""


class SearchedChunks(Protocol):
    """Looks chunks of an index up."""

    def by_row(self, rows: Collection[int]) -> dict[int, ChunkRow]:
        """The chunks with these row numbers, without chunks that were deleted meanwhile."""

    def for_ranking(self, rows: Collection[int]) -> list[RankRow]:
        """The chunks' data for ranking, in order of row, without chunks that were deleted meanwhile."""

    def by_id(self, chunk_id: str) -> list[ChunkRow]:
        """All versions of the chunk with this id: on disk, and in unsaved text."""

    def texts(self, rows: Collection[int]) -> dict[int, str]:
        """The chunks' own texts, without chunks that were deleted meanwhile."""

    def with_texts(self, text_hashes: Collection[bytes]) -> list[RankRow]:
        """The data for ranking of every embedded chunk whose embedded text is one of these."""

    def at(self, document_id: int, line: int) -> ChunkRow | None:
        """The chunk that covers a 1-based line of a document (the last one that begins on it or before)."""

    def pieces(self, rows: Collection[int]) -> dict[int, list[ChunkRow]]:
        """For each of these chunks that has a symbol, the consecutive chunks of the symbol that include it."""

    def named(self, names: Collection[str], limit: int) -> list[tuple[int, str, bool]]:
        """(row, lower-case last name, is declaration) of each chunk whose symbol's last name is one of `names`."""

    def first_of(self, document_ids: Collection[int], limit: int) -> list[int]:
        """The rows of the first chunks of some documents."""

    def documents_of(self, rows: Collection[int]) -> dict[int, int]:
        """The document of each chunk row."""

    def text_hashes_of_documents(self, document_ids: Collection[int]) -> list[bytes]:
        """The text hashes of the embedded chunks of some documents."""

    def estimated_count(self) -> int:
        """The number of chunks, or about so many."""


class SearchedSignatures(Protocol):
    """Finds the lines that may hold a literal text."""

    def find_passages(self, needs: Sequence[Need]) -> FoundPassages:
        """The lines among which are all that meet one need; of several needs, the documents that may meet all, each as one passage."""


class SearchedOutlines(Protocol):
    """The declarations of documents."""

    def last_names(self, beginning: str, limit: int) -> list[str]:
        """The lower-case last names of declarations that begin so, each once, in order."""

    def in_chunks(self, names: Collection[str], limit: int) -> list[tuple[int, StoredSymbol]]:
        """Declarations whose last name, lower-case, is one of `names`, each with the row of the chunk where it begins.

        Exported ones come first. Several declarations may begin in one chunk.
        """

    def of_documents(self, documents: Collection[int], limit: int) -> list[StoredSymbol]:
        """The declarations of some documents, in order."""


class SearchedPostings(Protocol):
    """The full-text index, as a search asks it."""

    def search(
        self, terms: Sequence[str], limit: int, documents: Collection[int] | None = None, *, holding: Sequence[str] = ()
    ) -> list[Candidate]:
        """The chunks that hold any of `terms`, by BM25, best first.

        `documents` restricts them to some documents, `holding` to chunks that hold any of these terms: rare ones spare
        the work for the many chunks that hold only common ones.
        """

    def frequencies(self, terms: Collection[str], most: int) -> dict[str, int]:
        """The number of chunks that hold each of these terms, counted up to `most`."""

    def terms_like(self, term: str) -> list[str]:
        """The index's terms with the beginning and about the length of a stemmed term."""


class SearchedDocuments(Protocol):
    """The documents of an index."""

    @property
    def chunks(self) -> SearchedChunks:
        """Its chunks, for reading."""

    @property
    def outlines(self) -> SearchedOutlines:
        """Its declarations."""

    @property
    def signatures(self) -> SearchedSignatures:
        """Finds the lines that may hold a literal text."""

    def active_model(self) -> str:
        """The model whose vectors answer searches; empty before the first one is set."""

    def document(self, path: str, session: str = DISK) -> DocumentRecord | None:
        """One document, or None."""

    def documents(self, session: str = DISK) -> dict[str, DocumentRecord]:
        """All documents of one session (by default the files on disk) by path."""

    def unsaved_documents(self) -> list[DocumentRecord]:
        """Every session's unsaved documents, the latest change last."""

    def document_paths(self, among: Collection[int] | None = None) -> list[tuple[int, str, str, str]]:
        """Id, path, language and session of every document, or at least of those `among` these ids.

        The same list while they stay the same, if that is known.
        """


class SearchedIndex(Protocol):
    """All that is searched together. Safe from several threads."""

    @property
    def checkout(self) -> SearchedDocuments:
        """Its documents with their chunks and declarations."""

    @property
    def lexical(self) -> SearchedPostings:
        """Its full-text index."""

    @property
    def vectors(self) -> VectorStore:
        """Its vectors."""

    @property
    def vectors_here(self) -> VectorStore:
        """The vectors that are on this machine."""

    def changes(self) -> int:
        """A number that differs after every commit that can change an answer."""


class FoundPassages(Protocol):
    """Passages, which are whole lines, of the documents as they were when they were looked for; those of one document side by side."""

    @property
    def documents(self) -> Numbers:
        """The document of each."""

    @property
    def first_lines(self) -> Numbers:
        """Its first line, from 1."""

    @property
    def kilobytes(self) -> Numbers:
        """About its size."""

    def read(self, passages: Numbers) -> list[bytes | None]:
        """The texts of some, in UTF-8, each line ended by LF; None where the document changed meanwhile."""


class VectorLender(Protocol):
    """Another project's vectors, read-only."""

    @property
    def place(self) -> str:
        """The place of the vectors, for the log."""

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        """The existing vectors of these texts. Raises `StoreUnavailable`."""


class SharedVectors(VectorLender, StoredVectors, Protocol):
    """Vectors that several users share, on a server. `place` is its address, without its password.

    A user who may only read puts none, without an error. Where `put` raises `StoreUnavailable`, some of them may be there.
    """


class ServerVectors(SharedVectors, VectorStore, Protocol):
    """One project's vectors on a server that searches them."""


class StoredProjects(Protocol):
    """The projects whose vectors a server searches."""

    @property
    def place(self) -> str:
        """The address of the server, without its password."""

    def all(self) -> list[StoredProject]:
        """The projects, by name."""

    def drop(self, project: str) -> None:
        """Delete all that the server holds of a project, at once.

        Raises `NotFound`, and `InvalidRequest` while somebody publishes it.
        """

    def close(self) -> None:
        """Close all connections."""
