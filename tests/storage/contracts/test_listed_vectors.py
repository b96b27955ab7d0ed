"""What every store of vectors that can be copied must do, and what copying makes of any two."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag_ls.errors import StoreUnavailable
from rag_ls.storage.copying import copy_vectors
from rag_ls.storage.postgres.project_vectors import PostgresProjectVectors
from rag_ls.storage.postgres.vectors import PostgresVectors
from rag_ls.storage.qdrant.vectors import QdrantVectors
from rag_ls.storage.server_api import ListedVectors
from rag_ls.storage.sqlite.index_file import IndexFile, open_derived
from rag_ls.storage.sqlite.vectors import SqliteVectors
from tests.storage.postgres.servers import Postgres
from tests.support import MODEL, digest, unit_vectors

KINDS = ("sqlite", "postgres", "postgres for all projects", "qdrant")
OTHER = "other@1"


@pytest.fixture
def stores(server: Postgres, tmp_path: Path) -> Iterator[dict[str, ListedVectors]]:
    """One of each kind, empty."""
    found: dict[str, ListedVectors] = {
        "sqlite": SqliteVectors(open_derived(IndexFile(tmp_path / "index.db")), tmp_path),
        "postgres": PostgresProjectVectors(server.url(server.vector_database()), "shop"),
        "postgres for all projects": PostgresVectors(server.url(server.database())),
        "qdrant": QdrantVectors(f"qdrant://{tmp_path}/qdrant", "shop"),
    }
    yield found
    for store in found.values():
        store.close()


def _hashes(count: int) -> list[bytes]:
    return [digest(str(number)) for number in range(count)]


def _listed(store: ListedVectors, model: str, count: int) -> list[bytes]:
    found: list[bytes] = []
    while page := store.text_hashes(model, found[-1] if found else b"", count):
        found += page
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 7, 25, 100])
def test_every_text_is_listed_once_whatever_the_pages(stores: dict[str, ListedVectors], kind: str, count: int) -> None:
    store = stores[kind]
    assert store.models() == _listed(store, MODEL, count) == []
    store.put(MODEL, _hashes(25), unit_vectors(25, 16))
    store.put(OTHER, _hashes(3), unit_vectors(3, 8))
    assert store.models() == sorted([MODEL, OTHER])
    assert sorted(_listed(store, MODEL, count)) == sorted(_hashes(25))
    assert sorted(_listed(store, OTHER, count)) == sorted(_hashes(3))


@pytest.mark.parametrize(("source", "target"), list(itertools.permutations(KINDS, 2)))
def test_a_copy_has_the_same_vectors_and_a_second_one_copies_nothing(
    stores: dict[str, ListedVectors], source: str, target: str
) -> None:
    made = unit_vectors(30, 16)
    stores[source].put(MODEL, _hashes(30), made)
    stores[source].put(OTHER, _hashes(5), unit_vectors(5, 8))
    stores[target].put(MODEL, _hashes(10), made[:10])
    done = {each.model: each for each in copy_vectors(stores[source], stores[target])}
    assert (done[MODEL].found, done[MODEL].copied, done[MODEL].wrong) == (30, 20, 0)
    assert (done[OTHER].found, done[OTHER].copied, done[OTHER].wrong) == (5, 5, 0)
    found = stores[target].get(MODEL, _hashes(30))
    assert np.allclose([found[each] for each in _hashes(30)], made, atol=1e-3)
    assert [each.copied for each in copy_vectors(stores[source], stores[target])] == [0, 0]
    assert [each.copied for each in copy_vectors(stores[target], stores[source])] == [0, 0]


def test_a_copy_that_ends_in_the_middle_goes_on_where_it_stopped(stores: dict[str, ListedVectors]) -> None:
    source, target = stores["sqlite"], stores["postgres"]
    source.put(MODEL, _hashes(2500), unit_vectors(2500, 16))

    def fail(model: str, done: int) -> None:
        raise StoreUnavailable("it was killed")

    with pytest.raises(StoreUnavailable):
        copy_vectors(source, target, fail)
    left = len(target.missing(MODEL, _hashes(2500)))
    assert left == 1500
    reported: list[int] = []
    (done,) = copy_vectors(source, target, lambda model, count: reported.append(count))
    assert (done.found, done.copied, done.wrong) == (2500, left, 0)
    assert reported == [1000, 2000, 2500]


def test_a_vector_that_the_target_has_otherwise_is_told(stores: dict[str, ListedVectors]) -> None:
    stores["sqlite"].put(MODEL, _hashes(3), unit_vectors(3, 16))
    stores["postgres"].put(MODEL, _hashes(1), unit_vectors(1, 16, seed=9))
    (done,) = copy_vectors(stores["sqlite"], stores["postgres"])
    assert (done.found, done.copied, done.wrong) == (3, 2, 1)
