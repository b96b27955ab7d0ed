"""What semble (PyPI, 0.7) answers about a folder; run by an interpreter that has semble and wordllama, not by ours.

python semble_answers.py words|"static model" FOLDER < QUERIES.json: {query: [[path, first line, last line], ...]} on stdout
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import wordllama
from model2vec import StaticModel
from semble import SembleIndex
from tokenizers import Tokenizer

_MODEL = Path(tempfile.gettempdir()) / "rag-ls-benchmarks" / "semble-model"


def main() -> None:
    """Words alone is semble's weight of zero for vectors; else its own choice for each query."""
    mode, folder = sys.argv[1:]
    if not _MODEL.exists():
        _save_model()
    index = SembleIndex.from_path(Path(folder), model_path=str(_MODEL))
    alpha = 0.0 if mode == "words" else None
    answers = {}
    for query in json.load(sys.stdin):
        found = [each.chunk for each in index.search(query, top_k=10, alpha=alpha)]
        answers[query] = [
            [str(chunk.file_path).removeprefix(f"{folder}/"), chunk.start_line, chunk.end_line] for chunk in found
        ]
    json.dump(answers, sys.stdout)


def _save_model() -> None:
    """wordllama's token vectors (256 dimensions) as a model of model2vec."""
    package = Path(wordllama.__file__).parent
    from safetensors.numpy import load_file

    weights = load_file(next(package.rglob("*256*.safetensors")))
    vectors = np.asarray(next(iter(weights.values())), np.float32)
    tokenizer = Tokenizer.from_file(str(next(package.rglob("*tokenizer*.json"))))
    StaticModel(vectors, tokenizer).save_pretrained(str(_MODEL))


if __name__ == "__main__":
    main()
