"""The evidence that a chunk answers a query: numbers for the chunk and for its file, each with a weight.

`python -m tests.benchmarks.code.learn` learns the weights from questions about public repositories and writes them to
`weights.json`; docs/quality.md says what they are worth on repositories that it never saw.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from rag_ls.config import SearchSettings
from rag_ls.search.query import Kind, Query, words_of
from rag_ls.search.roles import is_data, is_docs, is_inline_test, is_secondary, is_test, superseded
from rag_ls.storage import RankRow, stem

_FUNCTION = re.compile("function|method|constructor")
_DEFAULTS = SearchSettings()
_TYPE = re.compile("class|struct|interface|enum|type|trait|impl")
# Evidence of queries that name a symbol or a path, or that quote the code.
_NAMED = ("exact", "path", "phrase", "file_phrase", "folders", "folder", "file_asked")
# A file's score counts this many of its best chunks.
_COUNTED = 3
# A folder of an earlier version may still be what is meant.
_OLD = 0.5
# Prose may also be the place of a name, a path or a piece of code: it is held against it less.
_PROSE_FOR_CODE = 0.6


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each kind of evidence, in the order of the columns of `evidence`; the evidence itself is 0..1."""

    lexical: float
    """BM25, as a share of the query's best."""
    dense: float
    """Similarity, from the query's hundredth candidate to its most similar one."""
    phrase: float
    """The longest run of the query's words that the chunk holds one after another, as a share of the query."""
    name: float
    """The share of the query that the symbol's own name holds; a rare word counts more."""
    name_asked: float
    """The share of that name that the query holds."""
    scope: float
    """The share of the query that the whole qualified symbol holds."""
    exact: float
    """The query names this very symbol."""
    path: float
    """The query names this file."""
    declaration: float
    """It declares something."""
    function: float
    """It declares a function."""
    type: float
    """It declares a type."""
    file_lexical: float
    """The best BM25 of the file's chunks."""
    file_lexical_sum: float
    """The sum of the file's best three, as a share of the best file's."""
    file_dense: float
    """The best similarity of the file's chunks."""
    file_dense_sum: float
    """The sum of the file's best three, as a share of the best file's."""
    file_phrase: float
    """The longest run of words in any of the file's chunks."""
    file_chunks: float
    """How many of the file's chunks are candidates, as a logarithm."""
    file_symbol: float
    """The greatest share of the query that the name of a declaration in the file holds."""
    file_name: float
    """The share of the query that the file's name holds."""
    file_asked: float
    """The query holds the whole name of the file."""
    folders: float
    """The share of the query that the names of the file's folders hold."""
    folder: float
    """The same of the innermost folder alone."""
    file_size: float
    """The size of the file, as a logarithm."""
    test: float
    """It is a test, and the query asks for none; -1 where the query does."""
    docs: float
    """It is prose, and the query asks for none."""
    data: float
    """It is data or style, and the query asks for none."""
    secondary: float
    """It is an example, vendored, generated, or kept for compatibility."""


FEATURES = tuple(each.name for each in fields(Weights))


@dataclass(frozen=True, slots=True)
class Signals:
    """The value of each signal for the candidate rows."""

    dense: Mapping[int, float] = field(default_factory=dict)
    """Similarities."""
    lexical: Mapping[int, float] = field(default_factory=dict)
    """BM25 values; higher is better."""
    exact: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Rows that the query names, and how: by `symbol`, `path` or `line`."""
    phrases: Mapping[int, float] = field(default_factory=dict)
    """The longest run of the query's words in a chunk, as a share of the query."""
    least_dense: float = 0.0
    """The similarity that counts as none."""


@cache
def learned() -> Weights:
    """The weights; without embeddings, the evidence of similarity is 0."""
    text = resources.files("rag_ls.search").joinpath("weights.json").read_text(encoding="utf-8")
    return Weights(**json.loads(text))


def weights_for(kind: Kind, settings: SearchSettings) -> Weights:
    """The weights for a kind of query, with both signals scaled by the settings; default settings change nothing."""
    weights = learned()
    if kind is not Kind.WORDS:
        weights = replace(weights, docs=weights.docs * _PROSE_FOR_CODE)
    said = settings.lexical_weight / _DEFAULTS.lexical_weight
    meant = settings.dense_weight / _DEFAULTS.dense_weight
    if said == meant == 1.0:
        return weights
    return replace(
        weights, lexical=weights.lexical * said, file_lexical=weights.file_lexical * said,
        file_lexical_sum=weights.file_lexical_sum * said, dense=weights.dense * meant,
        file_dense=weights.file_dense * meant, file_dense_sum=weights.file_dense_sum * meant,
    )  # fmt: skip


def highest(weights: Weights, *, dense: bool) -> float:
    """The score of a chunk with all evidence that a question in words can have; what names a place scores above it."""
    left_out = _NAMED if dense else (*_NAMED, "dense", "file_dense", "file_dense_sum")
    return sum(max(0.0, float(getattr(weights, name))) for name in FEATURES if name not in left_out)


