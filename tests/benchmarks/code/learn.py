"""Learns the weights of the evidence from questions about public repositories, and writes them to `code.json`.

python -m tests.benchmarks.code.learn MIRRORS    MIRRORS: a folder of git mirrors, OWNER+NAME/repo, in place of GitHub

Two linear models, one for files and one for the places in them. Their weights are changed one at a time for as long as NDCG@10
grows, and none goes below zero, so that more evidence never moves anything down. Repositories of the unseen third are left out,
and so are bare names, which come first by a rule.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import rag_ls.search
from rag_ls.embedding import HostedModel
from rag_ls.search.candidates import CandidateFinder
from rag_ls.search.evidence import FEATURES, OF_FILES, OF_PLACES, ROLES, evidence, for_kind
from rag_ls.search.fusion import Candidates, load_weights
from rag_ls.search.query import analyse
from rag_ls.search.view import View
from tests.benchmarks.code.asked import Asked, asked, place_of
from tests.benchmarks.code.histories import histories
from tests.benchmarks.code.judge import DEPTH, covers
from tests.benchmarks.code.questions import Answer, Question
from tests.support import ready

_FILE = Path(rag_ls.search.__file__).parent / "weights" / "code.json"
_KINDS = ("subject", "architecture", "module", "concept", "documentation", "web", "message", "file")
# Not learned: all answers are sources, so that any weight of a role would do; documentation is taken from functions and types
# alike, which is not how people ask; whoever names a symbol or a file wants it; and vectors are weighed in `weighing`.
GIVEN = {
    **{name: load_weights("code")[name] for name in (*ROLES, "dense", "file_dense")},
    "exact": 1.0,
    "path": 4.0,
}
# A weight becomes so many times what it is, or one of the beginnings where it is none.
_STEPS, _BEGINNINGS = (0.0, 0.6, 0.8, 1.25, 1.7), (0.3, 0.8)
_LEAST_GAIN, _ROUNDS = 0.0003, 3
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
    """The weights by feature, rounded; each kind of question counts the same.

    Only questions count that have an answer among the candidates. The weights in `given` stay as they are.
    """
    sheets = [_Sheet.of(each) for each in found if each.answers.any()]
    weights = {**load_weights("code"), **given}
    best = _quality(sheets, weights)
    for _ in range(_ROUNDS):
        before = best
        for name in (name for name in FEATURES if name not in given):
            for value in [weights[name] * step for step in _STEPS] if weights[name] else _BEGINNINGS:
                tried = {**weights, name: round(value, 2)}
                if (quality := _quality(sheets, tried)) > best + _LEAST_GAIN:
                    best, weights = quality, tried
        if best < before + _LEAST_GAIN:
            break
    return weights


@dataclass(frozen=True, slots=True)
class _Sheet:
    """An example as arrays."""

    example: Example
    of_files: NDArray[np.float64]
    """The evidence for each file: shape (files, `OF_FILES`)."""
    of_places: NDArray[np.float64]
    """The evidence for each candidate: shape (candidates, `OF_PLACES`)."""
    file_of: NDArray[np.intp]
    """The file of each candidate: shape (candidates,)."""
    files: NDArray[np.bool_]
    """Which files answer: shape (files,)."""

    @classmethod
    def of(cls, example: Example) -> _Sheet:
        paths = [place.path for place in example.places]
        names, first, file_of = np.unique(paths, return_index=True, return_inverse=True)
        wanted = {answer.path for answer in example.question.answers}
        columns = list(FEATURES)
        of_files = example.table[first][:, [columns.index(name) for name in OF_FILES]]
        of_places = example.table[:, [columns.index(name) for name in OF_PLACES]]
        return cls(example, of_files, of_places, file_of, np.array([name in wanted for name in names]))


def _quality(sheets: Sequence[_Sheet], weights: Mapping[str, float]) -> float:
    """NDCG@10 by file and by the best place of each file: the mean over the kinds of questions."""
    of_kind: dict[str, list[float]] = defaultdict(list)
    gains = 1 / np.log2(np.arange(2, DEPTH + 2))
    for sheet in sheets:
        its = for_kind(weights, sheet.example.candidates.query.kind)
        files = sheet.of_files @ np.array([its[name] for name in OF_FILES])
        places = sheet.of_places @ np.array([its[name] for name in OF_PLACES])
        order = np.argsort(-files, kind="stable")[:DEPTH]
        first = [max(np.flatnonzero(sheet.file_of == file), key=lambda row: places[row]) for file in order]
        found = (sheet.files[order].astype(float) + sheet.example.answers[first]) / 2
        wanted = len({answer.path for answer in sheet.example.question.answers})
        of_kind[sheet.example.question.kind].append(float(gains[: len(order)] @ found / gains[:wanted].sum()))
    return sum(sum(values) / len(values) for values in of_kind.values()) / len(of_kind)


if __name__ == "__main__":
    main()
