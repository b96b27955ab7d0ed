"""How good a ranking is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tests.benchmarks.code.questions import Answer

DEPTH = 10


@dataclass(frozen=True, slots=True)
class Scores:
    """NDCG@10, MRR@10 and recall@10 of one ranking, or the means of several."""

    ndcg: float
    mrr: float
    recall: float


def judge(hits: Sequence[Answer], answers: Sequence[Answer]) -> Scores:
    """Compare hits, best first, with the places that answer the question.

    A hit finds an answer when it covers half of the shorter of the two; each answer counts once.
    """
    left = list(answers)
    gains = []
    for hit in hits[:DEPTH]:
        found = next((answer for answer in left if covers(hit, answer)), None)
        gains.append(found is not None)
        if found is not None:
            left.remove(found)
    reached = sum(1 / math.log2(rank + 2) for rank, gain in enumerate(gains) if gain)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(DEPTH, len(answers))))
    first = next((1 / (rank + 1) for rank, gain in enumerate(gains) if gain), 0.0)
    return Scores(reached / ideal, first, sum(gains) / min(DEPTH, len(answers)))


def mean(scores: Sequence[Scores]) -> Scores:
    """The mean of each figure; 0 for none."""
    count = max(1, len(scores))
    return Scores(
        sum(score.ndcg for score in scores) / count,
        sum(score.mrr for score in scores) / count,
        sum(score.recall for score in scores) / count,
    )


def covers(hit: Answer, answer: Answer) -> bool:
    """Whether a hit and an answer share half of the shorter of the two."""
    if hit.path != answer.path:
        return False
    shared = min(hit.end, answer.end) - max(hit.start, answer.start) + 1
    shorter = min(hit.end - hit.start, answer.end - answer.start) + 1
    return 2 * shared >= shorter
