"""Packs a trained model, to be shipped: its weights in eight bits, and the ONNX graph that reads them.

python -m training.pack MODEL OUT

OUT gets what is needed to run it, 24 MB, and its checksums are printed: they are pinned in rag_ls/embedding/local/models.json.
`embedding.model = "OUT"` uses it from there.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding.local.catalog import (
    PACKED_GRAPH,
    PACKED_WEIGHTS,
    SCALE,
    TOKENIZER,
    UNPACKED_WEIGHTS,
    ZERO_BYTE,
    file_sha256,
)
from training.graph import BLOCK_COLUMNS, Encoder, graph_of

_MAX_LEVEL = 127
_MIN_SCALE = 1e-8

# What sentence-transformers needs beside the weights.
_KEPT = (
    "config.json", "config_sentence_transformers.json", "modules.json", "sentence_bert_config.json", "tokenizer.json",
    "tokenizer_config.json", "1_Pooling/config.json", "2_Normalize/config.json",
)  # fmt: skip


def pack(weights: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[np.generic]]:
    """The tensors to store: matrices whose columns fill blocks in eight bits, all others as they are.

    A matrix of shape (rows, columns) is stored as bytes of the same shape, and as the scales of its blocks of columns, shape
    (rows, blocks), under its name with `.scale`: a value is `(byte - 128) * scale`. That is how onnxruntime's MatMulNBits stores
    matrices, so the graph points into the file, and needs no weights of its own.
    """
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


def packed_into(model: Path, out: Path) -> None:
    """Write a trained model into a folder as it is shipped. Raises `ValueError` if no graph can be made of it."""
    from safetensors.numpy import load_file, save_file

    encoder = Encoder.of(json.loads((model / "config.json").read_text(encoding="utf-8")))
    if "mean" not in _pooling(model):
        raise ValueError(f"{model} pools otherwise than by the mean: rag-ls takes the mean of what its graph answers")
    for name in _KEPT:
        if (model / name).is_file():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(model / name, out / name)
    save_file(pack(load_file(model / UNPACKED_WEIGHTS)), out / PACKED_WEIGHTS)
    # Whoever installs a package may read its files.
    (out / PACKED_WEIGHTS).chmod(0o644)
    (out / PACKED_GRAPH).write_bytes(graph_of(encoder, out / PACKED_WEIGHTS))


def _pooling(model: Path) -> str:
    config = json.loads((model / "1_Pooling" / "config.json").read_text(encoding="utf-8"))
    chosen = [name for name, is_chosen in config.items() if name.startswith("pooling_mode_") and is_chosen is True]
    return str(config.get("pooling_mode", chosen))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    packed_into(given.model, given.out)
    for name in (PACKED_WEIGHTS, PACKED_GRAPH, TOKENIZER):
        file = given.out / name
        print(f"{name}: {file.stat().st_size:,} bytes, sha256 {file_sha256(file)}")


if __name__ == "__main__":
    main()
