"""Weights of a model in eight bits: a quarter of their size, read by the ONNX graph beside them and by bulk work alike.

A matrix of shape (rows, columns) is stored as bytes of the same shape, and as the scales of its blocks of columns, shape
(rows, blocks), under its name with `.scale`: a value is `(byte - 128) * scale`. That is how onnxruntime's MatMulNBits
stores matrices, so the graph points into the file, and needs no weights of its own.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PACKED_WEIGHTS = "weights.int8.safetensors"
UNPACKED_WEIGHTS = "model.safetensors"
BLOCK_COLUMNS = 128
"""Columns that share a scale; `MatMulNBits` wants a power of two."""
ZERO_BYTE = 128
"""The byte of zero."""
SCALE = ".scale"
"""Added to a matrix's name, the name of its scales."""

_MAX_LEVEL = 127
_MIN_SCALE = 1e-8


def pack(weights: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[np.generic]]:
    """The tensors to store: matrices whose columns fill blocks in eight bits, all others as they are."""
    packed: dict[str, NDArray[np.generic]] = {}
    for name, values in weights.items():
        if values.ndim != 2 or values.shape[1] % BLOCK_COLUMNS:
            packed[name] = values
            continue
        blocks = values.reshape(len(values), -1, BLOCK_COLUMNS)
        scales = np.maximum(np.abs(blocks).max(2, keepdims=True), _MIN_SCALE) / _MAX_LEVEL
        packed[name] = (np.rint(blocks / scales) + ZERO_BYTE).astype(np.uint8).reshape(values.shape)
        packed[name + SCALE] = scales[..., 0].astype(np.float32)
    return packed


def unpack(tensors: Mapping[str, NDArray[np.generic]]) -> dict[str, NDArray[np.float32]]:
    """The weights of what `pack` stored, each within half a scale."""
    weights = {}
    for name, values in tensors.items():
        if name.endswith(SCALE) and name.removesuffix(SCALE) in tensors:
            continue
        if (scales := tensors.get(name + SCALE)) is None:
            weights[name] = values.astype(np.float32)
            continue
        blocks = values.astype(np.float32).reshape(*scales.shape, -1) - np.float32(ZERO_BYTE)
        weights[name] = (blocks * scales.astype(np.float32)[..., None]).reshape(values.shape)
    return weights


@contextmanager
def unpack_model(folder: Path) -> Iterator[Path]:
    """A folder as sentence-transformers reads it, for as long as it is read: that of a packed model, with its weights unpacked."""
    from safetensors.numpy import load_file, save_file

    with tempfile.TemporaryDirectory(prefix="rag-ls-", ignore_cleanup_errors=True) as temporary:
        copy = Path(temporary) / "model"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(PACKED_WEIGHTS, "*.onnx"))
        save_file(unpack(load_file(folder / PACKED_WEIGHTS)), copy / UNPACKED_WEIGHTS, {"format": "pt"})
        yield copy
