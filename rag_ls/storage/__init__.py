"""Rows and vectors at rest."""

from rag_ls.storage.embedding_store import EmbeddingStore
from rag_ls.storage.index_store import FILE_NAME as INDEX_FILE
from rag_ls.storage.index_store import IndexStore, content_hash, last_name
from rag_ls.storage.memory_store import FILE_NAME as MEMORIES_FILE
from rag_ls.storage.memory_store import MemoryStore
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
from rag_ls.storage.vector_index import Neighbour, VectorIndex

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
    "IndexStore",
    "MemoryStore",
    "Neighbour",
    "NewChunk",
    "Replaced",
    "Skipped",
    "VectorIndex",
    "Vectors",
    "content_hash",
    "last_name",
    "split_identifier",
    "terms",
]
