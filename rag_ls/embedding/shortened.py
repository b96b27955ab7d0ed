"""A model whose vectors are cut to their first numbers: smaller, and a little less exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding.api import Embedder, ModelCard, normalise


class ShortenedModel:
    """Satisfies `Embedder`. Its vectors are another model's by their id: the two are never compared."""

    def __init__(self, model: Embedder, dimensions: int) -> None:
        """`dimensions` is less than the model's."""
        self._model = model
        self._dimensions = dimensions

    @property
    def card(self) -> ModelCard:
        card = self._model.card
        return replace(card, id=f"{card.id}/{self._dimensions}", dimensions=self._dimensions)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return normalise(self._model.embed_documents(texts)[:, : self._dimensions])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = normalise(self._model.embed_query(text)[None, : self._dimensions])[0]
        return vector

    def close(self) -> None:
        self._model.close()
