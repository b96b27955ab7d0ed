"""Stores of vectors that do at once what otherwise happens in the background, so that contracts reach it."""

from __future__ import annotations

from collections.abc import Sequence

from rag_ls.storage import Vectors
from rag_ls.storage.postgres.project_vectors import PostgresProjectVectors
from rag_ls.storage.served import ServedVectors


class SentAtOnce(ServedVectors):
    """Every second vector is on the server, the others are here."""

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        known = self.missing(model, text_hashes)
        super().put(model, text_hashes[1::2], vectors[1::2])
        self.server.put(model, text_hashes[::2], vectors[::2])
        self.known.add(model, known & set(text_hashes[::2]))


class IndexedAtOnce(PostgresProjectVectors):
    """The HNSW index is made with the first vectors."""

    def put(self, model: str, text_hashes: Sequence[bytes], vectors: Vectors) -> None:
        super().put(model, text_hashes, vectors)
        self.maintain()
