"""What a search reads of an index (ports): a checkout's own, or the code that a team published on a server.

`CheckoutIndex`, `LexicalIndex` and their parts offer all of it, and say what each method does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from rag_ls.storage.api import VectorStore
from rag_ls.storage.records import DISK, Candidate, ChunkRow, DocumentRecord, RankRow, StoredSymbol


class SearchedChunks(Protocol):
    """See `ChunkReader`."""

    def by_row(self, rows: Collection[int]) -> dict[int, ChunkRow]:
        """See `ChunkReader`."""
        ...

    def for_ranking(self, rows: Collection[int]) -> list[RankRow]:
        """See `ChunkReader`."""
        ...

    def by_id(self, chunk_id: str) -> list[ChunkRow]:
        """See `ChunkReader`."""
        ...

    def texts(self, rows: Collection[int]) -> dict[int, str]:
        """See `ChunkReader`."""
        ...

    def with_texts(self, text_hashes: Collection[bytes]) -> list[RankRow]:
        """See `ChunkReader`."""
        ...

    def at(self, document_id: int, line: int) -> ChunkRow | None:
        """See `ChunkReader`."""
        ...

    def pieces(self, document_id: int, symbol: str, around: int) -> list[ChunkRow]:
        """See `ChunkReader`."""
        ...

    def named(self, names: Collection[str], limit: int) -> list[tuple[int, str, bool]]:
        """See `ChunkReader`."""
        ...

    def first_of(self, document_ids: Collection[int], limit: int) -> list[int]:
        """See `ChunkReader`."""
        ...

    def documents_of(self, rows: Collection[int]) -> dict[int, int]:
        """See `ChunkReader`."""
        ...

    def text_hashes_of_documents(self, document_ids: Collection[int]) -> list[bytes]:
        """See `ChunkReader`."""
        ...

    def estimated_count(self) -> int:
        """See `ChunkReader`."""
        ...


class SearchedOutlines(Protocol):
    """See `Outlines`."""

    def last_names(self, beginning: str, limit: int) -> list[str]:
        """See `Outlines`."""
        ...

    def of_documents(self, documents: Collection[int], limit: int) -> list[StoredSymbol]:
        """See `Outlines`."""
        ...


class SearchedPostings(Protocol):
    """See `LexicalIndex`."""

    def search(
        self, terms: Sequence[str], limit: int, documents: Collection[int] | None = None, *, holding: Sequence[str] = ()
    ) -> list[Candidate]:
        """See `LexicalIndex`."""
        ...

    def frequency(self, term: str, most: int) -> int:
        """See `LexicalIndex`."""
        ...

    def terms_like(self, term: str) -> list[str]:
        """See `LexicalIndex`."""
        ...


class AnsweringModel(Protocol):
    """See `PendingEmbeddings`."""

    def active_model(self) -> str:
        """See `PendingEmbeddings`."""
        ...


class SearchedDocuments(Protocol):
    """See `CheckoutIndex`."""

    @property
    def chunks(self) -> SearchedChunks:
        """See `CheckoutIndex`."""
        ...

    @property
    def outlines(self) -> SearchedOutlines:
        """See `CheckoutIndex`."""
        ...

    @property
    def embeddings(self) -> AnsweringModel:
        """See `CheckoutIndex`."""
        ...

    def document(self, path: str, session: str = DISK) -> DocumentRecord | None:
        """See `CheckoutIndex`."""
        ...

    def documents(self, session: str = DISK) -> dict[str, DocumentRecord]:
        """See `CheckoutIndex`."""
        ...

    def unsaved_documents(self) -> list[DocumentRecord]:
        """See `CheckoutIndex`."""
        ...

    def document_paths(self) -> list[tuple[int, str, str, str]]:
        """See `CheckoutIndex`."""
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
