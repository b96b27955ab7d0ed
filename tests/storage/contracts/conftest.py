"""The implementations that every contract suite runs on. A new store joins by one entry here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag_ls.config.settings import Settings
from rag_ls.model import Scope
from rag_ls.storage import (
    CheckoutIndex,
    LexicalIndex,
    MemoryStore,
    ProjectIndex,
    VectorStore,
    open_index,
    open_memories,
)
from rag_ls.storage.postgres.project_vectors import PostgresProjectVectors
from rag_ls.storage.qdrant.vectors import QdrantVectors
from rag_ls.storage.sqlite.database import Database
from rag_ls.storage.sqlite.index_file import IndexFile, open_derived
from rag_ls.storage.sqlite.pending import ServedTexts
from rag_ls.storage.sqlite.vectors import SqliteVectors
from tests.storage.dictionary_vectors import DictionaryVectors
from tests.storage.postgres.servers import Postgres
from tests.storage.sent_at_once import IndexedAtOnce, SentAtOnce

QDRANT_SERVER = os.environ.get("RAG_LS_TEST_QDRANT", "")
"""A Qdrant server to test, `qdrant://host:6334`: none comes with a package, only the client's local mode."""
INDEXES = (
    "sqlite",
    "dictionary",
    "postgres",
    "postgres, indexed",
    "served",
    "qdrant",
    *["qdrant server"] * bool(QDRANT_SERVER),
)
MEMORIES: dict[str, Callable[[Path], MemoryStore]] = {
    "sqlite": lambda folder: open_memories(folder, Scope.PROJECT, Settings()),
    "ram": lambda folder: open_memories(None, Scope.PROJECT, Settings()),
}


@pytest.fixture(scope="session")
def shared_database(server: Postgres) -> str:
    """A database for all tests, each of which uses a project of its own there."""
    return server.vector_database()


@pytest.fixture(params=INDEXES)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ProjectIndex]:
    """An empty index: in SQLite alone, or with its vectors elsewhere."""
    if request.param == "sqlite":
        index = open_index(tmp_path, Settings())
    else:
        file = IndexFile(tmp_path / "index.db")
        database = open_derived(file)
        vectors = _vectors(request.param, request, tmp_path, database)
        lexical = LexicalIndex(database)
        index = ProjectIndex(CheckoutIndex(database, None, vectors, lexical), lexical, vectors, file, database=database)
    yield index
    index.close()


def _vectors(kind: str, request: pytest.FixtureRequest, folder: Path, database: Database) -> VectorStore:
    if kind == "dictionary":
        return DictionaryVectors()
    if kind.startswith("qdrant"):
        return QdrantVectors(QDRANT_SERVER if kind == "qdrant server" else f"qdrant://{folder}/qdrant", str(folder))
    server: Postgres = request.getfixturevalue("server")
    url = server.url(request.getfixturevalue("shared_database"))
    if kind == "postgres, indexed":
        # So few rows would not be looked up in an index otherwise.
        return IndexedAtOnce(f"{url}&options=-c%20enable_seqscan%3Doff", str(folder), indexed_from=1)
    remote = PostgresProjectVectors(url, str(folder))
    return remote if kind == "postgres" else SentAtOnce(SqliteVectors(database, folder), ServedTexts(database), remote)


@pytest.fixture
def store(index: ProjectIndex) -> object:
    """Its rows."""
    return index.checkout


@pytest.fixture
def vectors(index: ProjectIndex) -> VectorStore:
    """Its vectors."""
    return index.vectors


@pytest.fixture
def lexical(index: ProjectIndex) -> LexicalIndex:
    """Its full-text index."""
    return index.lexical


@pytest.fixture(params=MEMORIES)
def memories(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryStore]:
    """An empty store of memories."""
    store = MEMORIES[request.param](tmp_path)
    yield store
    store.close()
