"""Rows and vectors at rest."""

from rag_ls.storage.embedding_store import EmbeddingStore
from rag_ls.storage.index_store import FILE_NAME as INDEX_FILE
from rag_ls.storage.index_store import IndexStore, content_hash, last_name
from rag_ls.storage.memory_backups import chosen, put_in_place
from rag_ls.storage.memory_store import FILE_NAME as MEMORIES_FILE
from rag_ls.storage.memory_store import MemoryStore
from rag_ls.storage.memory_vectors import MemoryVectors
from rag_ls.storage.records import (
    DISK,
    Candidate,
    ChunkRow,
    Counts,
    DocumentRecord,
    FileState,
    NewChunk,
    Replaced,
    Skipped,
    Vectors,
)
from rag_ls.storage.terms import split_identifier, terms
from rag_ls.storage.vector_index import Hnsw, Neighbour, VectorIndex

__all__ = [
    "DISK",
    "INDEX_FILE",
    "MEMORIES_FILE",
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
    "Replaced",
    "Skipped",
    "VectorIndex",
    "Vectors",
    "chosen",
    "content_hash",
    "last_name",
    "put_in_place",
    "split_identifier",
    "terms",
]
