"""Packing: a real model, packed, runs everywhere with the vectors that it had."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from rag_ls.embedding import locate
from rag_ls.embedding.local.bulk_models import TorchEmbedder
from rag_ls.embedding.local.catalog import PACKED_WEIGHTS
from rag_ls.embedding.local.stack import OnnxEmbedder
from rag_ls.errors import ModelDamaged
from training.graph import Encoder
from training.pack import packed_into
from training.train import base_folder

_TEXTS = [
    "def refresh(token):\n    return exchange(token)",
    "where are invoices rounded",
    "",
    "größe 検索 поиск",
    "SELECT name FROM users WHERE id = 1",
    "word " * 600,
]


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packed")
    packed_into(locate("all-MiniLM-L6-v2").folder, folder)
    return folder


@pytest.mark.long
def test_a_packed_model_is_a_quarter_as_large_and_located_by_its_folder(packed: Path) -> None:
    assert sum(file.stat().st_size for file in packed.rglob("*") if file.is_file()) < 25_000_000
    located = locate(str(packed))
    assert located.is_packed
    assert located.id.startswith(f"{packed.resolve()}@")


@pytest.mark.long
def test_the_graph_and_the_unpacked_weights_make_the_vectors_of_the_model(packed: Path) -> None:
    before = TorchEmbedder(locate("all-MiniLM-L6-v2"), device="cpu", batch_size=8, threads=2).embed_documents(_TEXTS)
    quick = OnnxEmbedder(locate(str(packed)), threads=2).embed_documents(_TEXTS)
    bulk = TorchEmbedder(locate(str(packed)), device="cpu", batch_size=8, threads=2).embed_documents(_TEXTS)
    assert np.sum(quick * before, axis=1).min() > 0.99
    assert np.sum(bulk * before, axis=1).min() > 0.99


@pytest.mark.long
def test_a_graph_is_the_same_to_the_byte_when_it_is_made_again(packed: Path, tmp_path: Path) -> None:
    packed_into(locate("all-MiniLM-L6-v2").folder, tmp_path)
    for name in ("model.onnx", PACKED_WEIGHTS):
        assert (tmp_path / name).read_bytes() == (packed / name).read_bytes()


@pytest.mark.long
def test_the_graph_is_not_loaded_over_other_weights(packed: Path) -> None:
    located = locate(str(packed))
    weights = located.weights_file
    data = bytearray(weights.read_bytes())
    kept, data[len(data) // 2] = bytes(data), data[len(data) // 2] ^ 1
    weights.write_bytes(data)
    try:
        with pytest.raises(ModelDamaged, match=r"weights\.int8\.safetensors is damaged or of another revision"):
            OnnxEmbedder(located, threads=1)
    finally:
        weights.write_bytes(kept)


def test_another_architecture_is_refused() -> None:
    for config in ({"model_type": "gpt2"}, {"hidden_act": "relu"}, {"hidden_size": 320}):
        with pytest.raises(ValueError, match=str(next(iter(config.values())))):
            Encoder.of({"model_type": "bert", "hidden_act": "gelu", "hidden_size": 384, **config})


def test_another_pooling_is_refused(tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(locate("all-MiniLM-L6-v2").folder, model)
    (model / "1_Pooling" / "config.json").write_text('{"pooling_mode": "cls"}')
    with pytest.raises(ValueError, match="otherwise than by the mean"):
        packed_into(model, tmp_path / "packed")


def test_training_does_not_begin_with_a_packed_model() -> None:
    with pytest.raises(SystemExit, match="packed in eight bits"):
        base_folder("minilm-code")
