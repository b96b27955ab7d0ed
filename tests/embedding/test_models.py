"""Models: where they are, what is checked before they are loaded, and that their vectors agree."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import HostedModel, ModelHost, locate
from rag_ls.embedding.local.bulk_models import TorchEmbedder
from rag_ls.embedding.local.catalog import MINILM, MPNET, OWN, LocatedModel, file_sha256, locate_id
from rag_ls.embedding.local.stack import LocalModel, OnnxEmbedder
from rag_ls.embedding.local.worker import EmbeddingWorkerFailed, WorkerEmbedder
from rag_ls.errors import ModelDamaged, ModelMissing
from tests.support import PATIENCE_S, finished, python, until

_TEXTS = [
    "def refresh(token):\n    return exchange(token)",
    "Sum of the items in the shopping cart",
    "",
    "größe 検索 поиск",
    "SELECT name FROM users WHERE id = 1",
    "word " * 600,
]

_PARENT = """
from rag_ls.embedding import locate
from rag_ls.embedding.local.worker import WorkerEmbedder

worker = WorkerEmbedder(locate("auto"), device="cpu", batch_size=8, threads=1)
process = worker.process._start()
print(process.pid, flush=True)
input()
"""


def with_known(model: LocatedModel, **changes: str) -> LocatedModel:
    """A model of which something else is known."""
    return replace(model, known=replace(model.known, **changes))


@pytest.fixture(scope="module")
def quick() -> OnnxEmbedder:
    """The default model as ONNX runs it."""
    return OnnxEmbedder(locate("auto"), threads=1)


@pytest.mark.slow
def test_vectors_have_length_one_and_the_order_of_their_texts(quick: OnnxEmbedder) -> None:
    vectors = quick.embed_documents(_TEXTS)
    assert vectors.shape == (len(_TEXTS), OWN.dimensions)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(_TEXTS, vectors, strict=True):
        assert float(quick.embed_query(text) @ vector) > 0.98


def test_texts_of_like_meaning_are_close(quick: OnnxEmbedder) -> None:
    query = quick.embed_query("renew an expired login")
    close, far = quick.embed_documents(["refresh the authentication token", "bake bread in the oven"])
    assert query @ close > query @ far + 0.2


def test_nothing_to_embed_gives_no_vectors(quick: OnnxEmbedder) -> None:
    assert len(quick.embed_documents([])) == 0


@pytest.mark.slow
def test_the_torch_process_agrees_with_the_quick_model_and_can_be_stopped(quick: OnnxEmbedder) -> None:
    worker = WorkerEmbedder(locate("auto"), device="cpu", batch_size=8, threads=2)
    try:
        vectors = worker.embed_documents(_TEXTS)
        similarities = np.sum(vectors * quick.embed_documents(_TEXTS), axis=1)
        # Both are quantised, each in its own way.
        assert similarities.min() > 0.96
        assert worker.embed_documents([]).size == 0
        assert worker.process.running
        worker.process.stop()
        assert not worker.process.running
    finally:
        worker.close()
    with pytest.raises(EmbeddingWorkerFailed, match="closed"):
        worker.embed_query("x")


@pytest.mark.slow
def test_a_torch_process_ends_when_its_parent_is_killed() -> None:
    parent = python(_PARENT)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    assert _runs(worker)
    parent.kill()
    parent.communicate()
    assert until(lambda: not _runs(worker), PATIENCE_S)


@pytest.mark.slow
def test_a_torch_process_refuses_weights_with_another_checksum_and_says_so() -> None:
    damaged = with_known(locate("auto"), sha256="0" * 64)
    worker = WorkerEmbedder(damaged, device="cpu", batch_size=8, threads=1)
    try:
        with pytest.raises(EmbeddingWorkerFailed, match=r"ModelDamaged.*expected 000000000000"):
            worker.embed_query("x")
    finally:
        worker.close()


@pytest.mark.slow
def test_the_model_loads_in_a_process_that_has_read_a_vector_snapshot(tmp_path: Path) -> None:
    """usearch, loaded first, makes onnxruntime crash the process."""
    process = python(
        "import sys, pathlib\n"
        "import numpy as np\n"
        "from rag_ls.storage.sqlite.vector_index import VectorIndex\n"
        "from rag_ls.storage.sqlite.vector_index import VectorRows\n"
        "from tests.support import open_checkout, put_vectors\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "store = open_checkout(folder / 'index.db')\n"
        "put_vectors(store, 'm', [bytes([n]) for n in range(9)], np.eye(9, dtype=np.float32))\n"
        "index = VectorIndex(VectorRows(store._database), 'm', folder)\n"
        "index.refresh()\n"
        "index.build_snapshot()\n"
        "from rag_ls.embedding import locate\n"
        "from rag_ls.embedding.local.stack import OnnxEmbedder\n"
        "OnnxEmbedder(locate('auto'), threads=1)",
        tmp_path,
    )
    finished(process)
    assert list(tmp_path.glob("vectors-*.usearch"))


@pytest.mark.slow
@pytest.mark.extras
def test_weights_with_another_checksum_are_not_loaded(tmp_path: Path) -> None:
    located = locate("auto")
    with pytest.raises(ModelDamaged, match="was not loaded"):
        OnnxEmbedder(with_known(located, onnx_sha256="0" * 64), threads=1)
    assert located.onnx_file is not None
    copy = tmp_path / "model.onnx"
    data = bytearray(located.onnx_file.read_bytes())
    data[len(data) // 2] ^= 1
    copy.write_bytes(data)
    with pytest.raises(ModelDamaged, match=r"model\.onnx"):
        OnnxEmbedder(replace(located, onnx_file=copy), threads=1)
    with pytest.raises(ModelDamaged):
        TorchEmbedder(with_known(located, sha256="0" * 64), device="cpu", batch_size=8, threads=1)


@pytest.mark.extras
def test_a_model_is_located_by_its_names_and_its_folder(tmp_path: Path) -> None:
    auto = locate("auto")
    assert auto.name == OWN.name
    assert locate("minilm-code") == locate(OWN.name) == auto
    assert locate_id(auto.id) == auto
    minilm = locate("all-MiniLM-L6-v2")
    assert minilm == locate(MINILM.name)
    for name in ("model.safetensors", "tokenizer.json"):
        shutil.copy(minilm.folder / name, tmp_path / name)
    copied = locate(str(tmp_path))
    assert (copied.known.sha256, copied.onnx_file) == (minilm.known.sha256, None)


@pytest.mark.parametrize("name", ["no-such-model", "/no/such/folder", "all-mpnet-base-v2"])
def test_a_model_that_is_not_here_is_missing_and_the_error_names_it(name: str) -> None:
    with pytest.raises(ModelMissing, match=name):
        locate(name)


@pytest.mark.extras
def test_vectors_of_another_revision_are_not_answered_with_this_one() -> None:
    with pytest.raises(ModelMissing, match="was made with"):
        locate_id(f"{MINILM.name}@{'0' * 12}")


def test_a_host_loads_in_the_background_and_notes_failures() -> None:
    host = ModelHost(EmbeddingSettings(backend="onnx"))
    try:
        model_id = host.configured().id
        assert host.get(model_id) is None
        model = host.wait(model_id, PATIENCE_S)
        assert isinstance(model, HostedModel)
        assert host.get(model_id) is model
        assert host.state(model_id).ready
        assert host.wait("unknown@1", PATIENCE_S) is None
        assert "unknown" in host.state("unknown@1").error
    finally:
        host.close()
    assert host.get(model_id) is None


def test_a_model_of_another_revision_is_not_loaded_and_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    _expect_another_revision(monkeypatch)
    host = ModelHost(EmbeddingSettings())
    try:
        refused = host.configured().id
        assert refused.startswith(OWN.name)
        assert host.wait(refused, PATIENCE_S) is None
        error = host.state(refused).error
        assert "weights.int8.safetensors is damaged or of another revision" in error
        assert "packages/rag-ls-model`" in error
        assert host.has_failed(refused)
    finally:
        host.close()


@pytest.mark.extras
def test_a_model_that_nobody_asks_for_is_unloaded_and_the_configured_one_stays() -> None:
    host = ModelHost(EmbeddingSettings())
    default, former = locate(OWN.name).id, locate(MINILM.name).id
    assert host.wait(default, PATIENCE_S) is not None
    assert host.wait(former, PATIENCE_S) is not None
    host.unload_idle(PATIENCE_S)
    assert {model.model_id for model in host.loaded()} == {default, former}
    host.unload_idle(0.0)
    assert [model.model_id for model in host.loaded()] == [default]
    again = host.wait(former, PATIENCE_S)
    assert again is not None
    assert again.embed_query(_TEXTS[0]).shape == (MINILM.dimensions,)
    host.close()


def test_a_graph_that_cannot_be_run_is_refused(tmp_path: Path) -> None:
    graph = tmp_path / "model.onnx"
    graph.write_bytes(b"no graph")
    other = replace(with_known(locate("auto"), onnx_sha256=file_sha256(graph)), onnx_file=graph)
    with pytest.raises(ModelDamaged, match=r"onnxruntime .* cannot run .*model\.onnx"):
        OnnxEmbedder(other, threads=1)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_model_without_all_its_files_is_refused(name: str, tmp_path: Path) -> None:
    located = locate("auto")
    shutil.copytree(located.folder, tmp_path / "model")
    (tmp_path / "model" / name).unlink()
    incomplete = replace(located, folder=tmp_path / "model", onnx_file=tmp_path / "model" / "model.onnx")
    with pytest.raises(ModelDamaged, match=f"{name} is missing: `.*packages/rag-ls-model`"):
        OnnxEmbedder(incomplete, threads=1)


def _expect_another_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    known = (replace(OWN, sha256="0" * 64), MINILM, MPNET)
    monkeypatch.setattr("rag_ls.embedding.local.catalog.KNOWN_MODELS", known)


def test_a_few_texts_start_no_torch_process() -> None:
    model = LocalModel(locate("auto"), EmbeddingSettings(backend="auto"))
    try:
        model.embed_documents(["one", "two"])
        model.embed_query("three")
        assert model.worker_process_id is None
    finally:
        model.close()


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
        # A killed parent's child is reaped by whoever runs as process 1, or stays as a zombie.
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (OSError, IndexError):
        return False
