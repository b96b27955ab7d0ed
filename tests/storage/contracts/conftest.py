"""The implementations that every contract suite runs on. A new store joins by one entry here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag_ls.config import Settings
from rag_ls.model import Scope
from rag_ls.storage import LexicalIndex, MemoryStore, ProjectIndex, VectorStore, open_index, open_memories
from rag_ls.storage.sqlite.checkout import SqliteCheckout
from rag_ls.storage.sqlite.index_file import open_derived
from rag_ls.storage.sqlite.postings import SqlitePostings
from tests.storage.dictionary_vectors import DictionaryVectors


def _sqlite(folder: Path) -> ProjectIndex:
    return open_index(folder, Settings())


def _with_other_vectors(folder: Path) -> ProjectIndex:
    """Rows in SQLite and vectors elsewhere, as with a store for vectors alone."""
    database, vectors = open_derived(folder / "index.db"), DictionaryVectors()
    lexical = SqlitePostings(database)
    return ProjectIndex(SqliteCheckout(database, None, vectors, lexical), lexical, vectors)


INDEXES: dict[str, Callable[[Path], ProjectIndex]] = {"sqlite": _sqlite, "vectors elsewhere": _with_other_vectors}
MEMORIES: dict[str, Callable[[Path], MemoryStore]] = {
    "sqlite": lambda folder: open_memories(folder, Scope.PROJECT, Settings()),
    "ram": lambda folder: open_memories(None, Scope.PROJECT, Settings()),
}


@pytest.fixture(params=INDEXES)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ProjectIndex]:
    """An empty index."""
    index = INDEXES[request.param](tmp_path)
    yield index
    index.close()


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
