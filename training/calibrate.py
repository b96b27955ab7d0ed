"""Measures how large the values are that a packed model multiplies, by which they are quantised.

python -m training.calibrate MODEL FOLDER...

MODEL is what `training.pack` wrote; the folders are repositories of several languages. MODEL gets calibration.npz, and its checksum is
printed: it is pinned in rag_ls/embedding/local/models.json.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding.local.bulk_models import from_graph, products_of, tokenizer_of
from rag_ls.embedding.local.catalog import CALIBRATION, PACKED_GRAPH, file_sha256, locate
from rag_ls.languages import detect_language

# Texts as long as chunks, and short ones, because questions are short.
_MAX_CHARACTERS, _MAX_SHORT_CHARACTERS = 900, 50
_TEXTS_PER_FOLDER = 8
_MIN_VALUE = 1e-8


def sample_texts(folders: Sequence[Path]) -> list[str]:
    """Pieces of the code of repositories, the same each time."""
    chance = random.Random(1)
    texts = []
    for folder in folders:
        files = sorted(file for file in folder.rglob("*") if file.is_file() and detect_language(file.name))
        for file in chance.sample(files, min(_TEXTS_PER_FOLDER, len(files))):
            text = file.read_text(encoding="utf-8", errors="replace")
            at = chance.randrange(max(1, len(text) - _MAX_CHARACTERS))
            texts += [text[at : at + _MAX_CHARACTERS], text[at : at + chance.randrange(1, _MAX_SHORT_CHARACTERS)]]
    return texts


def largest_values(graph: Path, samples: Iterable[Sequence[int]]) -> dict[str, NDArray[np.float32]]:
    """The largest value of each channel that the products of a graph get for token ids, by the node that it comes from."""
    import openvino

    model: Any = from_graph(openvino, graph)
    sources = {name: products[0].input_value(0) for name, products in products_of(model).items()}
    own = len(model.outputs)
    model.add_outputs(list(sources.values()))
    compiled = openvino.Core().compile_model(model, "CPU")
    largest: dict[str, NDArray[np.float32]] = {}
    for ids in samples:
        row = np.array([ids], np.int64)
        answer = compiled([row, np.ones_like(row)])
        for name, output in zip(sources, compiled.outputs[own:], strict=True):
            values = np.abs(answer[output]).reshape(-1, answer[output].shape[-1]).max(0)
            largest[name] = np.maximum(largest.get(name, _MIN_VALUE), values).astype(np.float32)
    return largest


def calibrate(model: Path, folders: Sequence[Path]) -> Path:
    """Write the calibration of a packed model beside its weights; the file."""
    encoded = tokenizer_of(locate(str(model))).encode_batch(sample_texts(folders))
    samples = [encoding.ids for encoding in encoded]
    arrays: dict[str, Any] = dict(largest_values(model / PACKED_GRAPH, samples))
    np.savez(model / CALIBRATION, **arrays)
    return model / CALIBRATION


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    given = parser.parse_args()
    file = calibrate(given.model, given.folders)
    print(f"{file.name}: {file.stat().st_size:,} bytes, sha256 {file_sha256(file)}")


if __name__ == "__main__":
    main()
