"""Training: ten steps on a real model, interrupted and resumed; batches."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import local_model, locate
from training.batches import batches
from training.blend import blend
from training.pairs import Pair
from training.train import Diverged, Recipe, Training

_VERBS = ("parse", "send", "open", "round", "sort", "merge", "close", "read", "write", "count")
_NOUNS = ("header", "invoice", "file", "price", "list", "branch", "socket", "line", "log", "word")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model as MiniLM is, with its tokenizer, but a tenth as large and untaught: what it learns shows in seconds."""
    import torch
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("base") / "model"
    shutil.copytree(locate("all-MiniLM-L6-v2").folder, folder)
    (folder / "model.safetensors").unlink()
    torch.manual_seed(1)
    config = BertConfig.from_pretrained(
        folder, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128
    )
    BertModel(config).save_pretrained(folder)
    pooling = folder / "1_Pooling" / "config.json"
    pooling.write_text(pooling.read_text().replace("384", "64"))
    return folder


def _recipe(steps: int, batch: int = 8, **more: Any) -> Recipe:
    return Recipe(steps, **{"batch": batch, "groups": 2, "dimensions": (64, 32, 16), **more})


def _pairs(count: int, repositories: int = 2) -> list[Pair]:
    return [
        Pair("question", "python", f"acme/r{number % repositories}", "a.py", f"where do we {verb} the {noun} {number}",
             f"def {verb}_{noun}_{number}():\n    return {noun}.{verb}({number})")
        for number in range(count)
        for verb, noun in [(_VERBS[number % 10], _NOUNS[number // 10 % 10])]
    ]  # fmt: skip


def _log(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


@pytest.mark.long
def test_ten_steps_are_learned_interrupted_and_gone_on_with(base: Path, tmp_path: Path) -> None:
    recipe, pairs = _recipe(10, rate=1e-3), _pairs(80)
    begun = Training(base, tmp_path, recipe)
    begun.run(pairs, until=6)
    resumed = Training(base, tmp_path, recipe)
    assert resumed.step == 6
    resumed.run(pairs)
    (tmp_path / "whole").mkdir()
    whole = Training(base, tmp_path / "whole", recipe)
    whole.run(pairs)
    assert [line["step"] for line in _log(tmp_path)] == [6, 10]
    assert all(math.isfinite(line["loss"]) for line in _log(tmp_path))
    assert _log(tmp_path)[-1]["loss"] < _log(tmp_path)[0]["loss"]
    # Resumed, it learns what it would have learned in one go.
    for one, other in zip(resumed.weights().values(), whole.weights().values(), strict=True):
        assert abs(one - other).max() < 1e-4
    resumed.save(tmp_path / "model")
    model = local_model(str(tmp_path / "model"), EmbeddingSettings())
    try:
        assert model.embed_documents(["where is it"]).shape == (1, 64)
    finally:
        model.close()
    with pytest.raises(SystemExit, match="is of another recipe"):
        Training(base, tmp_path, _recipe(11))


@pytest.mark.long
def test_cached_gradients_are_those_of_the_whole_batch(base: Path, tmp_path: Path) -> None:
    weights = []
    for cached in (0, 4):
        folder = tmp_path / str(cached)
        folder.mkdir()
        training = Training(base, folder, _recipe(1, cached=cached))
        training.without_chance()
        training.run(_pairs(16))
        weights.append(training.weights())
    for one, other in zip(*(each.values() for each in weights), strict=True):
        assert abs(one - other).max() < 1e-3


@pytest.mark.long
def test_a_saved_model_reads_texts_as_long_as_before(base: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    training = Training(base, tmp_path, _recipe(2, answer_tokens=16))
    training.run(_pairs(32))
    training.save(tmp_path / "model")
    lengths = [SentenceTransformer(str(each), device="cpu").max_seq_length for each in (base, tmp_path / "model")]
    assert lengths == [256, 256]


@pytest.mark.long
def test_a_blend_lies_between_what_it_is_made_of(base: Path, tmp_path: Path) -> None:
    training = Training(base, tmp_path, _recipe(2, rate=1e-2))
    before = training.weights()
    training.run(_pairs(32))
    training.save(tmp_path / "model")
    blend(base, tmp_path / "model", 0.25, tmp_path / "blend")
    (tmp_path / "other").mkdir()
    for name, mixed in Training(tmp_path / "blend", tmp_path / "other", _recipe(1)).weights().items():
        assert abs(mixed - (0.25 * training.weights()[name] + 0.75 * before[name])).max() < 1e-5


@pytest.mark.long
def test_a_run_that_diverges_says_so_and_keeps_the_last_state(base: Path, tmp_path: Path) -> None:
    training = Training(base, tmp_path, _recipe(10, rate=1e30))
    with pytest.raises(Diverged, match="a lower --rate"):
        training.run(_pairs(80))
    assert not (tmp_path / "state.pt").exists()


@pytest.mark.long
def test_too_few_pairs_are_told(base: Path, tmp_path: Path) -> None:
    training = Training(base, tmp_path, _recipe(10, 64))
    with pytest.raises(SystemExit, match="16 pairs fill no batch of 64 from 2 repositories"):
        training.run(_pairs(16))


@given(count=st.integers(0, 120), groups=st.sampled_from([1, 2, 4]), seed=st.integers(0, 5))
def test_a_batch_holds_no_text_twice(count: int, groups: int, seed: int) -> None:
    pairs = [*_pairs(count), *_pairs(count // 2)]
    found = batches(pairs, 8, groups, seed)
    for batch in found:
        texts = [text for pair in batch for text in (pair.question, pair.answer)]
        assert len(texts) == len(set(texts))
        assert len(batch) <= 8
    assert found == batches(pairs, 8, groups, seed)


def test_the_pairs_of_a_batch_are_of_few_repositories() -> None:
    for batch in batches(_pairs(200, repositories=5), 16, 2, 1):
        assert len({pair.repository for pair in batch}) <= 2
