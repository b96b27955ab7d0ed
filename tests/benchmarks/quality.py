"""How well the signals find a function by what its documentation says of it, with the documentation removed.

The first sentence of a docstring is the question; the function without its docstring is the answer. It is a probe for
choosing a default model and the weights of fusion, not a judgement of the product: nobody asks in docstrings.
"""

from __future__ import annotations

import ast
import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rag_ls.chunking import Budget, approximate_token_offsets, chunk_text, embedding_text
from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.config.settings import SearchSettings
from rag_ls.embedding import local_model, locate
from rag_ls.errors import ModelMissing
from rag_ls.model import StoredChunk
from rag_ls.search.query import analyse
from rag_ls.search.searcher import Searcher
from rag_ls.search.view import NO_FILTERS
from rag_ls.storage import DocumentRecord, FileState, NewChunk, ProjectIndex
from tests.support import UnchangedCorpus, index_at, put_vectors, ready

QUESTIONS = 500
_SETTLED = FileState(1, 1, 1, 2**60)
_WEIGHTS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.85, 1.0)


@dataclass(frozen=True, slots=True)
class Sample:
    """A question, and the path of the function that answers it."""

    question: str
    path: str
    text: str


def quality(sources: Path, work: Path) -> dict[str, Any]:
    """MRR@10 by model and weight of the dense signal (0 is BM25 alone, 1 the embedding alone)."""
    samples = random.Random(11).sample(list(_samples(sources / "django")), QUESTIONS)
    results: dict[str, Any] = {"questions": len(samples)}
    for name in ("minilm-code", "all-MiniLM-L6-v2", "all-mpnet-base-v2"):
        try:
            results[name] = _by_weight(samples, name, work / f"{name}.db")
        except ModelMissing as error:
            results[name] = str(error)
    return results


def _samples(folder: Path) -> Iterator[Sample]:
    for file in sorted(folder.rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.FunctionDef) or not (doc := ast.get_docstring(node)) or len(node.body) < 2:
                continue
            sentence = " ".join(doc.split(". ")[0].split())
            # A name that the question repeats would be found by any search.
            if len(sentence.split()) < 5 or node.name.lower() in sentence.lower():
                continue
            lines = source.splitlines()
            first, last = node.body[0].lineno - 1, node.body[0].end_lineno
            text = "\n".join([*lines[node.lineno - 1 : first], *lines[last : node.end_lineno]])
            yield Sample(sentence, f"{file.relative_to(folder).as_posix()}#{node.lineno}", text)


def _by_weight(samples: list[Sample], name: str, database: Path) -> dict[str, float]:
    located = locate(name)
    model = local_model(located.name, EmbeddingSettings())
    index = index_at(database)
    store = index.checkout
    store.embeddings.activate(model.model_id)
    for sample in samples:
        chunks = chunk_text(
            sample.text, f"{sample.path}.py", language="python", budget=Budget(),
            token_offsets=approximate_token_offsets,
        )  # fmt: skip
        new = [NewChunk(chunk, hashlib.sha256(embedding_text(chunk).encode()).digest()) for chunk in chunks]
        store.replace_document(DocumentRecord(f"{sample.path}.py", "python", "x", _SETTLED), new)
    while pending := store.embeddings.pending(model.model_id, 64):
        vectors = model.embed_documents([embedding_text(chunk) for _, chunk in pending], backlog=10**6)
        put_vectors(store, model.model_id, [text_hash for text_hash, _ in pending], vectors)
    questions = [model.embed_query(sample.question) for sample in samples]
    model.close()
    return {f"dense {weight}": _mrr(index, samples, questions, model.model_id, weight) for weight in _WEIGHTS}


def _mrr(index: ProjectIndex, samples: list[Sample], questions: list[Any], model_id: str, weight: float) -> float:
    searcher = Searcher(index, UnchangedCorpus())
    settings = SearchSettings(dense_weight=weight, lexical_weight=1 - weight)
    ranks = []
    for sample, vector in zip(samples, questions, strict=True):
        found = searcher.search(
            analyse(sample.question),
            k=10,
            settings=settings,
            filters=NO_FILTERS,
            vector=ready(vector) if weight else None,
            model_id=model_id,
        )
        paths = [hit.item.chunk.path for hit in found.hits if isinstance(hit.item, StoredChunk)]
        wanted = f"{sample.path}.py"
        ranks.append(1 / (1 + paths.index(wanted)) if wanted in paths else 0.0)
    return round(float(np.mean(ranks)), 3)
