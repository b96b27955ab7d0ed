"""The real model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import HostedModel, local_model
from tests.remembered_vectors import RememberedModels


@pytest.fixture(scope="session")
def model(remembered_models: RememberedModels) -> Iterator[HostedModel]:
    """The real model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rag_ls.embedding.local.stack.OnnxEmbedder", remembered_models.load)
        model = local_model("auto", EmbeddingSettings(backend="onnx"))
    yield model
    model.close()
