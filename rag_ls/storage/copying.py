"""Copies vectors from one store to another. Vectors that are there already are skipped, so an interrupted copy goes on."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Collection, Sequence

import numpy as np

from rag_ls.storage.api import Vector, VectorStore
from rag_ls.storage.records import Vectors
from rag_ls.storage.server_api import ListedVectors
from rag_ls.storage.sqlite.pending import PendingEmbeddings
from rag_ls.util.records import dataclass

_MAX_TEXTS = 1000
# Stores round to half precision, and some normalise again.
_MIN_COSINE = 0.999


@dataclass(frozen=True, slots=True)
class CopiedModel:
    """The outcome of copying one model's vectors."""

    model: str
    found: int
    """The usable vectors of the source."""
    copied: int
    """The vectors that the target lacked before."""
    wrong: int
    """The vectors that the target lacks, or has otherwise, after the copy."""
    damaged: int
    """Vectors of the source that are not usable, and were left out."""


def copy_vectors(
    source: ListedVectors, target: ListedVectors, report: Callable[[str, int], None] = lambda model, done: None
) -> list[CopiedModel]:
    """Copy the vectors of all models, and compare each with what the target then has.

    `report` is told the model and how many of its texts are done. Raises `StoreUnavailable`.
    """
    return [_copy_model(source, target, model, report) for model in source.models()]


def _copy_model(
    source: ListedVectors, target: ListedVectors, model: str, report: Callable[[str, int], None]
) -> CopiedModel:
    found = copied = wrong = damaged = 0
    after = b""
    while page := source.text_hashes(model, after, _MAX_TEXTS):
        after = page[-1]
        vectors = source.get(model, page)
        missing = [text_hash for text_hash in target.missing(model, page) if text_hash in vectors]
        if missing:
            target.put(model, missing, np.stack([vectors[text_hash] for text_hash in missing]))
        there = target.get(model, page)
        wrong += sum(
            text_hash not in there or float(there[text_hash] @ vector) < _MIN_COSINE
            for text_hash, vector in vectors.items()
        )
        found, copied, damaged = found + len(vectors), copied + len(missing), damaged + len(page) - len(vectors)
        report(model, found + damaged)
    return CopiedModel(model, found, copied, wrong, damaged)


class SavedVectors:
    """See `ListedVectors`: those of the active model, of texts that files hold as they are now."""

    def __init__(self, embeddings: PendingEmbeddings, vectors: VectorStore) -> None:
        self._embeddings = embeddings
        self._vectors = vectors
        self._saved: list[bytes] | None = None

    def models(self) -> list[str]:
        model = self._embeddings.active_model()
        return [model] if model and self._hashes(model) else []

    def text_hashes(self, model: str, after: bytes, count: int) -> list[bytes]:
        saved = self._hashes(model)
        start = bisect.bisect_right(saved, after)
        return saved[start : start + count]

    def get(self, model: str, text_hashes: Collection[bytes]) -> dict[bytes, Vector]:
        return self._vectors.get(model, text_hashes)

    def missing(self, model: str, text_hashes: Collection[bytes]) -> set[bytes]:
        return self._vectors.missing(model, text_hashes)

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        self._vectors.put(model, text_hashes, vectors)

    def close(self) -> None:
        """Nothing of its own is open."""

    def _hashes(self, model: str) -> list[bytes]:
        if self._saved is None:
            saved = self._embeddings.saved_hashes()
            self._saved = sorted(set(saved) - self._vectors.missing(model, saved))
        return self._saved
