"""Answers of several projects as one, in which each hit says where it is from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rag_ls.engine.client import merged
from rag_ls.engine.project_view import ProjectView
from rag_ls.model import Hit, SearchAnswer
from rag_ls.operations.answers import Json, answer_json, hit_json


def answers_json(
    query: str,
    projects: Sequence[ProjectView],
    answers: Sequence[SearchAnswer],
    k: int,
    record: Callable[[ProjectView, Hit], Json] = lambda view, hit: hit_json(hit),
) -> Json:
    """The best `k` hits of all answers, each as `record` gives it; of several projects, each hit names its root as `project`.

    Two projects may hold the same file: its hits in both are different ones.
    """
    hits = [(hit.score, view, hit) for view, answer in zip(projects, answers, strict=True) for hit in answer.hits]
    best = sorted(hits, key=lambda item: -item[0])[:k]
    named = [{"project": str(view.project.root)} if len(projects) > 1 else {} for _, view, _ in best]
    results = [{**record(view, hit), **name} for (_, view, hit), name in zip(best, named, strict=True)]
    without_hits = [replace(answer, hits=()) for answer in answers]
    whole = merged(query, without_hits, k) if len(answers) > 1 else without_hits[0]
    return {**answer_json(whole), "results": results}
