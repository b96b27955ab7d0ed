"""The cross-encoder in its process: a real one, though small and untaught."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_ls.config.trust import users_trusted_folders
from rag_ls.embedding import locate
from rag_ls.engine.client import Client, local_client
from rag_ls.operations import Operations
from tests.support import PATIENCE_S, until, write

pytestmark = pytest.mark.extras

_WIDTH, _WORDS_READ = 16, 64
_SPECIAL = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a cross-encoder of one layer, its weights drawn by lot."""
    from safetensors.numpy import save_file

    folder = tmp_path_factory.mktemp("cross-encoder")
    tokenizer = locate("auto").tokenizer_file
    (folder / "tokenizer.json").write_bytes(tokenizer.read_bytes())
    words = len(json.loads(tokenizer.read_text())["model"]["vocab"])
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": _WORDS_READ, **_SPECIAL}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    config = {
        "architectures": ["BertForSequenceClassification"], "model_type": "bert", "vocab_size": words, "hidden_size": _WIDTH,
        "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": _WIDTH,
        "max_position_embeddings": _WORDS_READ, "type_vocab_size": 2, "num_labels": 1, "id2label": {"0": "LABEL_0"},
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    save_file(_weights(words), folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def _weights(words: int) -> dict[str, NDArray[np.float32]]:
    chance = np.random.default_rng(0)
    table = "bert.embeddings"
    shapes = {
        f"{table}.word_embeddings.weight": (words, _WIDTH),
        f"{table}.position_embeddings.weight": (_WORDS_READ, _WIDTH),
        f"{table}.token_type_embeddings.weight": (2, _WIDTH),
        "classifier.weight": (1, _WIDTH),
        "classifier.bias": (1,),
    }
    layer = "bert.encoder.layer.0"
    dense = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
    for name in (*(f"{layer}.{part}" for part in (*dense, "intermediate.dense", "output.dense")), "bert.pooler.dense"):
        shapes |= {f"{name}.weight": (_WIDTH, _WIDTH), f"{name}.bias": (_WIDTH,)}
    for name in (f"{table}.LayerNorm", f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"):
        shapes |= {f"{name}.weight": (_WIDTH,), f"{name}.bias": (_WIDTH,)}
    return {name: chance.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.mark.slow
def test_recalled_memories_come_in_its_order(cross_encoder: Path, shop: Path, home: Path) -> None:
    write(home, {"config/config.toml": f'[embedding]\nreranker = "{cross_encoder}"\n'})
    operations, client = _with_memories(shop)
    try:
        answers = []

        def is_reranked() -> bool:
            # The first question may come while the cross-encoder loads, and is then answered without it.
            answers.append(operations.run("search_memory", {"query": "retry rule number"}))
            return "note" not in answers[-1]["stats"]

        # Its process imports torch first, which takes minutes from a cold disk.
        assert until(is_reranked, 4 * PATIENCE_S)
        answer = answers[-1]
        contents = [hit["content"] for hit in answer["results"]]
        reranker = client.engine.models.reranker()
        scores = reranker.scores("retry rule number", contents)
        assert list(scores) == sorted(scores, reverse=True)
        # They share out the scores that they had, as code does.
        found = [hit["score"] for hit in answer["results"]]
        assert found == sorted(found, reverse=True)
        assert all("reranker" in hit["matched_by"] for hit in answer["results"])
        assert np.allclose(reranker.scores("retry rule number", contents), scores, atol=1e-5)
        assert reranker.scores("anything", []).shape == (0,)
    finally:
        client.close()


def test_without_it_they_come_as_they_were_and_the_answer_says_so(shop: Path, home: Path) -> None:
    write(home, {"config/config.toml": '[embedding]\nreranker = "/nowhere"\n'})
    operations, client = _with_memories(shop)
    try:
        answer = operations.run("search_memory", {"query": "retry rule number"})
        assert len(answer["results"]) == 3
        assert "/nowhere is no folder" in answer["stats"]["note"]
    finally:
        client.close()


def _with_memories(shop: Path) -> tuple[Operations, Client]:
    users_trusted_folders().add(shop)
    write(shop, {"rag-ls.toml": "[search]\nenable_reranking = true\n"})
    client = local_client()
    client.open(shop)
    operations = Operations(client, wait_for_model_s=10.0)
    for number in range(3):
        operations.run("store_memory", {"content": f"Retry rule number {number}", "scope": "session"})
    return operations, client
