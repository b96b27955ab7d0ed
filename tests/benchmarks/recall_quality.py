"""Recall of memories on labelled questions: NDCG@10 of each signal and of what is made of them, and what thresholds let through.

`recall/memories.jsonl` and `recall/questions.jsonl` were written by hand for this purpose.
"""

from __future__ import annotations

import json
import math
import random
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import Embedding, HostedModel, local_model
from rag_ls.memory import MemoryFilters, Question
from rag_ls.memory.contradictions import find_contradiction
from rag_ls.memory.parts import embed_missing
from rag_ls.memory.recall import memory_of, recall, signals_of, weigh_words
from rag_ls.model import Memory, MemoryMetadata, MemoryType, Scope
from rag_ls.search.fusion import cosine_of
from rag_ls.storage import MemoryStore
from rag_ls.util.text import content_hash, utc_stamp

_FOLDER = Path(__file__).parent / "recall"
_NOW = datetime(2026, 11, 1, tzinfo=UTC)
_K = 10
_RRF_K = 60

Ranking = Callable[[str], list[str]]


def recall_quality(work: Path, model_name: str = "auto") -> dict[str, Any]:
    """Measure with a model, in a new store below `work`."""
    questions = _lines("questions.jsonl")
    model = local_model(model_name, EmbeddingSettings(backend="auto"))
    store = _filled(work / "recall.db", model)
    try:
        vectors = {item["query"]: Embedding(model.card, model.embed_query(item["query"])) for item in questions}
        started = time.perf_counter()
        rankings = _rankings(store, vectors)
        scores = {name: _ndcg_by_kind(questions, ranking) for name, ranking in rankings.items()}
        return {
            "model": model.model_id,
            "memories": store.count(),
            "questions": len(questions),
            "ndcg_at_10": scores,
            "thresholds": [_threshold(store, questions, vectors, wanted) for wanted in (0.0, 0.5, 0.6, 0.7, 0.8, 0.9)],
            "contradictions": _contradictions(),
            "took_s": round(time.perf_counter() - started, 1),
        }
    finally:
        store.close()
        model.close()


def _contradictions() -> dict[str, dict[str, float]]:
    """Precision and recall on labelled pairs; half of them were kept aside while the detector was written."""
    result = {}
    for name, is_held_out in (("seen", False), ("held_out", True)):
        pairs = [item for item in _lines("contradictions.jsonl") if item["held_out"] is is_held_out]
        found = [find_contradiction(_brief(item["one"]), _brief(item["other"])) is not None for item in pairs]
        right = sum(each and item["contradict"] for each, item in zip(found, pairs, strict=True))
        result[name] = {
            "pairs": len(pairs),
            "precision": round(right / max(1, sum(found)), 2),
            "recall": round(right / sum(item["contradict"] for item in pairs), 2),
        }
    return result


def _brief(content: str) -> Memory:
    return Memory(
        id=content, content=content, scope=Scope.PROJECT, metadata=MemoryMetadata(), memory_type=MemoryType.SEMANTIC,
        created_at="", updated_at="", version=1, content_hash=content_hash(content),
    )  # fmt: skip


def _filled(file: Path, model: HostedModel) -> MemoryStore:
    store = MemoryStore(file, Scope.PROJECT)
    lines = _lines("memories.jsonl")
    # Their order says what belongs together.
    random.Random(0).shuffle(lines)
    with store.transaction():
        for line in lines:
            at = utc_stamp(_NOW - timedelta(days=line["age_days"]))
            store.insert(
                Memory(
                    line["id"],
                    line["content"],
                    Scope.PROJECT,
                    MemoryMetadata(tags=tuple(line["tags"]), importance_score=line["importance"]),
                    MemoryType(line["memory_type"]),
                    at,
                    at,
                    1,
                    content_hash(line["content"]),
                )
            )
    while embed_missing(store, model):
        pass
    return store


def _rankings(store: MemoryStore, vectors: Mapping[str, Embedding]) -> dict[str, Ranking]:
    def asked(query: str, *, with_model: bool = True, **changes: Any) -> list[str]:
        question = replace(Question(query, _K, 0.0), **changes)
        hits = recall([store], question, vectors[query] if with_model else None, _NOW)
        return [memory_of(hit).id for hit in hits]

    def dense(query: str) -> list[str]:
        vector = vectors[query]
        return [number for number, _ in store.vectors.nearest(vector.vector, vector.model.id, MemoryFilters(), _K)]

    def reciprocal(query: str) -> list[str]:
        """Reciprocal rank fusion of the dense and the BM25 ranking, with k = 60 (Cormack et al., 2009)."""
        vector = vectors[query]
        question = Question(query, _K, 0.0, expand=False)
        signals, _ = signals_of(store, question, weigh_words([store], question), vector)
        near = [number for number, _ in store.vectors.nearest(vector.vector, vector.model.id, MemoryFilters(), 100)]
        held = sorted(signals.lexical, key=lambda number: -signals.lexical[number])[:100]
        scores: dict[str, float] = {}
        for ranking in (near, held):
            for place, number in enumerate(ranking, 1):
                scores[number] = scores.get(number, 0.0) + 1 / (_RRF_K + place)
        return sorted(scores, key=lambda number: -scores[number])

    return {
        "dense": dense,
        "words": lambda query: asked(query, with_model=False, expand=False),
        "reciprocal ranks": reciprocal,
        "fused": lambda query: asked(query, expand=False),
        "fused, expanded": lambda query: asked(query),
        "fused, expanded, half-life of 180 days": lambda query: asked(query, half_life_days=180.0),
    }


def _threshold(
    store: MemoryStore, questions: list[dict[str, Any]], vectors: Mapping[str, Embedding], wanted: float
) -> dict[str, Any]:
    """How many of five hits a least similarity lets through, with an answer among them and where there is none."""
    found: list[bool] = []
    counts: dict[bool, list[int]] = {True: [], False: []}
    for item in questions:
        hits = recall([store], Question(item["query"], 5, wanted), vectors[item["query"]], _NOW)
        answers = {number for number, grade in item["relevant"].items() if grade == 3}
        counts[bool(answers)].append(len(hits))
        if answers:
            found.append(any(memory_of(hit).id in answers for hit in hits))
    model = next(iter(vectors.values())).model
    return {
        "min_similarity": wanted,
        "cosine": round(cosine_of(model, wanted), 3),
        "answered_in_5": round(statistics.mean(found), 3),
        "hits_where_there_is_an_answer": round(statistics.mean(counts[True]), 2),
        "hits_where_there_is_none": round(statistics.mean(counts[False]), 2),
    }


def _ndcg_by_kind(questions: list[dict[str, Any]], ranking: Ranking) -> dict[str, float]:
    kinds: dict[str, list[float]] = {}
    for item in questions:
        if item["relevant"]:
            kinds.setdefault(item["kind"], []).append(_ndcg(ranking(item["query"]), item["relevant"]))
    values = [value for group in kinds.values() for value in group]
    return {"all": round(statistics.mean(values), 4)} | {
        kind: round(statistics.mean(group), 3) for kind, group in sorted(kinds.items())
    }


def _ndcg(ids: list[str], relevant: Mapping[str, int]) -> float:
    """Jarvelin and Kekalainen (2002), with a gain of 2^grade - 1."""
    gain = sum((2 ** relevant.get(number, 0) - 1) / math.log2(place + 2) for place, number in enumerate(ids[:_K]))
    grades = sorted(relevant.values(), reverse=True)[:_K]
    return gain / sum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades))


def _lines(name: str) -> list[Any]:
    return [json.loads(line) for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines()]
