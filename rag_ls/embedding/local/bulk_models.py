"""Runs models in the worker process. OpenVINO compiles a packed one for the CPU: it is two to five times as fast as under torch,
takes a third of its memory, and is loaded in a second. Torch runs all others, and those for a GPU."""

from __future__ import annotations

import importlib.util
import platform
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
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
    unpack_model,
)
from rag_ls.errors import ModelMissing

# Tokens of one batch, padding included: more cost memory, and gain nothing.
_MAX_BATCH_TOKENS = 2048
# OpenVINO keeps code for each shape of a batch that it has seen. With each length as it comes, a worker grew by 50 MB a minute.
_LENGTH_STEP_TOKENS = 16
# Channels above this share of all channels are divided. Measured on MiniLM: docs/performance.md.
_ORDINARY_SHARE = 0.9
_LEVELS_OF_INPUTS, _LEVELS_OF_WEIGHTS = 256, 255
_MIN_SCALE = 1e-8
Calibration = Mapping[str, NDArray[np.float32]]
"""The largest value of each channel that matrix products get, by the name of the node that it comes from."""


def can_compile(device: str) -> bool:
    """Whether OpenVINO is the best there is for a device setting on this machine."""
    if device not in ("auto", "cpu") or importlib.util.find_spec("openvino") is None:
        return False
    has_gpu = device == "auto" and shutil.which("nvidia-smi") is not None
    return not has_gpu and platform.machine().lower() in ("x86_64", "amd64")


class OpenVinoEmbedder:
    """Runs a packed model in this process, from its own graph."""

    def __init__(self, model: LocatedModel, *, threads: int) -> None:
        """Raises `ModelDamaged`."""
        import openvino

        self._tokenizer = tokenizer_of(model)
        core = openvino.Core()
        can = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        hint = {"NUM_STREAMS": str(threads), "INFERENCE_NUM_THREADS": threads}
        if "BF16" in can:
            hint["INFERENCE_PRECISION_HINT"] = "bf16"
        graph = _load_packed_graph(openvino, model, "INT8" in can)
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


def tokenizer_of(model: LocatedModel) -> Any:
    """The tokenizer of a model, which cuts what is too long for it and fills nothing up."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(model.tokenizer_file))
    tokenizer.enable_truncation(model.known.max_tokens)
    tokenizer.no_padding()
    return tokenizer


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


def quantise(model: Any, calibration: Calibration) -> Any:
    """A copy of a model whose matrix products with constants are quantised to eight bits: about twice as fast on processors that
    multiply bytes.

    Each product's weights are scaled by row, its inputs by one range, measured on sample texts when the model is packed. A few
    channels of the inputs are many times as large as all others and would take the range: they are divided by a factor first, and
    their weights multiplied by it, as in "SmoothQuant" (Xiao et al., 2023), but for these channels alone.

    Raises `KeyError` if the calibration is of another model.
    """
    copy = model.clone()
    for source, products in products_of(copy).items():
        _quantise(products, calibration[source])
    copy.validate_nodes_and_infer_types()
    return copy


def read_calibration(file: Path) -> Calibration:
    """The calibration that `training/calibrate.py` wrote into a file."""
    with np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


def products_of(model: Any) -> dict[str, list[Any]]:
    """The products with constants, by the name of the node whose output they multiply."""
    found = defaultdict(list)
    for node in model.get_ordered_ops():
        if node.get_type_name() == "MatMul" and node.input_value(1).get_node().get_type_name() == "Constant":
            found[node.input_value(0).get_node().get_friendly_name()].append(node)
    return found


def _quantise(products: Sequence[Any], largest: NDArray[np.float32]) -> None:
    from openvino import opset13 as operations

    divisors = np.maximum(1.0, largest / np.quantile(largest, _ORDINARY_SHARE)).astype(np.float32)
    high = np.float32((largest / divisors).max())
    low = -high * np.float32(128 / 127)
    source = operations.multiply(products[0].input_value(0), operations.constant((1 / divisors).reshape(1, 1, -1)))
    range_ = [operations.constant(bound) for bound in (low, high, low, high)]
    inputs = operations.fake_quantize(source, *range_, _LEVELS_OF_INPUTS)
    for product in products:
        weights = _weights(product) * divisors
        rows = np.maximum(np.abs(weights).max(1, keepdims=True), _MIN_SCALE)
        bounds = [operations.constant(bound) for bound in (-rows, rows, -rows, rows)]
        by_row = operations.fake_quantize(operations.constant(weights), *bounds, _LEVELS_OF_WEIGHTS)
        product.output(0).replace(operations.matmul(inputs, by_row, False, True).output(0))


def _weights(product: Any) -> NDArray[np.float32]:
    """The constant of a product: shape (outputs, inputs)."""
    weights = product.input_value(1).get_node().get_data().astype(np.float32)
    return np.ascontiguousarray(weights if product.get_attributes()["transpose_b"] else weights.T)


class TorchEmbedder:
    """Runs the model's safetensors weights in this process, under sentence-transformers."""

    def __init__(self, model: LocatedModel, *, device: str, batch_size: int, threads: int) -> None:
        """Raises `ModelDamaged` when the weights are not the pinned ones."""
        import torch

        torch.set_num_threads(threads)
        self._model = _load_torch_model(model, _device(torch, device))
        self._batch_size = batch_size
        self.card = card_of(model)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        # encode_document sorts by length, so a batch holds texts of similar size.
        vectors = self._model.encode_document(
            list(texts), batch_size=self._batch_size, normalize_embeddings=True, show_progress_bar=False
        )
        return normalise(np.asarray(vectors, dtype=np.float32).reshape(len(texts), -1))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector = self._model.encode_query(text, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(normalise(np.asarray(vector, dtype=np.float32).reshape(1, -1))[0])

    def close(self) -> None:
        """Do nothing: the model is freed with the object."""


def _load_torch_model(model: LocatedModel, device: str) -> Any:
    """The model as sentence-transformers loads it. Raises `ModelDamaged` when the weights are not the pinned ones."""
    check_weights(model)
    from sentence_transformers import SentenceTransformer

    options = {"use_safetensors": True, "attn_implementation": "sdpa"}
    with unpack_model(model.folder) if model.is_packed else nullcontext(model.folder) as folder:
        return SentenceTransformer(str(folder), device=device, local_files_only=True, model_kwargs=options)


def _device(torch: Any, wanted: str) -> str:
    if wanted != "auto":
        return wanted
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
