"""Runs a model compiled for the CPU by OpenVINO: two to five times as fast as torch, a third of its size, and loaded
in a second."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding.api import normalise
from rag_ls.embedding.local.catalog import (
    LocatedModel,
    card_of,
    check_calibration,
    check_onnx,
    check_weights,
    models_folder,
)
from rag_ls.embedding.local.int8 import quantise, read_calibration
from rag_ls.errors import ModelMissing
from rag_ls.util.guarded_processes import GuardedProcesses, Limits

# Tokens of one batch, padding included: more cost memory, and gain nothing.
_MAX_BATCH_TOKENS = 2048
# OpenVINO keeps code for each shape of a batch that it has seen. With each length as it comes, a worker grew by 50 MB a minute.
_LENGTH_STEP_TOKENS = 16
# Change this number when the exported graph changes.
_EXPORT_VERSION = 4
_EXPORT_LIMITS = Limits(cpu_s=1800.0, memory_bytes=16_000_000_000, wall_s=3600.0)


def can_compile(device: str) -> bool:
    """Whether OpenVINO is the best there is for a device setting on this machine."""
    if device not in ("auto", "cpu") or importlib.util.find_spec("openvino") is None:
        return False
    has_gpu = device == "auto" and shutil.which("nvidia-smi") is not None
    return not has_gpu and platform.machine().lower() in ("x86_64", "amd64")


class OpenVinoEmbedder:
    """Runs a model in this process: a packed one from its own graph, another one as torch exports it."""

    def __init__(self, model: LocatedModel, *, threads: int) -> None:
        """Exports a model that is not packed where that was not done yet, which takes some seconds once.

        Raises `ModelDamaged`.
        """
        import openvino

        self._tokenizer = tokenizer_of(model)
        core = openvino.Core()
        can = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        hint = {"NUM_STREAMS": str(threads), "INFERENCE_NUM_THREADS": threads}
        if "BF16" in can:
            hint["INFERENCE_PRECISION_HINT"] = "bf16"
        graph = (
            _load_packed_graph(openvino, model, "INT8" in can) if model.is_packed else _load_exported_graph(core, model)
        )
        self._compiled = core.compile_model(graph, "CPU", hint)
        self._queue = openvino.AsyncInferQueue(self._compiled, threads)
        self.card = card_of(model)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, 0), np.float32)
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        found: dict[int, NDArray[np.float32]] = {}
        self._queue.set_callback(lambda request, rows: found.update(_by_row(request, rows)))
        lengths = [padded_length(len(ids), self.card.max_tokens) for ids in tokens]
        for rows in _batches(lengths):
            self._queue.start_async(_pad_tokens([tokens[row] for row in rows], lengths[rows[0]]), rows)
        self._queue.wait_all()
        return normalise(np.stack([found[row] for row in range(len(texts))]))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.asarray(self.embed_documents([text])[0], dtype=np.float32)

    def close(self) -> None:
        """Do nothing: the compiled model is freed with the object."""


def _by_row(request: Any, rows: Sequence[int]) -> dict[int, NDArray[np.float32]]:
    # Copy, because the next batch reuses the request's memory.
    return dict(zip(rows, np.array(request.get_output_tensor(0).data, np.float32), strict=True))


def padded_length(tokens: int, max_tokens: int) -> int:
    """The length to which a text of so many tokens is padded: one of few, and none that the model cannot take."""
    return max(1, tokens, min(-(-tokens // _LENGTH_STEP_TOKENS) * _LENGTH_STEP_TOKENS, max_tokens))


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Batches of rows of similar length, the longest first, as many per batch as its tokens allow."""
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    at = 0
    while at < len(order):
        count = max(1, _MAX_BATCH_TOKENS // lengths[order[at]])
        yield order[at : at + count]
        at += count


def _pad_tokens(tokens: Sequence[Sequence[int]], length: int) -> list[NDArray[np.int64]]:
    ids = np.zeros((len(tokens), length), np.int64)
    mask = np.zeros_like(ids)
    for row, found in enumerate(tokens):
        ids[row, : len(found)] = found
        mask[row, : len(found)] = 1
    return [ids, mask]


def _load_packed_graph(openvino: Any, model: LocatedModel, can_multiply_bytes: bool) -> Any:
    check_weights(model)
    check_onnx(model)
    if model.onnx_file is None:
        raise ModelMissing(f"{model.name} has no graph beside its weights")
    graph = from_graph(openvino, model.onnx_file)
    if not (can_multiply_bytes and model.known.calibration_sha256):
        return graph
    check_calibration(model)
    return quantise(graph, read_calibration(model.calibration_file))


def _load_exported_graph(core: Any, model: LocatedModel) -> Any:
    file = models_folder() / "openvino" / f"{model.known.sha256[:16]}-{_EXPORT_VERSION}.xml"
    if not file.exists():
        # In a process of its own: the gigabyte that torch takes would stay in this one.
        with closing(GuardedProcesses(1)) as processes:
            processes.call(export_model, model, file, limits=_EXPORT_LIMITS)
    return core.read_model(file)


def export_model(model: LocatedModel, file: Path) -> None:
    """Write the model as OpenVINO runs it: `file` and the weights beside it."""
    import openvino

    check_weights(model)
    _save(openvino, _from_torch(openvino, model), file)


def tokenizer_of(model: LocatedModel) -> Any:
    """The tokenizer of a model, which cuts what is too long for it and fills nothing up."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(model.tokenizer_file))
    tokenizer.enable_truncation(model.known.max_tokens)
    tokenizer.no_padding()
    return tokenizer


def _from_torch(openvino: Any, model: LocatedModel) -> Any:
    """The model, with its pooling, as OpenVINO runs it."""
    import torch

    from rag_ls.embedding.local.torch_model import loaded

    class Pooled(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.network = loaded(model, "cpu", attention="eager").float().eval()

        def forward(self, ids: Any, mask: Any) -> Any:
            return self.network({"input_ids": ids, "attention_mask": mask})["sentence_embedding"]

    example = (torch.randint(5, 100, (2, 16)), torch.ones(2, 16, dtype=torch.long))
    with warnings.catch_warnings():
        # Tracing warns about branches on shapes; tests compare the vectors with torch's.
        warnings.simplefilter("ignore")
        return openvino.convert_model(Pooled(), example_input=example)


def _save(openvino: Any, exported: Any, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f"{os.getpid()}-{file.name}")
    openvino.save_model(exported, unfinished)
    # Weights first, so that a process that sees the graph also finds the weights.
    unfinished.with_suffix(".bin").replace(file.with_suffix(".bin"))
    unfinished.replace(file)


def from_graph(openvino: Any, file: Path) -> Any:
    """The model of an ONNX file with inputs (ids, mask), its weights unpacked and its states averaged over the mask."""
    from openvino.passes import ConstantFolding, Manager

    model = openvino.Core().read_model(file.resolve())
    # Unpacks the weights: the operations that compute them from the packed ones are constant.
    passes = Manager()
    passes.register_pass(ConstantFolding())
    passes.run_passes(model)
    return _add_pooling(openvino, model)


def _add_pooling(openvino: Any, model: Any) -> Any:
    """The model with the mean of its states, shape (texts, dimensions), as sentence-transformers pools them."""
    from openvino import opset13 as operations

    ids, mask = (each.get_node() for each in model.inputs)
    states = model.outputs[0].get_node().input_value(0)
    axis = operations.constant([1])
    weights = operations.unsqueeze(operations.convert(mask, "f32"), operations.constant(2))
    total = operations.reduce_sum(operations.multiply(states, weights), axis, False)
    return openvino.Model([operations.divide(total, operations.reduce_sum(weights, axis, False))], [ids, mask])
