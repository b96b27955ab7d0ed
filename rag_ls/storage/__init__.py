"""Rows and vectors at rest."""

from rag_ls.storage.records import (
    DISK,
    SCANNED,
    Candidate,
    ChunkRow,
    Counts,
    DocumentRecord,
    FileState,
    NewChunk,
    Priority,
    RankRow,
    Replaced,
    Skipped,
    Vectors,
)
from rag_ls.storage.sqlite.embedding_store import EmbeddingStore
from rag_ls.storage.sqlite.index_store import FILE_NAME as INDEX_FILE
from rag_ls.storage.sqlite.index_store import IndexStore, content_hash
from rag_ls.storage.sqlite.memory_backups import chosen, put_in_place
from rag_ls.storage.sqlite.memory_store import FILE_NAME as MEMORIES_FILE
from rag_ls.storage.sqlite.memory_store import MemoryStore
from rag_ls.storage.sqlite.memory_vectors import MemoryVectors
from rag_ls.storage.sqlite.outlines import StoredImport, StoredSymbol
from rag_ls.storage.sqlite.postings import columns_of
from rag_ls.storage.sqlite.vector_index import Hnsw, Neighbour, VectorIndex
from rag_ls.storage.terms import is_marked, last_name, plain_text, split_identifier, stem, terms

__all__ = [
    "DISK",
    "INDEX_FILE",
    "MEMORIES_FILE",
    "SCANNED",
    "Candidate",
    "ChunkRow",
    "Counts",
    "DocumentRecord",
    "EmbeddingStore",
    "FileState",
    "Hnsw",
    "IndexStore",
    "MemoryStore",
    "MemoryVectors",
    "Neighbour",
    "NewChunk",
    "Priority",
    "RankRow",
    "Replaced",
    "Skipped",
    "StoredImport",
    "StoredSymbol",
    "VectorIndex",
    "Vectors",
    "chosen",
    "columns_of",
    "content_hash",
    "is_marked",
    "last_name",
    "plain_text",
    "put_in_place",
    "split_identifier",
    "stem",
    "terms",
]
