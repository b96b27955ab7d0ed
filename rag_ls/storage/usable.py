"""Says which vectors can be compared with others of their model."""

from __future__ import annotations

import numpy as np

from rag_ls.storage.api import Vector

# float16 rounds a vector's length by less.
_NORM_TOLERANCE = 0.01


def is_usable(vector: Vector, dimensions: int) -> bool:
    """Whether a vector has so many numbers, all finite, and the length one."""
    return len(vector) == dimensions and abs(float(np.linalg.norm(vector)) - 1.0) < _NORM_TOLERANCE
