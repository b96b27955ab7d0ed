"""Many memories: how long search, storing, consolidation, export and import take, and how much memory they need.

The texts are sentences of the labelled memories mixed anew, the vectors those of the labelled memories turned a little:
near each other in groups, as real ones are, which random directions would not be.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import Embedding, HostedModel, local_model
from rag_ls.memory import Memories, MemoryFilters, NewMemory, Question, utc_now
from rag_ls.memory.consolidation import plan
from rag_ls.memory.portable import export_memories, import_memories
from rag_ls.memory.recall import recall
from rag_ls.model import Memory, MemoryMetadata, MemoryType, Scope
from rag_ls.storage import MemoryStore
from rag_ls.util.text import content_hash
from tests.benchmarks.measure import memory_mb, percentiles, timed

_FOLDER = Path(__file__).parent / "recall"
_ASKED = 100
_CONSOLIDATED = 10_000
_CARRIED = 100_000


def memory_scale(work: Path, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Measure at each size, in new stores below `work`."""
    model = local_model("auto", EmbeddingSettings(backend="onnx"))
    questions = [json.loads(line)["query"] for line in (_FOLDER / "questions.jsonl").read_text().splitlines()]
    vectors = [Embedding(model.card, model.embed_query(query)) for query in questions]
    seeds = _seeds(model)
    results: dict[str, Any] = {}
    try:
        for size in sizes:
            results[str(size)] = _at(work / str(size), size, seeds, list(zip(questions, vectors, strict=True)), model)
        return results
    finally:
        model.close()


def _at(
    folder: Path,
    size: int,
    seeds: tuple[list[str], NDArray[np.float32]],
    asked: list[tuple[str, Embedding]],
    model: HostedModel,
) -> dict[str, Any]:
    folder.mkdir()
    before = memory_mb()
    store = MemoryStore(folder / "memories.db", Scope.PROJECT)
    filled_s = timed(lambda: _fill(store, size, seeds, model.model_id))
    snapshot_s = timed(lambda: store.vectors.optimise(model.model_id)) if size > 10_000 else 0.0
    took = [timed(partial(_ask, store, query, vector)) for query, vector in asked[:_ASKED]]
    result = {
        "fill_s": round(filled_s, 1),
        "snapshot_s": round(snapshot_s, 1),
        "search": percentiles(took),
        "recall_at_10_of_the_snapshot": _ann_recall(store, seeds[1], model.model_id) if size > 10_000 else 1.0,
        "memory_before": before,
        "memory": memory_mb(),
        "file_mb": round(store.size() / 2**20, 1),
        "store": _storing(store, model),
    }
    if size == _CONSOLIDATED:
        result["consolidation_plan_s"] = round(timed(lambda: plan(store, model.model_id, 0.85, utc_now())), 2)
    if size == _CARRIED:
        result |= _carried(store, folder)
    store.close()
    return result


def _ask(store: MemoryStore, query: str, vector: Embedding) -> None:
    recall([store], Question(query, 5, 0.7, MemoryFilters(branch="main")), vector, utc_now())


def _storing(store: MemoryStore, model: HostedModel) -> dict[str, Any]:
    """Storing through the front door, with its embedding and without."""
    stores = {scope: MemoryStore(None, scope) for scope in (Scope.SESSION, Scope.GLOBAL)} | {Scope.PROJECT: store}
    memories = Memories({scope: lambda at=scope: stores[at] for scope in Scope}, utc_now)  # type: ignore[misc]
    with_model, embedding = [], []
    for number in range(30):
        text = f"The importer number {number} reads {uuid.uuid4().hex[:6]} files before the nightly report is written."
        embedding.append(timed(lambda: model.embed_documents([text])))  # noqa: B023
        with_model.append(timed(lambda: memories.store(NewMemory(text, Scope.PROJECT), model)))  # noqa: B023
    return {"with_embedding": percentiles(with_model), "embedding_alone": percentiles(embedding)}


def _carried(store: MemoryStore, folder: Path) -> dict[str, float]:
    file, other = folder / "export.json", MemoryStore(folder / "other.db", Scope.PROJECT)
    with file.open("w", encoding="utf-8", newline="") as stream:
        exported_s = timed(lambda: export_memories(store, stream, "json"))
    with file.open(encoding="utf-8", newline="") as stream:
        imported_s = timed(lambda: import_memories(other, stream, "json", force=True, now="2026-01-01T00:00:00.000Z"))
    other.close()
    return {
        "export_s": round(exported_s, 1),
        "import_s": round(imported_s, 1),
        "export_mb": round(file.stat().st_size / 2**20, 1),
    }


def _ann_recall(store: MemoryStore, seeds: NDArray[np.float32], model_id: str) -> float:
    """The share of the ten exact nearest that are found."""
    ids, everything = store.vectors.centres(model_id, MemoryFilters())
    found = 0
    for seed in seeds[:_ASKED]:
        exact = {ids[number] for number in np.argpartition(-(everything @ seed), 10)[:10]}
        near = store.vectors.nearest(seed, model_id, MemoryFilters(), 10)
        found += len(exact & {number for number, _ in near})
    return round(found / (10 * min(_ASKED, len(seeds))), 4)


def _fill(store: MemoryStore, size: int, seeds: tuple[list[str], NDArray[np.float32]], model_id: str) -> None:
    stamp = "2026-01-01T00:00:00.000Z"
    records = _records(size, *seeds)
    for _ in range(0, size, 10_000):
        with store.transaction():
            for _, (content, vector) in zip(range(10_000), records, strict=False):
                digest = content_hash(content)
                memory_id = str(uuid.uuid4())
                store.insert(
                    Memory(
                        memory_id,
                        content,
                        Scope.PROJECT,
                        MemoryMetadata(tags=("bench",)),
                        MemoryType.SEMANTIC,
                        stamp,
                        stamp,
                        1,
                        digest,
                    )
                )
                store.vectors.add(memory_id, model_id, digest, vector[None])


def _records(size: int, contents: list[str], vectors: NDArray[np.float32]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    chance, noise = random.Random(1), np.random.default_rng(1)
    words = " ".join(contents).split()
    for number in range(size):
        seed = chance.randrange(len(contents))
        start = chance.randrange(len(words) - 12)
        vector = vectors[seed] + noise.normal(scale=0.6 / np.sqrt(vectors.shape[1]), size=vectors.shape[1])
        content = f"{contents[seed][:80]} {' '.join(words[start : start + 12])} {number}"
        yield content, (vector / np.linalg.norm(vector)).astype(np.float32)


def _seeds(model: HostedModel) -> tuple[list[str], NDArray[np.float32]]:
    contents = [json.loads(line)["content"] for line in (_FOLDER / "memories.jsonl").read_text().splitlines()]
    vectors = model.embed_documents(contents)
    return contents, vectors
