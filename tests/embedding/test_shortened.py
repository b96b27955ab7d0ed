"""Vectors that are cut to their first numbers."""

from __future__ import annotations

import numpy as np
import pytest

from rag_ls.embedding import ShortenedModel
from rag_ls.embedding.local.onnx import OnnxEmbedder


def test_a_shortened_model_is_another_model_with_unit_vectors_that_still_tell_texts_apart(
    embedder: OnnxEmbedder,
) -> None:
    model = ShortenedModel(embedder, 96)
    assert model.card.id != embedder.card.id
    texts = ["Invoices are rounded to whole cents.", "Customers wait two hours at most.", ""]
    vectors = model.embed_documents(texts)
    assert vectors.shape == (3, model.card.dimensions) == (3, 96)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    question = model.embed_query("how are bills rounded")
    assert np.linalg.norm(question) == pytest.approx(1, abs=1e-5)
    assert int(np.argmax(vectors @ question)) == 0
