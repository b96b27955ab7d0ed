"""The vectors of a checkout that may leave the machine."""

from __future__ import annotations

import bisect
from collections.abc import Collection, Sequence

from rag_ls.storage.api import Vector, VectorStore
from rag_ls.storage.records import Vectors
from rag_ls.storage.sqlite.pending import PendingEmbeddings


class SavedVectors:
    """See `ListedVectors`: those of the active model, of texts that files hold as they are now."""

    def __init__(self, embeddings: PendingEmbeddings, vectors: VectorStore) -> None:
        self._embeddings = embeddings
        self._vectors = vectors
        self._saved: list[bytes] | None = None

    def models(self) -> list[str]:
        """See `ListedVectors`."""
        model = self._embeddings.active_model()
        return [model] if model and self._hashes(model) else []

    def text_hashes(self, model: str, after: bytes, count: int) -> list[bytes]:
        """See `ListedVectors`."""
        saved = self._hashes(model)
        start = bisect.bisect_right(saved, after)
        return saved[start : start + count]

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        """See `ListedVectors`."""
        return self._vectors.get(model, text_hashes)

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        """See `ListedVectors`."""
        return self._vectors.missing(model, text_hashes)

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        """See `ListedVectors`."""
        self._vectors.put(model, text_hashes, vectors)

    def close(self) -> None:
        """Nothing of its own is open."""

    def _hashes(self, model: str) -> list[bytes]:
        if self._saved is None:
            saved = self._embeddings.saved_hashes()
            self._saved = sorted(set(saved) - self._vectors.missing(model, saved))
        return self._saved
