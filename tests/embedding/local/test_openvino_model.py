"""A model compiled by OpenVINO: the same vectors as torch's, in any batch."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag_ls.embedding import locate
from rag_ls.embedding.local.bulk_models import OpenVinoEmbedder, TorchEmbedder, _batches, can_compile, padded_length
from rag_ls.embedding.local.catalog import CALIBRATION, PACKED_GRAPH
from rag_ls.embedding.local.worker_main import require_torch
from rag_ls.errors import ModelDamaged, ModelMissing

_needs_openvino = pytest.mark.skipif(
    importlib.util.find_spec("openvino") is None, reason="OpenVINO has no build for this machine"
)
_TEXTS = [
    "def total(items):\n    return sum(items)\n",
    "x",
    "where is the price of a cart computed? " * 40,
    "",
    "größe 検索",
]


@pytest.mark.long
@pytest.mark.extras
@_needs_openvino
def test_vectors_agree_with_torch_whatever_else_is_in_the_batch() -> None:
    model = locate("auto")
    embedder = OpenVinoEmbedder(model, threads=2)
    vectors = embedder.embed_documents(_TEXTS)
    assert vectors.shape == (len(_TEXTS), 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    by_torch = TorchEmbedder(model, device="cpu", batch_size=8, threads=1).embed_documents(_TEXTS)
    # Eight bits cost a little. What that costs rankings is measured (docs/performance.md).
    assert ((vectors * by_torch).sum(axis=1) > 0.97).all()
    alone = np.stack([embedder.embed_query(text) for text in _TEXTS])
    assert ((vectors * alone).sum(axis=1) > 0.999).all()
    assert embedder.embed_documents([]).shape == (0, 0)


@_needs_openvino
def test_a_calibration_of_another_model_is_refused_by_name(tmp_path: Path) -> None:
    model = locate("auto")
    shutil.copytree(model.folder, tmp_path / "model")
    (tmp_path / "model" / CALIBRATION).write_bytes(b"another")
    changed = replace(model, folder=tmp_path / "model", onnx_file=tmp_path / "model" / PACKED_GRAPH)
    with pytest.raises(ModelDamaged, match=r"calibration\.npz is damaged or of another revision"):
        OpenVinoEmbedder(changed, threads=1)


def test_other_devices_are_left_to_torch() -> None:
    assert not can_compile("cuda")
    assert not can_compile("mps")


def test_batches_hold_every_row_once_and_bounded_numbers_of_tokens() -> None:
    lengths = [padded_length(tokens, 256) for tokens in [3, 256, 1, 40, 256, 17, 0] * 50]
    batches = list(_batches(lengths))
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[row] for row in batch) <= 2048 for batch in batches)


def test_batches_have_few_lengths_since_the_worker_keeps_memory_for_each() -> None:
    assert len({padded_length(tokens, 250) for tokens in range(251)}) < 20
    assert all(tokens <= padded_length(tokens, 250) <= 250 for tokens in range(251))


@pytest.mark.slow
@_needs_openvino
def test_the_default_model_needs_no_torch(home: Path) -> None:
    program = (
        "import sys; sys.modules['torch'] = sys.modules['sentence_transformers'] = None\n"
        "from rag_ls.embedding import locate\n"
        "from rag_ls.embedding.local.bulk_models import OpenVinoEmbedder\n"
        "print(OpenVinoEmbedder(locate('auto'), threads=1).embed_documents(['x = 1']).shape)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "(1, 384)\n", done.stderr
    assert locate("auto").is_packed


@pytest.mark.extras
def test_what_needs_torch_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    require_torch("a model")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ModelMissing, match=r"a model needs torch here: `pip install .*\[torch\]'? .+rag-ls-model`"):
        require_torch("a model")
