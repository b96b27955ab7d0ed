"""Fixtures of several files: memories of all scopes, and the real model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import HostedModel, local_model
from rag_ls.memory import Memories
from tests.memory.support import memories_in
from tests.remembered_vectors import RememberedModels


@pytest.fixture
def memories(tmp_path: Path) -> Memories:
    """Session memories in RAM, the project's and the user's in files."""
    return memories_in(tmp_path)


@pytest.fixture(scope="session")
def model(remembered_models: RememberedModels) -> Iterator[HostedModel]:
    """The real model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rag_ls.embedding.local.stack.OnnxEmbedder", remembered_models.load)
        model = local_model("auto", EmbeddingSettings(backend="onnx"))
    yield model
    model.close()
