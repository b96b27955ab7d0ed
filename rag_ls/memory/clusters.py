"""Clusters of vectors by complete linkage: every two members of a cluster are close to each other."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

# This many rows of the similarity matrix are in memory at once.
_BLOCK_ROWS = 512
# Only this many neighbours of each vector count; merging a larger cluster takes several runs.
_MAX_NEIGHBOURS = 64


def pairs_above(vectors: NDArray[np.float32], threshold: float) -> Iterator[tuple[int, int, float]]:
    """The pairs (i, j, cosine) with i < j and cosine >= `threshold` of unit vectors, shape (n, dimensions)."""
    for start in range(0, len(vectors), _BLOCK_ROWS):
        similarities = vectors[start : start + _BLOCK_ROWS] @ vectors[start:].T
        for row, values in enumerate(similarities):
            columns = np.flatnonzero(values[row + 1 :] >= threshold) + row + 1
            if len(columns) > _MAX_NEIGHBOURS:
                columns = columns[np.argsort(-values[columns], kind="stable")[:_MAX_NEIGHBOURS]]
            yield from ((start + row, start + int(column), float(values[column])) for column in columns)


def complete_linkage(pairs: Iterator[tuple[int, int, float]]) -> list[tuple[list[int], float]]:
    """Clusters of two and more members, each with the cosine of its two farthest members.

    Agglomerative: joins the two clusters whose farthest members are closest, as long as `pairs` holds all pairs between
    them (Defays, "An efficient algorithm for a complete link method", 1977; here on a sparse graph, with a heap).
    Deterministic.
    """
    links: dict[int, dict[int, float]] = {}
    for left, right, value in pairs:
        links.setdefault(left, {})[right] = value
        links.setdefault(right, {})[left] = value
    members = {index: [index] for index in links}
    lowest: dict[int, float] = {}
    heap = [(-value, left, right) for left, row in links.items() for right, value in row.items() if left < right]
    heapq.heapify(heap)
    fresh = max(members, default=0) + 1
    while heap:
        negative, left, right = heapq.heappop(heap)
        if left not in members or right not in members:
            continue
        members[fresh] = members.pop(left) + members.pop(right)
        lowest[fresh] = min(-negative, lowest.pop(left, 1.0), lowest.pop(right, 1.0))
        links[fresh] = _join_links(links, left, right, members)
        for other, value in links[fresh].items():
            links[other][fresh] = value
            heapq.heappush(heap, (-value, other, fresh))
        fresh += 1
    return [(sorted(members[index]), value) for index, value in sorted(lowest.items())]


def _join_links(
    links: dict[int, dict[int, float]], left: int, right: int, members: dict[int, list[int]]
) -> dict[int, float]:
    """The cosine of each other cluster to two joined ones: the smaller of the two."""
    first, second = links.pop(left), links.pop(right)
    return {other: min(value, second[other]) for other, value in first.items() if other in second and other in members}
