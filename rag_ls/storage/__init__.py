"""Stores rows and vectors: the interfaces of the stores, their records, and the functions that open them."""

# A package offers what it imports here.
# mypy: implicit-reexport
# ruff: noqa: F401

from rag_ls.storage.api import (
    FoundPassages,
    Numbers,
    SearchedChunks,
    SearchedDocuments,
    SearchedIndex,
    SearchedPostings,
    SharedVectors,
    StoredProjects,
    Vector,
    VectorLender,
    VectorStore,
)
from rag_ls.storage.opening import (
    ProjectIndex,
    has_memory_file,
    holds_memories,
    is_sealed_copy,
    open_index,
    open_memories,
    open_memory_copy,
    read_backup,
    replace_damaged_memories,
    set_copy_aside,
    take_over_memories,
    vector_lenders,
)
from rag_ls.storage.opening_servers import (
    UnusableVectors,
    open_published_server,
    open_publisher,
    open_shared_vectors,
    open_stored_projects,
)
from rag_ls.storage.postgres.publication import Publisher
from rag_ls.storage.postgres.published import PublishedIndex, PublishedServer
from rag_ls.storage.postgres.server import EmbeddedPostgres
from rag_ls.storage.records import (
    DISK,
    INDEX_STORE,
    SCANNED,
    Batch,
    Candidate,
    ChunkRow,
    DocumentRecord,
    FileState,
    IndexCounts,
    IndexSummary,
    Neighbour,
    NewChunk,
    Priority,
    Publication,
    PublishedFile,
    RankRow,
    Replaced,
    Skipped,
    StoredImport,
    StoredProject,
    StoredSymbol,
    Vectors,
    VersionChange,
)
from rag_ls.storage.served import ServerQuestions, WriteRights, ask_server
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from rag_ls.storage.sqlite.commits import CommitIndex
from rag_ls.storage.sqlite.connections import Connections
from rag_ls.storage.sqlite.files import (
    INBOX_FOLDER,
    count_memories,
    derived_files,
    index_summary,
    memory_files,
    remove_data_folder,
    set_memories_aside,
    sqlite_version,
    total_bytes,
)
from rag_ls.storage.sqlite.memories import MemoryStore
from rag_ls.storage.sqlite.memory_files import ERASED
from rag_ls.storage.sqlite.postings import LexicalIndex
from rag_ls.storage.terms import (
    OTHER_CASES,
    Need,
    find_terms,
    fold,
    fold_text,
    identifier_parts,
    index_terms,
    is_called,
    is_unspaced,
    last_name,
    split_identifier,
    stem,
    target_keys,
    words_in,
)
