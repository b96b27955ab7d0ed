"""Clusters by complete linkage: whoever is together is close to everybody there."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_ls.memory.consolidation import complete_linkage, pairs_above
from tests.memory.support import at_angle
from tests.support import scale_examples, unit_vectors


def _clusters(vectors: NDArray[np.float32], threshold: float) -> list[list[int]]:
    return sorted(numbers for numbers, _ in complete_linkage(pairs_above(vectors, threshold)))


def _at(*degrees: float) -> NDArray[np.float32]:
    return np.stack([at_angle(angle) for angle in degrees])


@settings(max_examples=scale_examples(60))
@given(count=st.integers(0, 30), seed=st.integers(0, 99), threshold=st.floats(-0.5, 0.99), dimensions=st.integers(2, 6))
def test_every_pair_of_a_cluster_is_at_least_as_close_as_asked(
    count: int, seed: int, threshold: float, dimensions: int
) -> None:
    vectors = unit_vectors(count, dimensions, seed)
    clusters = complete_linkage(pairs_above(vectors, threshold))
    members = [number for numbers, _ in clusters for number in numbers]
    assert len(set(members)) == len(members)
    for numbers, lowest in clusters:
        assert len(numbers) >= 2
        cosines = [float(vectors[one] @ vectors[other]) for one in numbers for other in numbers if one < other]
        assert min(cosines) >= threshold - 1e-5
        assert abs(min(cosines) - lowest) < 1e-5


@settings(max_examples=scale_examples(60))
@given(count=st.integers(0, 30), seed=st.integers(0, 99), threshold=st.floats(0, 0.95))
def test_no_two_clusters_could_be_one(count: int, seed: int, threshold: float) -> None:
    vectors = unit_vectors(count, 3, seed)
    clusters = _clusters(vectors, threshold)
    groups = [*clusters, *([number] for number in range(count) if all(number not in group for group in clusters))]
    for place, group in enumerate(groups):
        for other in groups[place + 1 :]:
            assert min(float(vectors[one] @ vectors[two]) for one in group for two in other) < threshold + 1e-5


@settings(max_examples=scale_examples(60))
@given(count=st.integers(0, 25), seed=st.integers(0, 99), threshold=st.floats(0, 0.95), data=st.data())
def test_the_order_of_vectors_does_not_matter(count: int, seed: int, threshold: float, data: st.DataObject) -> None:
    vectors = unit_vectors(count, 4, seed)
    order = data.draw(st.permutations(range(count)))
    mixed = _clusters(vectors[order] if count else vectors, threshold)
    assert sorted(sorted(order[number] for number in numbers) for numbers in mixed) == _clusters(vectors, threshold)


def test_a_chain_is_not_one_cluster() -> None:
    # Each is close to the next, the first is far from the last; the closest two come together.
    vectors = _at(0, 20, 39)
    assert _clusters(vectors, np.cos(np.radians(25))) == [[1, 2]]
    assert _clusters(vectors, np.cos(np.radians(40))) == [[0, 1, 2]]
    assert _clusters(vectors, np.cos(np.radians(18))) == []


def test_a_long_chain_falls_into_several_clusters() -> None:
    clusters = _clusters(_at(*(5 * number for number in range(30))), np.cos(np.radians(12)))
    assert max(map(len, clusters)) <= 3
    assert sum(map(len, clusters)) >= 28


def test_a_cluster_tells_how_far_apart_its_farthest_are() -> None:
    ((numbers, lowest),) = complete_linkage(pairs_above(_at(0, 10, 25), 0.8))
    assert numbers == [0, 1, 2]
    assert abs(lowest - np.cos(np.radians(25))) < 1e-5


def test_pairs_across_blocks_are_found() -> None:
    vectors = unit_vectors(1200, 64, seed=1)
    vectors[[3, 700, 1100]] = vectors[0]
    found = {(left, right) for left, right, _ in pairs_above(vectors, 0.999)}
    assert found == {(0, 3), (0, 700), (0, 1100), (3, 700), (3, 1100), (700, 1100)}


def test_many_duplicates_come_together_in_a_few_runs() -> None:
    left = 200
    runs = 0
    while left > 1:
        clusters = _clusters(_at(*[7.0] * left), 0.9)
        assert clusters
        left -= sum(len(numbers) - 1 for numbers in clusters)
        runs += 1
    assert runs <= 4


def test_nothing_has_no_clusters() -> None:
    assert _clusters(np.empty((0, 0), np.float32), 0.5) == []
    assert _clusters(_at(0), 0.5) == []
