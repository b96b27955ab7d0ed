"""Learns the weights of the evidence from questions about public repositories, and writes them to `code.json`.

python -m tests.benchmarks.code.learn MIRRORS    MIRRORS: a folder of git mirrors, OWNER+NAME/repo, in place of GitHub

A linear model: the chance of a chunk is the softmax of its score over the query's candidates; learned is what makes the chunks
that answer likeliest (all chunks of a file together, where the answer is a file). Repositories of the unseen third are left
out, and so are bare names, which come first by a rule.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import rag_ls.retrieval
from rag_ls.embedding import HostedModel
from rag_ls.search.candidates import CandidateFinder, Candidates
from rag_ls.search.evidence import FEATURES, evidence
from rag_ls.search.query import analyse
from rag_ls.search.view import View
from tests.benchmarks.code.asked import Asked, asked, place_of
from tests.benchmarks.code.histories import histories
from tests.benchmarks.code.judge import covers
from tests.benchmarks.code.questions import Answer, Question
from tests.support import ready

_FILE = Path(rag_ls.retrieval.__file__).parent / "weights" / "code.json"
_KINDS = ("subject", "architecture", "module", "concept", "documentation", "web", "message", "file")
# Not learned: all answers are sources, so that any weight of a role would do; documentation is taken from functions and types
# alike, which is not how people ask; and whoever names a symbol or a file wants it.
# The likeliest weight of vectors is half of the one given, and ranks worse by NDCG on the same questions.
GIVEN = {
    "dense": 2.2,
    "file_dense": 0.3,
    "file_dense_sum": 0.0,
    "test": -3.0,
    "docs": -4.5,
    "data": -2.5,
    "type": 0.0,
    "exact": 1.0,
    "path": 4.0,
}
_STEPS, _RATE, _RIDGE = 240, 0.15, 1e-4
_EVERYTHING = View(frozenset(), None)


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its candidates and the evidence for them."""

    question: Question
    candidates: Candidates
    table: NDArray[np.float64]
    """Shape (candidates, features)."""
    places: Sequence[Answer]
    answers: NDArray[np.bool_]
    """Which candidates answer it: shape (candidates,)."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirrors", type=Path, nargs="?")
    arguments = parser.parse_args()
    found = seen_examples(arguments.mirrors, None)
    _FILE.write_text(json.dumps(learned(found), indent=2) + "\n", encoding="utf-8")


def seen_examples(mirrors: Path | None, model: HostedModel | None) -> list[Example]:
    """The examples of all repositories that weights are learned from; with vectors, if there is a model."""
    return [
        example
        for history in histories(mirrors)
        if not history.is_unseen
        for example in examples(asked(history, model))
    ]


def examples(about: Asked) -> list[Example]:
    """The questions about a repository, of the kinds that are learned from; with their vectors, if it has any."""
    finder = CandidateFinder(about.index)
    found = []
    for question in about.questions:
        if question.kind not in _KINDS:
            continue
        vector = about.vectors.get(question.query)
        candidates = finder.find(analyse(question.query), _EVERYTHING, ready(vector), about.model_id)
        chunks = about.index.checkout.chunks.by_row([row.row for row in candidates.rows])
        places = [place_of(chunks[row.row].stored) for row in candidates.rows]
        answers = np.array([any(covers(place, answer) for answer in question.answers) for place in places], bool)
        table = evidence(candidates.rows, candidates.signals, candidates.query, candidates.asked)
        found.append(Example(question, candidates, table, places, answers))
    return found


def learned(found: Sequence[Example], given: Mapping[str, float] = GIVEN) -> dict[str, float]:
    """The weights by feature, rounded; each kind of question counts as the root of its number.

    Only questions count that have an answer among the candidates. The weights in `given` stay as they are.
    """
    found = [each for each in found if each.answers.any()]
    table = np.concatenate([each.table for each in found]).astype(np.float32)
    answers = np.concatenate([each.answers for each in found]).astype(np.float32)
    sizes = np.array([len(each.table) for each in found])
    starts = np.cumsum(sizes) - sizes
    of_kind = Counter(each.question.kind for each in found)
    share = np.array([of_kind[each.question.kind] ** -0.5 for each in found], np.float32)
    share = np.repeat(share / share.sum(), sizes)
    weights = np.array([given.get(name, 0.0) for name in FEATURES], np.float32)
    free = np.array([name not in given for name in FEATURES])
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    # Adam (Kingma and Ba, 2015).
    for step in range(1, _STEPS + 1):
        scores = table @ weights
        chances = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes))
        right = chances * answers
        chances /= np.repeat(np.add.reduceat(chances, starts), sizes)
        right /= np.repeat(np.add.reduceat(right, starts), sizes) + 1e-20
        slope = (table.T @ ((chances - right) * share) + _RIDGE * weights) * free
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        weights = weights - _RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return {name: round(float(weight), 2) for name, weight in zip(FEATURES, weights, strict=True)}


if __name__ == "__main__":
    main()
