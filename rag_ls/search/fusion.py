"""Fuses evidence into one score: its weighed sum. The weights of each ranking are data, in `weights/`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Weights: TypeAlias = Mapping[str, float]
"""The weight of each kind of evidence, by its name."""
Value = TypeVar("Value", float, NDArray[np.float64])


@cache
def load_weights(ranking: str) -> Weights:
    """The weights of a ranking: `code`, `memories` or `rules`."""
    file = resources.files("rag_ls.search").joinpath("weights", f"{ranking}.json")
    return MappingProxyType(json.loads(file.read_text(encoding="utf-8")))


def fuse(evidence: Mapping[str, Value], weights: Weights) -> Value:
    """The weighed sum of evidence, of one candidate (a number each) or of many (a column each, shape (candidates,)).

    Added up in the order of the evidence, whatever the processor. There must be some evidence.
    """
    terms = [value * weights[name] for name, value in evidence.items()]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def highest_score(weights: Weights, names: Iterable[str]) -> float:
    """The score of a candidate with all of the named evidence, each of which is at most 1."""
    return sum(max(0.0, weights[name]) for name in names)
