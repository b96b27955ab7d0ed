"""Packs a trained model, to be shipped: its weights in eight bits, and the ONNX graph that reads them.

python -m training.pack MODEL OUT

OUT gets what is needed to run it, 24 MB, and its checksums are printed: they are pinned in rag_ls/embedding/local/catalog.py.
`embedding.model = "OUT"` uses it from there.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from rag_ls.embedding.local.catalog import PACKED_GRAPH, PACKED_WEIGHTS, TOKENIZER, UNPACKED_WEIGHTS, file_sha256, pack
from training.graph import Encoder, graph_of

# What sentence-transformers needs beside the weights.
_KEPT = (
    "config.json", "config_sentence_transformers.json", "modules.json", "sentence_bert_config.json", "tokenizer.json",
    "tokenizer_config.json", "1_Pooling/config.json", "2_Normalize/config.json",
)  # fmt: skip


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
