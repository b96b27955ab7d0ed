"""The signals of candidates, and their fusion into one score: the weighed sum. The weights of each ranking are data, in `weights/`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding import ModelCard
from rag_ls.search.query import Query
from rag_ls.search.terms import AskedTerms
from rag_ls.storage import RankRow, StoredSymbol
from rag_ls.util.records import dataclass, field

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


Key = TypeVar("Key", int, str)


@dataclass(frozen=True, slots=True)
class Signals(Generic[Key]):
    """The value of each signal for the candidates that it found: by a chunk's row, or by a memory's id."""

    dense: Mapping[Key, float] = field(default_factory=dict)
    """The cosine with the question; empty if no model answered."""
    lexical: Mapping[Key, float] = field(default_factory=dict)
    """The score by words, higher is better. Of a chunk BM25; of a memory the share of the question's words in it, 0..1."""
    exact: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    """Chunks that the query names, and how: by `symbol`, `path` or `line`."""
    phrases: Mapping[Key, float] = field(default_factory=dict)
    """The longest run of the query's words in a chunk, as a share of the query."""
    held: Mapping[Key, float] = field(default_factory=dict)
    """The share of the query's words that a chunk's text holds; a rare word counts more."""
    close: Mapping[Key, float] = field(default_factory=dict)
    """The same of a few lines of it."""
    expanded: Mapping[Key, float] = field(default_factory=dict)
    """The share of the question's words that a memory holds only as an abbreviation, in full form, or as a synonym."""
    tags: Mapping[Key, float] = field(default_factory=dict)
    """The number of the question's words that are tags of a memory."""
    least_dense: float = 0.0
    """The cosine that counts as none."""

    def matched_by(self, key: Key) -> tuple[str, ...]:
        """The signals that found a candidate, and how the query names it."""
        named = {"dense": self.dense, "lexical": self.lexical, "expanded": self.expanded, "tags": self.tags}
        found = tuple(name for name, values in named.items() if key in values)
        return found + self.exact.get(key, ())


@dataclass(frozen=True, slots=True)
class Candidates:
    """The chunks that may answer a query, with all that tells how well they do."""

    rows: list[RankRow]
    signals: Signals[int]
    query: Query
    """The query, with a misspelt name corrected."""
    asked: AskedTerms
    held: Mapping[int, StoredSymbol]
    """Declarations that the query names, by the row of the chunk where they begin."""
    lacks_vector: bool
    """Whether the query's embedding failed or came too late."""
    similar: tuple[str, ...] = ()
    """The words that a word of the query may be misspelt for, where no chunk holds it."""
    absent: tuple[str, ...] = ()
    """The words of the query that no chunk holds, whatever the filters."""
    texts: Mapping[int, str] = field(default_factory=dict)
    """The texts of those candidates that were read."""


RELEVANT_SCORE = 0.7


def similarity(model: ModelCard, cosine: float) -> float:
    """The similarity (0..1) for a cosine between a question's and a text's vector, both made by `model`."""
    bend = model.relevant_cosine
    if cosine <= bend:
        return max(0.0, cosine) / bend * RELEVANT_SCORE
    return min(1.0, RELEVANT_SCORE + (cosine - bend) / (1 - bend) * (1 - RELEVANT_SCORE))


def cosine_of(model: ModelCard, wanted: float) -> float:
    """The cosine for a similarity: the inverse of `similarity`."""
    bend = model.relevant_cosine
    if wanted <= RELEVANT_SCORE:
        return wanted / RELEVANT_SCORE * bend
    return bend + (wanted - RELEVANT_SCORE) / (1 - RELEVANT_SCORE) * (1 - bend)


def share_of_highest(score: float, highest: float) -> float:
    """A score as a share of the highest possible one, 0..1."""
    return max(0.0, min(1.0, score / highest))


def probability(log_odds: float, prior: float = 1.0) -> float:
    """The probability (0..1) for a score that is the logarithm of odds, which are multiplied by a prior."""
    even = 1 / (1 + math.exp(-log_odds))
    return prior * even / (prior * even + 1 - even)
