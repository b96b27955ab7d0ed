"""Answers of several projects as one, in which each hit says where it is from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rag_ls.client import merged
from rag_ls.model import Hit, SearchAnswer
from rag_ls.wire import Json, answer_json, hit_json
from rag_ls.workspace import OpenProject


def answers_json(
    query: str,
    projects: Sequence[OpenProject],
    answers: Sequence[SearchAnswer],
    k: int,
    record: Callable[[OpenProject, Hit], Json] = lambda opened, hit: hit_json(hit),
) -> Json:
    """The best `k` hits of all answers, each as `record` gives it; of several projects, each hit names its root as `project`.

    Two projects may hold the same file: its hits in both are different ones.
    """
    hits = [(hit.score, opened, hit) for opened, answer in zip(projects, answers, strict=True) for hit in answer.hits]
    best = sorted(hits, key=lambda item: -item[0])[:k]
    named = [{"project": str(opened.project.root)} if len(projects) > 1 else {} for _, opened, _ in best]
    results = [{**record(opened, hit), **name} for (_, opened, hit), name in zip(best, named, strict=True)]
    without_hits = [replace(answer, hits=()) for answer in answers]
    whole = merged(query, without_hits, k) if len(answers) > 1 else without_hits[0]
    return {**answer_json(whole), "results": results}
