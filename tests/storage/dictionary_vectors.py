"""A `VectorStore` in a dictionary: the smallest second implementation, which shows that nobody looks behind the port."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from rag_ls.storage import Neighbour, Vector, Vectors


class DictionaryVectors:
    """See `VectorStore`."""

    def __init__(self) -> None:
        self._vectors: dict[tuple[str, bytes], Vector] = {}

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        norms = np.linalg.norm(vectors, axis=1)
        if not np.all(np.isfinite(norms)) or np.any(norms < 1e-6):
            raise ValueError("a vector is zero or not finite; none was stored")
        for text_hash, vector in zip(text_hashes, vectors, strict=True):
            self._vectors.setdefault((model, text_hash), np.array(vector, np.float32))

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        return {each: self._vectors[model, each] for each in text_hashes if (model, each) in self._vectors}

    def similarities(self, model: str, query: Vector, text_hashes: Collection[bytes]) -> dict[bytes, float]:
        return {each: float(vector @ query) for each, vector in self.get(model, text_hashes).items()}

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        return {each for each in text_hashes if (model, each) not in self._vectors}

    def nearest(self, model: str, query: Vector, count: int, among: Collection[bytes] | None = None) -> list[Neighbour]:
        allowed = None if among is None else set(among)
        found = [
            Neighbour(text_hash, float(vector @ query))
            for (owner, text_hash), vector in self._vectors.items()
            if owner == model and (allowed is None or text_hash in allowed)
        ]
        return sorted(found, key=lambda neighbour: -neighbour.similarity)[:count]

    def maintain(self) -> None:
        """Nothing is to be done."""

    def close(self) -> None:
        """Nothing is to be closed."""
