"""Learns the weights of the evidence for a rule from the tuned half of the labelled changes of repositories and the seen half of
those of `sets/`, and prints them for `rules.json`.

python -m tests.benchmarks.rules.learn CHECKOUTS WORK [--without REPOSITORY]

First the order: each change is a list of sections, of which the right ones are to come first, asked with its files and
without, with vectors and without. No weight changes its sign, so that more evidence for a section never moves it down. Then the scale, on
which 0 is even odds: whether a rule speaks of a change at all, by the score of the first section, the part of its words that
any section holds, and the similarity of the nearest section. Without a repository, the other ones alone are learned from; so are
those alone of which CHECKOUTS has a clone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import local_model
from rag_ls.rules.finding import RuleHit
from rag_ls.rules.sections import USUAL_NEAREST_SIMILARITY, USUAL_SIMILARITY
from rag_ls.search.fusion import load_weights
from tests.benchmarks.rules.judge import changes, copy_of
from tests.benchmarks.rules.public import (
    PublicChange,
    Repository,
    embed_changes,
    open_files,
    open_repository,
    read_changes,
    read_silent_changes,
)

Vector: TypeAlias = NDArray[np.float64]
_PENALTY, _ROUNDS, _STEP = 0.003, 3000, 0.05
# A change of another repository may be spoken of: it counts half as much as one of which no rule speaks.
_OF_NO_RULE, _OF_OTHERS = 0.35, 0.15
_OF_THE_CHANGE = ("bias", "known", "nearest")


@dataclass(frozen=True, slots=True)
class Example:
    """A change with the evidence for each section: shape (sections, kinds of evidence)."""

    evidence: Vector
    is_right: NDArray[np.bool_]
    known: float
    nearest: float
    weight: float
    """The weight of the change as one of which a rule speaks (positive) or none does (negative)."""


def _collect(
    repository: Repository,
    asked: Sequence[PublicChange],
    vectors: Mapping[str, NDArray[np.float32]],
    names: Sequence[str],
) -> Iterator[Example]:
    for change in asked:
        is_own = change.set == repository.name
        if not is_own and not change.right:
            continue
        weight = 1.0 if is_own and change.right else -_OF_NO_RULE if is_own else -_OF_OTHERS
        for files in dict.fromkeys(((), change.files if weight > 0 else ())):
            for vector in (vectors[change.text], None):
                hits = repository.find(change.text, files, vector)
                yield _make_example(change, hits, weight if not files else 0.0, names)


def _read_set_changes() -> list[PublicChange]:
    """The changes of `sets/`, as those of repositories."""
    return [
        PublicChange(each.set, each.text, (each.file_path,) if each.file_path else (), each.right, each.half)
        for each in changes()
    ]


def _make_example(change: PublicChange, hits: Sequence[RuleHit], weight: float, names: Sequence[str]) -> Example:
    rows = [asdict(hit.evidence) for hit in hits]
    usual = {"similarity": USUAL_SIMILARITY}
    table = [[float(usual.get(name, 0.0) if row[name] is None else row[name]) for name in names] for row in rows]
    right = [change.is_right(hit) for hit in hits]
    known, nearest = (rows[0]["known"], rows[0]["nearest"]) if rows else (0.0, 0.0)
    return Example(
        np.array(table), np.array(right), known, USUAL_NEAREST_SIMILARITY if nearest is None else nearest, weight
    )


def learn_order(examples: Sequence[Example], signs: Vector) -> Vector:
    """The weights that put the right sections first (listwise softmax, none changes its sign)."""
    labelled = [each for each in examples if each.is_right.any()]
    weights = np.ones(len(signs))
    mean, square = np.zeros(len(signs)), np.zeros(len(signs))
    for turn in range(1, _ROUNDS + 1):
        slope = 2 * _PENALTY * weights
        for each in labelled:
            odds = np.exp(_center(each.evidence @ (weights * signs)))
            wanted = np.where(each.is_right, odds, 0.0)
            slope += (odds / odds.sum() - wanted / wanted.sum()) @ each.evidence * signs / len(labelled)
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        step = mean / (1 - 0.9**turn) / (np.sqrt(square / (1 - 0.999**turn)) + 1e-8)
        weights = np.maximum(0.0, weights - _STEP * step / np.sqrt(1 + turn / 100))
    return weights * signs


def _center(scores: Vector) -> Vector:
    return scores - scores.max()


def learn_scale(examples: Sequence[Example], weights: Vector) -> Vector:
    """The factor of the score, the weights of what the sections share, and the bias: a logistic regression, by Newton's steps."""
    asked = [each for each in examples if each.weight and len(each.evidence)]
    table = np.array([[(each.evidence @ weights).max(), each.known, each.nearest, 1.0] for each in asked])
    speaks = np.array([each.weight > 0 for each in asked], float)
    counts = np.array([sum(other.weight == each.weight for other in asked) for each in asked])
    shares = np.array([0.5 if each.weight > 0 else -each.weight for each in asked]) / counts
    found = np.zeros(4)
    for _ in range(50):
        even = 1 / (1 + np.exp(-table @ found))
        slope = table.T @ (shares * (even - speaks)) + 0.004 * found * [1, 1, 0, 0]
        bend = (table * (shares * even * (1 - even))[:, None]).T @ table + np.diag([0.004, 0.004, 1e-4, 1e-9])
        found = found - np.linalg.solve(bend, slope)
    return found


def main() -> None:
    """Print the learned weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--without", default="", metavar="REPOSITORY", help="leave one out")
    arguments = parser.parse_args()
    present = load_weights("rules")
    names = [name for name in present if name not in _OF_THE_CHANGE]
    signs = np.sign([present[name] for name in names])
    asked = [
        each
        for each in (*read_changes(), *read_silent_changes())
        if each.half == "tuned"
        and each.set != arguments.without
        and (arguments.checkouts / each.set.replace("/", "+")).exists()
    ]
    of_sets = [each for each in _read_set_changes() if each.half == "seen"]
    model = local_model("auto", EmbeddingSettings())
    vectors = embed_changes([*asked, *of_sets], model, arguments.work)
    examples: list[Example] = []
    for name in dict.fromkeys(each.set for each in asked):
        repository = open_repository(arguments.checkouts, arguments.work, name, model)
        examples += _collect(repository, asked, vectors, names)
    for name in dict.fromkeys(each.set for each in of_sets):
        repository = open_files(arguments.work, name, partial(copy_of, name, arguments.work), model)
        examples += _collect(repository, of_sets, vectors, names)
    order = learn_order(examples, signs)
    factor, known, nearest, bias = learn_scale(examples, order)
    # Evidence that no example has (no rules in YAML are among them) keeps its weight.
    shown: Vector = sum(np.abs(each.evidence).sum(axis=0) for each in examples)
    learned = {
        **present,
        **{name: factor * weight for name, weight, amount in zip(names, order, shown, strict=True) if amount},
        "known": known,
        "nearest": nearest,
        "bias": bias,
    }
    print(json.dumps({name: round(float(learned[name]), 2) for name in present}, indent=2))


if __name__ == "__main__":
    main()
