"""Memories by meaning: the nearest that pass the filters, whatever is dead, replaced or in several parts between them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_ls.model import Anchor, Memory, MemoryFilters, MemoryMetadata, MemoryType, Scope
from rag_ls.storage import MemoryStore
from rag_ls.storage.sqlite.memory_files import put_in_place
from rag_ls.storage.sqlite.memory_vectors import MemoryVectors
from tests.memory.support import at_angle, put, record, stamp, used
from tests.support import MODEL, scale_examples, unit_vectors, until

_ALL = MemoryFilters()
_QUERY = at_angle(0)


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    """An empty store in a file."""
    return MemoryStore(tmp_path / "memories.db", Scope.PROJECT)


def _nearest(
    vectors: MemoryVectors, count: int, filters: MemoryFilters = _ALL, query: NDArray[np.float32] = _QUERY
) -> list[int]:
    return [int(number[:8]) for number, _ in vectors.nearest(query, MODEL, filters, count)]


_FILTERS = [
    (MemoryFilters(tags=("Rust",)), [3]),
    (MemoryFilters(tags=("rust", "async")), [3, 4]),
    (MemoryFilters(memory_type=MemoryType.EPISODIC), [2]),
    (MemoryFilters(language="Python"), [5]),
    (MemoryFilters(since=stamp(4)), [4, 5, 6, 7]),
    (MemoryFilters(until=stamp(2)), [1, 2]),
    (MemoryFilters(since=stamp(2), until=stamp(3)), [2, 3]),
    (MemoryFilters(branch="main"), [1, 2, 3, 4, 5, 6]),
    (MemoryFilters(branch=""), [1, 2, 3, 4, 5]),
    (MemoryFilters(never_used=True), [2, 3, 4, 5, 6, 7]),
    (MemoryFilters(anchored=True), [4]),
    (MemoryFilters(no_summaries=True), [1, 2, 3, 4, 6, 7]),
    (MemoryFilters(tags=("async",), language="python"), []),
]  # fmt: skip


@pytest.fixture
def assorted(store: MemoryStore) -> MemoryStore:
    """Memories of all kinds, the nearest to the query first."""
    changes: list[dict[str, object]] = [
        {},
        {"memory_type": MemoryType.EPISODIC},
        {"metadata": MemoryMetadata(tags=("rust",))},
        {"metadata": MemoryMetadata(tags=("async",)), "anchor": Anchor("src/a.py")},
        {"metadata": MemoryMetadata(language="python"), "summary_key": "key"},
        {"branch": "main"},
        {"branch": "other"},
    ]
    for number, change in enumerate(changes, 1):
        put(store, record(number, **change), at_angle(5 * number))
    used(store, record(1).id)
    return store


@pytest.mark.parametrize(("filters", "numbers"), _FILTERS)
def test_each_filter_leaves_out_what_it_should(
    assorted: MemoryStore, filters: MemoryFilters, numbers: list[int]
) -> None:
    assert _nearest(assorted.vectors, 9, filters) == numbers
    assert _nearest(assorted.vectors, 2, filters) == numbers[:2]
    assert [int(number[:8]) for number in assorted.vectors.centres(MODEL, filters)[0]] == numbers
    assert sorted(int(memory.id[:8]) for memory in assorted.find(filters)) == numbers
    assert assorted.count(filters) == len(numbers)
    assert {int(number[:8]) for number in assorted.words.lexical(["memory"], 9, filters)} == set(numbers)


def test_the_cosine_is_that_of_the_angle(assorted: MemoryStore) -> None:
    found = assorted.vectors.nearest(_QUERY, MODEL, _ALL, 9)
    wanted = [float(np.cos(np.radians(5 * number))) for number in range(1, 8)]
    assert [cosine for _, cosine in found] == pytest.approx(wanted, abs=2e-3)


def test_memories_that_are_dead_or_were_changed_hide_none_that_live(store: MemoryStore) -> None:
    with store.transaction():
        for number in range(1, 400):
            put(store, record(number), at_angle(0))
    assert len(_nearest(store.vectors, 3)) == 3
    with store.transaction():
        for number in range(1, 399):
            if number % 2:
                store.delete(record(number).id)
            else:
                changed = record(number, f"changed number {number}", version=2)
                store.replace(changed)
                store.vectors.add(changed.id, MODEL, changed.content_hash, at_angle(170)[np.newaxis])
    put(store, record(400), at_angle(30))
    assert _nearest(store.vectors, 2) == [399, 400]
    assert _nearest(store.vectors, 3)[:2] == [399, 400]
    assert len(_nearest(store.vectors, 500)) == 201


def test_a_cleared_session_hides_nothing_that_is_stored_then() -> None:
    store = MemoryStore(None, Scope.SESSION)
    for number in range(1, 300):
        put(store, record(number), at_angle(0))
    _nearest(store.vectors, 3)
    store.clear()
    put(store, record(300), at_angle(40))
    assert _nearest(store.vectors, 3) == [300]


def test_a_memory_of_many_parts_takes_one_place(store: MemoryStore) -> None:
    put(store, record(1), *[at_angle(degrees) for degrees in range(40)])
    put(store, record(2), at_angle(45))
    put(store, record(3), at_angle(50), at_angle(41))
    assert _nearest(store.vectors, 3) == [1, 3, 2]
    assert _nearest(store.vectors, 2) == [1, 3]
    found = dict(store.vectors.nearest(at_angle(20), MODEL, _ALL, 3))
    assert found[record(1).id] == pytest.approx(1, abs=1e-3)


def test_cosines_are_those_of_the_closest_part(store: MemoryStore) -> None:
    put(store, record(1), at_angle(80), at_angle(60))
    put(store, record(2), at_angle(120))
    put(store, record(3))
    found = store.vectors.cosines(_QUERY, MODEL, [record(number).id for number in (1, 2, 3, 4)])
    assert found == {
        record(1).id: pytest.approx(0.5, abs=2e-3),
        record(2).id: pytest.approx(-0.5, abs=2e-3),
    }
    assert store.vectors.cosines(_QUERY, MODEL, []) == {}


def test_a_centre_is_the_mean_direction_of_all_parts(store: MemoryStore) -> None:
    put(store, record(1), at_angle(10), at_angle(50))
    put(store, record(2), at_angle(90))
    put(store, record(3))
    ids, vectors = store.vectors.centres(MODEL, _ALL)
    assert ids == [record(1).id, record(2).id]
    assert np.allclose(vectors, [at_angle(30), at_angle(90)], atol=2e-3)
    assert store.vectors.centres("another@1", _ALL)[0] == []


def test_vectors_of_another_model_are_not_compared(store: MemoryStore) -> None:
    put(store, record(1), at_angle(0))
    put(store, record(2))
    store.vectors.add(record(2).id, "another@1", record(2).content_hash, unit_vectors(1, 4))
    assert _nearest(store.vectors, 5) == [1]
    assert [number for number, _, _ in store.vectors.missing(MODEL, 5)] == [record(2).id]
    assert store.vectors.nearest(unit_vectors(1, 4)[0], "another@1", _ALL, 5)[0][0] == record(2).id


def test_vectors_of_content_that_was_changed_meanwhile_are_not_stored(store: MemoryStore) -> None:
    put(store, record(1))
    store.vectors.add(record(1).id, MODEL, "another hash", at_angle(0)[np.newaxis])
    assert _nearest(store.vectors, 5) == []
    assert store.vectors.missing_count(MODEL) == 1


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_a_vector_that_nobody_can_use_is_refused(store: MemoryStore, value: float) -> None:
    put(store, record(1))
    with pytest.raises(ValueError, match="zero or not finite"):
        store.vectors.add(record(1).id, MODEL, record(1).content_hash, np.full((1, 8), value, np.float32))
    assert store.vectors.missing_count(MODEL) == 1


@settings(max_examples=scale_examples(50))
@given(
    seed=st.integers(0, 99), count=st.integers(1, 8), parts=st.lists(st.integers(1, 3), min_size=1, max_size=12),
    dead=st.sets(st.integers(0, 11)),
)  # fmt: skip
def test_the_nearest_are_those_of_a_sort_of_all(seed: int, count: int, parts: list[int], dead: set[int]) -> None:
    store = MemoryStore(None, Scope.PROJECT)
    best: dict[str, float] = {}
    for number, size in enumerate(parts):
        vectors = unit_vectors(size, 8, seed=seed * 100 + number)
        put(store, record(number), *vectors)
        best[record(number).id] = float((vectors.astype(np.float16).astype(np.float32) @ _QUERY).max())
    _nearest(store.vectors, 1)
    for number in dead:
        if store.delete(record(number).id):
            del best[record(number).id]
    wanted = sorted(best, key=lambda number: (-best[number], number))[:count]
    assert [number for number, _ in store.vectors.nearest(_QUERY, MODEL, _ALL, count)] == wanted


class TestSnapshots:
    @pytest.fixture
    def vectors(self, store: MemoryStore, tmp_path: Path) -> MemoryVectors:
        """Those of 160 memories, every third with two parts, in a snapshot; a tenth was deleted or changed since."""
        found = MemoryVectors(store._database, tmp_path, exact_limit=20)
        with store.transaction():
            for number in range(160):
                put(store, record(number), *unit_vectors(2 if number % 3 == 0 else 1, 16, seed=number))
        found.optimise(MODEL)
        assert len(list(tmp_path.glob("memory-vectors-*.usearch"))) == 1
        with store.transaction():
            for number in range(0, 160, 20):
                store.delete(record(number).id)
                put(store, record(1000 + number), *unit_vectors(1, 16, seed=1000 + number))
                changed = record(number + 1, f"changed {number}", version=2)
                store.replace(changed)
                store.vectors.add(changed.id, MODEL, changed.content_hash, unit_vectors(1, 16, seed=2000 + number))
        return found

    def test_a_snapshot_finds_what_an_exact_search_finds(self, store: MemoryStore, vectors: MemoryVectors) -> None:
        exact = MemoryVectors(store._database, None)
        found = wanted = 0
        for seed in range(40):
            query = unit_vectors(1, 16, seed=5000 + seed)[0]
            best = exact.nearest(query, MODEL, _ALL, 10)
            near = vectors.nearest(query, MODEL, _ALL, 10)
            assert len(near) == 10
            cosines = exact.cosines(query, MODEL, [number for number, _ in near])
            assert dict(near) == pytest.approx(cosines, abs=1e-5)
            found += len({number for number, _ in near} & {number for number, _ in best})
            wanted += 10
        assert found / wanted > 0.98

    def test_filters_hold_in_a_snapshot(self, store: MemoryStore, vectors: MemoryVectors) -> None:
        filters = MemoryFilters(since=stamp(120), until=stamp(159))
        exact = MemoryVectors(store._database, None)
        query = unit_vectors(1, 16, seed=1)[0]
        assert vectors.nearest(query, MODEL, filters, 10) == exact.nearest(query, MODEL, filters, 10)

    def test_another_process_starts_from_the_snapshot(
        self, store: MemoryStore, vectors: MemoryVectors, tmp_path: Path
    ) -> None:
        again = MemoryVectors(MemoryStore(tmp_path / "memories.db", Scope.PROJECT)._database, tmp_path, exact_limit=20)
        query = unit_vectors(1, 16, seed=2)[0]
        assert again.nearest(query, MODEL, _ALL, 10) == vectors.nearest(query, MODEL, _ALL, 10)

    def test_where_most_are_dead_those_that_live_are_found(self, store: MemoryStore, vectors: MemoryVectors) -> None:
        with store.transaction():
            for memory in store.find()[:-3]:
                store.delete(memory.id)
        assert len(vectors.nearest(unit_vectors(1, 16, seed=3)[0], MODEL, _ALL, 3)) == 3

    def test_a_long_tail_has_a_snapshot_made_in_the_background(self, store: MemoryStore, tmp_path: Path) -> None:
        vectors = MemoryVectors(store._database, tmp_path, exact_limit=20)
        for number in range(40):
            put(store, record(number), at_angle(number))
        assert _nearest(vectors, 1) == [0]
        vectors.maintain()
        assert until(lambda: list(tmp_path.glob("memory-vectors-*.usearch")), 10)
        assert _nearest(vectors, 3) == [0, 1, 2]

    def test_a_snapshot_is_not_taken_for_that_of_a_backup_put_in_its_place(
        self, store: MemoryStore, tmp_path: Path
    ) -> None:
        file = tmp_path / "memories.db"
        put(store, record(1), at_angle(90))
        backup = store.backup()
        assert backup is not None
        for number in range(2, 60):
            put(store, record(number), at_angle(170 - number))
        MemoryVectors(store._database, tmp_path, exact_limit=20).optimise(MODEL)
        store.close()
        put_in_place(backup, file)
        restored = MemoryStore(file, Scope.PROJECT)
        # Its vector gets an id that the snapshot knows for another one.
        put(restored, record(99), at_angle(0))
        assert _nearest(MemoryVectors(restored._database, tmp_path, exact_limit=20), 1) == [99]


def test_all_vectors_of_several_memories_are_given_as_they_are(store: MemoryStore) -> None:
    for number in (2, 1):
        put(store, record(number), at_angle(10 * number), at_angle(20 * number))
    wanted = {record(1).id: record(1).content_hash, record(2).id: "a former hash"}
    ((number, model, parts),) = store.vectors.all_of(wanted)
    assert (number, model, parts.dtype) == (record(1).id, MODEL, np.float16)
    assert np.allclose(parts, [at_angle(10), at_angle(20)], atol=1e-3)


def test_a_restored_memory_is_embedded_anew(store: MemoryStore) -> None:
    memory: Memory = put(store, record(1), at_angle(0))
    store.delete(memory.id)
    store.insert(replace(memory, version=2))
    assert _nearest(store.vectors, 5) == []
    assert store.vectors.missing_count(MODEL) == 1
