"""The evidence that a chunk answers a query: signals and rules, each a number with a weight.

`python3 -m tests.benchmarks.code.tune` finds the weights on two thirds of the questions; docs/quality.md says what each
is worth on the third that was kept unseen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache

from rag_ls.config import SearchSettings
from rag_ls.search.query import Kind, Query
from rag_ls.search.roles import is_data, is_docs, is_inline_test, is_secondary, is_test
from rag_ls.storage import RankRow, split_identifier, stem

_FUNCTION = re.compile("function|method|constructor")
_DEFAULTS = SearchSettings()
_TYPE = re.compile("class|struct|interface|enum|type|trait|impl")


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each kind of evidence; the evidence itself is 0..1."""

    lexical: float = 0.35
    """BM25, as a share of the query's best."""
    dense: float = 0.7
    """Similarity, from the query's least similar candidate to the most similar one."""
    name: float = 0.24
    """The share of the query that the symbol's own name holds; a rare word counts more."""
    scope: float = 0.12
    """The same of the whole qualified symbol."""
    exact: float = 0.28
    """The query names this very symbol."""
    path: float = 0.4
    """The query names this file."""
    file: float = 0.06
    """The share of the query that the file's name holds."""
    function: float = 0.04
    """It declares a function."""
    type: float = -0.14
    """It declares a type: questions are mostly about its members."""
    test: float = -0.34
    """It is a test, and the query asks for none; if the query does, it counts as much in favour."""
    docs: float = -0.26
    """It is prose, and the query asks for none."""
    data: float = -0.1
    """It is data or style, and the query asks for none."""
    secondary: float = -0.1
    """It is an example, vendored, or kept for compatibility."""
    coherence: float = 0.05
    """The sum of its file's best three scores, as a share of the best file's sum."""


WORDS_WEIGHTS = Weights()
# Prose may also be the place of a name, a path or a piece of code.
CODE_WEIGHTS = Weights(docs=-0.15)


def weighed(weights: Weights, settings: SearchSettings) -> Weights:
    """The weights, with both signals scaled by the settings; default settings change nothing."""
    return replace(
        weights,
        dense=weights.dense * settings.dense_weight / _DEFAULTS.dense_weight,
        lexical=weights.lexical * settings.lexical_weight / _DEFAULTS.lexical_weight,
    )


def weights_for(kind: Kind) -> Weights:
    """The weights for a kind of query."""
    return WORDS_WEIGHTS if kind is Kind.WORDS else CODE_WEIGHTS


@dataclass(frozen=True, slots=True)
class Asked:
    """The query's words by stem, with their weights."""

    weights: Mapping[str, float]

    def share(self, stems: frozenset[str]) -> float:
        """The weighted share of the query's words that are among `stems`, 0..1."""
        total = sum(self.weights.values())
        return sum(weight for stem_, weight in self.weights.items() if stem_ in stems) / total if total else 0.0


def static_score(row: RankRow, query: Query, asked: Asked, weights: Weights, *, exact: bool, named: bool) -> float:
    """The score of a chunk without the two signals and without its file's other chunks."""
    name = row.symbol.rpartition(".")[2] or row.symbol
    score = weights.name * asked.share(stems_of(name)) + weights.scope * asked.share(stems_of(row.symbol))
    score += weights.file * asked.share(stems_of(_stem_of_file(row.path)))
    score += weights.exact * exact + weights.path * named
    if row.is_declaration:
        score += weights.function * bool(_FUNCTION.search(row.node_type))
        score += weights.type * bool(_TYPE.search(row.node_type))
    return score + _role_score(row, query, weights)


def _role_score(row: RankRow, query: Query, weights: Weights) -> float:
    score = weights.secondary * is_secondary(row.path)
    if is_test(row.path) or is_inline_test(row.symbol, row.language):
        score += -weights.test if query.wants_tests else weights.test
    if is_docs(row.language) and not query.wants_docs:
        score += weights.docs
    if is_data(row.language) and not (query.wants_data or query.wants_docs):
        score += weights.data
    return score


@lru_cache(maxsize=65536)
def stems_of(text: str) -> frozenset[str]:
    """The stems of the words in an identifier, a symbol or a path; identifiers are taken apart."""
    split = (split_identifier(word) for word in re.findall(r"\w+", text))
    return frozenset(stem(part) for parts in split for part in (parts[:-1] if len(parts) > 1 else parts))


def _stem_of_file(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def highest(weights: Weights) -> float:
    """The highest possible score of a chunk."""
    return sum(max(0.0, float(getattr(weights, field.name))) for field in fields(weights))
