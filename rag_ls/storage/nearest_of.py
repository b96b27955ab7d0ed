"""Tells which vectors can be compared, and finds the nearest among many allowed ones. All stores use it."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from rag_ls.storage.api import Vector
from rag_ls.storage.records import Neighbour, Vectors

MAX_SENT = 20_000
"""A search restricted to at most so many texts sends them along; the server compares each of them."""
_MAX_FOUND = 20_000
# float16 rounds a vector's length by less.
_NORM_TOLERANCE = 0.01


def is_usable(vector: Vector, dimensions: int) -> bool:
    """Whether a vector has so many numbers, all finite, and the length one."""
    return len(vector) == dimensions and abs(float(np.linalg.norm(vector)) - 1.0) < _NORM_TOLERANCE


def check_usable(vectors: Vectors) -> None:
    """Raise `ValueError` if one of these vectors, shape (n, dimensions), is not finite and of length one."""
    if not np.all(np.abs(np.linalg.norm(vectors, axis=1) - 1.0) < _NORM_TOLERANCE):
        raise ValueError("vectors that are not finite and of length one are not stored; none of them was")


def find_nearest_among(walk: Callable[[int], list[Neighbour]], count: int, among: Collection[bytes]) -> list[Neighbour]:
    """The `count` nearest of very many texts: `walk` finds the so many nearest of all, until enough are among them."""
    allowed, wanted = set(among), 4 * count
    while True:
        near = walk(wanted)
        kept = [neighbour for neighbour in near if neighbour.text_hash in allowed]
        if len(kept) >= count or len(near) < wanted or wanted >= _MAX_FOUND:
            return kept[:count]
        wanted *= 4
