"""A real OpenAI-compatible server with the default model, where RAG_LS_TEST_EMBEDDINGS names one ("http://HOST:PORT/v1 MODEL").

infinity-emb is one (in an environment of its own):
`infinity_emb v2 --model-id FOLDER --served-model-name minilm --engine torch --url-prefix /v1`, with the folder that `rag-ls doctor` shows.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import HostedModel, local_model
from rag_ls.embedding.remote.provider import RemoteProvider

NAMED = os.environ.get("RAG_LS_TEST_EMBEDDINGS", "")
pytestmark = pytest.mark.skipif(not NAMED, reason="RAG_LS_TEST_EMBEDDINGS names no server")


def _settings(**changes: str) -> EmbeddingSettings:
    endpoint, _, model = NAMED.partition(" ")
    return EmbeddingSettings(**{"provider": "openai", "endpoint": endpoint, "model": model, **changes})


def test_its_vectors_are_those_of_the_same_model_here() -> None:
    provider = RemoteProvider(_settings())
    there = HostedModel(provider.load(provider.models()[0].id))
    here = local_model("auto", EmbeddingSettings(backend="onnx"))
    texts = [f"def function_{number}(pool): return pool.resize({number})" for number in range(200)]
    texts += ["", "ünïcödé ✓ \x00", "long words " * 3000]
    found = there.embed_documents(texts)
    assert found.shape == (len(texts), 384)
    cosines = np.sum(found[:200] * here.embed_documents(texts[:200]), axis=1)
    assert cosines.min() > 0.98
    assert float(there.embed_query(texts[7]) @ found[7]) > 0.999
