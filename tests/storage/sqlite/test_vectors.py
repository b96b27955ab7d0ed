"""The vectors of a project: when a snapshot of them is made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rag_ls.storage.sqlite.checkout import CheckoutIndex
from rag_ls.storage.sqlite.vectors import SqliteVectors
from tests.support import MODEL, digest, unit_vectors, until

_LIMIT = 50


@pytest.fixture
def vectors(store: CheckoutIndex, tmp_path: Path) -> SqliteVectors:
    """Those of a project that was indexed, and that nobody has searched."""
    vectors = SqliteVectors(store._database, tmp_path, exact_limit=_LIMIT)
    store.embeddings.activate(MODEL)
    _put(vectors, 4 * _LIMIT)
    return vectors


def _put(vectors: SqliteVectors, count: int, seed: int = 0) -> None:
    vectors.put(MODEL, [digest(f"{seed}-{number}") for number in range(count)], unit_vectors(count, seed=seed))


def _snapshots(folder: Path) -> list[Path]:
    return list(folder.glob("vectors-*.usearch"))


def test_maintenance_makes_one_before_the_first_search(vectors: SqliteVectors, tmp_path: Path) -> None:
    vectors.maintain()
    assert len(_snapshots(tmp_path)) == 1
    query = unit_vectors(3)[2]
    (nearest,) = vectors.nearest(MODEL, query, 1)
    assert nearest.text_hash == digest("0-2")


def test_maintenance_makes_none_where_an_exact_search_is_as_good(store: CheckoutIndex, tmp_path: Path) -> None:
    few = SqliteVectors(store._database, tmp_path, exact_limit=_LIMIT)
    store.embeddings.activate(MODEL)
    _put(few, _LIMIT // 2)
    few.maintain()
    assert _snapshots(tmp_path) == []


def test_maintenance_adds_what_came_since(vectors: SqliteVectors, tmp_path: Path) -> None:
    vectors.maintain()
    former = _snapshots(tmp_path)
    vectors.maintain()
    assert _snapshots(tmp_path) == former
    _put(vectors, 8 * _LIMIT, seed=1)
    vectors.maintain()
    assert _snapshots(tmp_path) != former


def test_a_search_through_many_without_one_has_it_made_beside_it(vectors: SqliteVectors, tmp_path: Path) -> None:
    assert vectors.nearest(MODEL, unit_vectors(1)[0], 5)
    assert until(lambda: len(_snapshots(tmp_path)) == 1)


def test_vectors_are_read_by_their_ids(vectors: SqliteVectors) -> None:
    """Not by going through all of the model's, which took 20 ms at 60,000."""
    statements: list[str] = []
    with vectors._database.in_use():
        connection = vectors._database.connection
        connection.set_trace_callback(statements.append)
        vectors.maintain()
        assert vectors.nearest(MODEL, unit_vectors(1)[0], 5)
        connection.set_trace_callback(None)
        by_id = [each for each in statements if ("FROM embeddings" in each and "id IN" in each) or "id >" in each]
        assert len(by_id) >= 3
        for statement in by_id:
            plan = "; ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}"))
            assert "USING INTEGER PRIMARY KEY" in plan, (statement, plan)


def test_a_similarity_is_the_same_wherever_its_vector_lies(vectors: SqliteVectors) -> None:
    vectors.maintain()
    _put(vectors, 5, seed=1)
    query, hashes = unit_vectors(1, seed=2)[0], [digest("0-3"), digest("1-4"), digest("unknown")]
    assert vectors.nearest(MODEL, query, 5)
    stored = vectors.get(MODEL, hashes)
    found = vectors.similarities(MODEL, query, hashes)
    assert found == {each: pytest.approx(float(stored[each] @ query), abs=1e-5) for each in hashes[:2]}


def test_vectors_that_stand_for_nothing_are_refused(vectors: SqliteVectors) -> None:
    for value in (0.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="zero or not finite"):
            vectors.put(MODEL, [digest("broken")], np.full((1, 16), value, np.float32))
    assert vectors.missing(MODEL, [digest("broken")]) == {digest("broken")}