@dataclass(frozen=True, slots=True)
class Asked:
    """The query's words by stem, with their weights."""

    weights: Mapping[str, float]
    total: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", sum(self.weights.values()))

    def share(self, stems: frozenset[str]) -> float:
        """The weighted share of the query's words that are among `stems`, 0..1."""
        asked = self.weights.keys() & stems
        return sum([self.weights[stem_] for stem_ in asked]) / self.total if asked and self.total else 0.0

    def asks(self, stems: frozenset[str]) -> float:
        """The share of `stems` that are words of the query, 0..1."""
        return sum([stem_ in self.weights for stem_ in stems]) / len(stems) if stems else 0.0


def evidence(rows: Sequence[RankRow], signals: Signals, query: Query, asked: Asked) -> NDArray[np.float64]:
    """The evidence for each chunk: shape (len(rows), len(FEATURES))."""
    said, meant = _said(signals), _meant(signals)
    of_chunks = [_of_chunk(row, said.get(row.row, 0.0), meant, signals, asked) for row in rows]
    of_files = _of_files(rows, of_chunks, asked)
    old = superseded({row.path for row in rows})
    values = [
        (*chunk, *of_files[row.document_id], *_roles(row, query, row.path in old))
        for row, chunk in zip(rows, of_chunks, strict=True)
    ]
    return np.array(values, np.float64).reshape(len(rows), len(FEATURES))


def _said(signals: Signals) -> dict[int, float]:
    best = max(signals.lexical.values(), default=0.0)
    return {row: value / best if best > 0 else 1.0 for row, value in signals.lexical.items()}


def _meant(signals: Signals) -> dict[int, float]:
    low, high = signals.least_dense, max(signals.dense.values(), default=0.0)
    return {row: max(-1.0, (value - low) / (high - low)) if high > low else 1.0 for row, value in signals.dense.items()}


def _of_chunk(
    row: RankRow, said: float, meant: Mapping[int, float], signals: Signals, asked: Asked
) -> tuple[float, ...]:
    how = signals.exact.get(row.row, ())
    name = stems_of(row.symbol.rpartition(".")[2] or row.symbol)
    declares = row.is_declaration
    return (
        said,
        # Text that was just typed has no embedding yet: it is judged by its words.
        meant.get(row.row, said) if meant else 0.0,
        signals.phrases.get(row.row, 0.0),
        asked.share(name),
        asked.asks(name),
        asked.share(stems_of(row.symbol)),
        "symbol" in how,
        "path" in how,
        declares,
        declares and _is_function(row.node_type),
        declares and _is_type(row.node_type),
    )


@cache
def _is_function(node_type: str) -> bool:
    return _FUNCTION.search(node_type) is not None


@cache
def _is_type(node_type: str) -> bool:
    return _TYPE.search(node_type) is not None


_SAID, _MEANT, _PHRASE, _NAME, _DECLARES = map(FEATURES.index, ("lexical", "dense", "phrase", "name", "declaration"))


def _of_files(
    rows: Sequence[RankRow], chunks: Sequence[tuple[float, ...]], asked: Asked
) -> dict[int, tuple[float, ...]]:
    """The evidence for each document among the candidates."""
    of_file: dict[int, list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        of_file[row.document_id].append(at)
    sums = {
        number: (_best(chunks[at][_SAID] for at in its), _best(chunks[at][_MEANT] for at in its))
        for number, its in of_file.items()
    }
    most_said = max((said for said, _ in sums.values()), default=0.0) or 1.0
    most_meant = max((meant for _, meant in sums.values()), default=0.0) or 1.0
    found: dict[int, tuple[float, ...]] = {}
    for number, its in of_file.items():
        file = rows[its[0]]
        found[number] = (
            max(chunks[at][_SAID] for at in its),
            sums[number][0] / most_said,
            max(chunks[at][_MEANT] for at in its),
            sums[number][1] / most_meant,
            max(chunks[at][_PHRASE] for at in its),
            math.log1p(sum(chunks[at][_SAID] > 0 for at in its)) / 6,
            max(chunks[at][_NAME] * chunks[at][_DECLARES] for at in its),
            *_of_path(file.path, asked),
            math.log1p(file.size) / 16,
        )
    return found


def _best(values: Iterable[float]) -> float:
    return sum(sorted((value for value in values if value > 0), reverse=True)[:_COUNTED])


def _of_path(path: str, asked: Asked) -> tuple[float, float, float, float]:
    folders, _, file = path.rpartition("/")
    name = stems_of(file.partition(".")[0])
    return (
        asked.share(name),
        bool(name) and name <= asked.weights.keys(),
        asked.share(stems_of(folders)),
        asked.share(stems_of(folders.rpartition("/")[2])),
    )


def _roles(row: RankRow, query: Query, is_old: bool) -> tuple[float, float, float, float]:
    tests = is_test(row.path) or is_inline_test(row.symbol, row.language)
    return (
        (-1.0 if query.wants_tests else 1.0) * tests,
        is_docs(row.language) and not query.wants_docs,
        is_data(row.language) and not (query.wants_data or query.wants_docs),
        1.0 if is_secondary(row.path) else _OLD * is_old,
    )


@lru_cache(maxsize=65536)
def stems_of(text: str) -> frozenset[str]:
    """The stems of the words in an identifier, a symbol or a path; identifiers are taken apart."""
    return frozenset(map(stem, words_of(text)))
