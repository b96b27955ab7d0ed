"""What every store of vectors must do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_ls.storage import VectorStore
from tests.support import MODEL, digest, scale_examples, unit_vectors

_OTHER = "other@1"


def _hashes(count: int, name: str = "") -> list[bytes]:
    return [digest(f"{name}{number}") for number in range(count)]


def test_what_is_put_is_got_by_its_text_and_model(vectors: VectorStore) -> None:
    vectors.put(MODEL, _hashes(3), unit_vectors(3))
    found = vectors.get(MODEL, [digest("1"), digest("unknown")])
    assert list(found) == [digest("1")]
    assert np.allclose(found[digest("1")], unit_vectors(3)[1], atol=1e-3)
    assert vectors.get(_OTHER, _hashes(3)) == {}


def test_similarities_are_those_of_the_texts_that_have_vectors(vectors: VectorStore) -> None:
    stored, query = unit_vectors(3), unit_vectors(1, seed=1)[0]
    vectors.put(MODEL, _hashes(3), stored)
    found = vectors.similarities(MODEL, query, [digest("2"), digest("unknown")])
    assert found == {digest("2"): pytest.approx(float(stored[2] @ query), abs=2e-3)}
    assert vectors.similarities(MODEL, query, []) == vectors.similarities(_OTHER, query, _hashes(3)) == {}


def test_what_is_missing_is_told_by_model(vectors: VectorStore) -> None:
    vectors.put(MODEL, _hashes(2), unit_vectors(2))
    assert vectors.missing(MODEL, _hashes(4)) == {digest("2"), digest("3")}
    assert vectors.missing(_OTHER, _hashes(2)) == set(_hashes(2))
    assert vectors.missing(MODEL, []) == set()


def test_a_vector_never_changes_once_it_is_put(vectors: VectorStore) -> None:
    vectors.put(MODEL, _hashes(1), unit_vectors(1))
    before = vectors.get(MODEL, _hashes(1))[digest("0")]
    vectors.put(MODEL, _hashes(2), unit_vectors(2, seed=99))
    assert np.array_equal(vectors.get(MODEL, _hashes(1))[digest("0")], before)
    assert vectors.missing(MODEL, _hashes(2)) == set()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0])
def test_of_vectors_with_one_that_would_poison_searches_none_is_kept(vectors: VectorStore, value: float) -> None:
    bad = unit_vectors(2)
    bad[1] = value
    with pytest.raises(ValueError, match="stored"):
        vectors.put(MODEL, _hashes(2), bad)
    assert vectors.missing(MODEL, _hashes(2)) == set(_hashes(2))


def test_a_search_of_nothing_finds_nothing(vectors: VectorStore) -> None:
    assert vectors.nearest(MODEL, unit_vectors(1)[0], 5) == []
    vectors.maintain()
    assert vectors.nearest(MODEL, unit_vectors(1)[0], 5) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=scale_examples(25))
@given(count=st.integers(1, 60), k=st.integers(1, 70), seed=st.integers(0, 99))
def test_the_nearest_come_first_and_all_are_compared(vectors: VectorStore, count: int, k: int, seed: int) -> None:
    model, stored, query = f"model@{count}-{seed}", unit_vectors(count, seed=seed), unit_vectors(1, seed=seed + 1)[0]
    vectors.put(model, _hashes(count), stored)
    found = vectors.nearest(model, query, k)
    wanted = np.sort(stored.astype(np.float16).astype(np.float32) @ query)[::-1][:k]
    assert np.allclose([neighbour.similarity for neighbour in found], wanted, atol=2e-3)
    assert len({neighbour.text_hash for neighbour in found}) == min(k, count)


def test_a_restricted_search_finds_the_best_of_what_is_allowed(vectors: VectorStore) -> None:
    stored, query = unit_vectors(80), unit_vectors(1, seed=1)[0]
    vectors.put(MODEL, _hashes(80), stored)
    allowed = _hashes(80)[::7]
    best = max(allowed, key=lambda each: float(stored[_hashes(80).index(each)] @ query))
    found = vectors.nearest(MODEL, query, 4, [*allowed, digest("unknown")])
    assert found[0].text_hash == best
    assert {neighbour.text_hash for neighbour in found} <= set(allowed)
    assert vectors.nearest(MODEL, query, 4, []) == []


def test_vectors_of_other_models_are_never_neighbours(vectors: VectorStore) -> None:
    vectors.put(MODEL, _hashes(5, "mine"), unit_vectors(5))
    vectors.put(_OTHER, _hashes(5, "other"), unit_vectors(5, dimensions=8))
    found = vectors.nearest(MODEL, unit_vectors(1)[0], 10)
    assert {neighbour.text_hash for neighbour in found} == set(_hashes(5, "mine"))


def test_what_is_put_after_a_search_is_found_by_the_next(vectors: VectorStore) -> None:
    vectors.put(MODEL, _hashes(5), unit_vectors(5))
    vectors.nearest(MODEL, unit_vectors(1)[0], 5)
    vectors.put(MODEL, [digest("later")], unit_vectors(1, seed=77))
    assert vectors.nearest(MODEL, unit_vectors(1, seed=77)[0], 1)[0].text_hash == digest("later")
