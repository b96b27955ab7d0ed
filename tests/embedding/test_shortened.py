"""Vectors that are cut to their first numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import HostedModel, ShortenedModel, local_model


@pytest.fixture(scope="module")
def model() -> Iterator[HostedModel]:
    """The real model."""
    model = local_model("auto", EmbeddingSettings(backend="onnx"))
    yield model
    model.close()


def test_a_shortened_model_is_another_model_with_unit_vectors_that_still_tell_texts_apart(
    model: HostedModel,
) -> None:
    short = ShortenedModel(model, 96)
    assert short.card.id != model.card.id
    texts = ["Invoices are rounded to whole cents.", "Customers wait two hours at most.", ""]
    vectors = short.embed_documents(texts)
    assert vectors.shape == (3, short.card.dimensions) == (3, 96)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    question = short.embed_query("how are bills rounded")
    assert np.linalg.norm(question) == pytest.approx(1, abs=1e-5)
    assert int(np.argmax(vectors @ question)) == 0
