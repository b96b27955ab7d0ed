"""The seam between texts and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into unit vectors of one model. Safe to call from any thread."""

    @property
    def model_id(self) -> str:
        """Name and revision: vectors of equal ids can be compared."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (len(texts), dimensions), each of length one, in the order of `texts`."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """One vector of shape (dimensions,), of length one."""
        ...

    def close(self) -> None:
        """Free what the embedder holds; calls that wait fail."""
        ...


def normalised(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """The vectors, shape (n, dimensions), at length one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
