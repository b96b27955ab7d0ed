"""The evidence that a chunk answers a query: numbers for the chunk and for its file, each with a weight.

`python -m tests.benchmarks.code.learn` learns the weights from questions about public repositories and writes them to
`weights.json`; docs/quality.md says what they are worth on repositories that it never saw.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from rag_ls.config import SearchSettings
from rag_ls.retrieval.terms import word_stems
from rag_ls.search.query import Kind, Query
from rag_ls.search.roles import is_data, is_docs, is_inline_test, is_secondary, is_test, superseded
from rag_ls.storage import RankRow

_FUNCTION = re.compile("function|method|constructor")
_DEFAULTS = SearchSettings()
_TYPE = re.compile("class|struct|interface|enum|type|trait|impl")
# Evidence of queries that name a symbol or a path, or that quote the code.
_NAMED = ("exact", "path", "phrase", "file_phrase", "folders", "folder", "file_asked")
# A file's score counts this many of its best chunks.
_COUNTED = 3
# From this share of the best BM25 on, a chunk counts as a match of its file; below, in part: matches count against a file, and the
# slightest one must not cost it more than it is worth.
_WHOLE_MATCH = 0.03
# A folder of an earlier version may still be what is meant.
_OLD = 0.5
# Prose may also be the place of a name, a path or a piece of code: it is held against it less.
_PROSE_FOR_CODE = 0.6
# Who asks in words may use others than the code; a name, a path, a message or a piece of code is found by its letters.
_MEANING_FOR_WORDS = 1.6


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


def for_kind(weights: Weights, kind: Kind) -> Weights:
    """The weights for a kind of query."""
    if kind is Kind.WORDS:
        return replace(weights, dense=weights.dense * _MEANING_FOR_WORDS)
    return replace(weights, docs=weights.docs * _PROSE_FOR_CODE)


def weights_for(kind: Kind, settings: SearchSettings) -> Weights:
    """The weights for a kind of query, with both signals scaled by the settings; default settings change nothing."""
    weights = for_kind(learned(), kind)
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
    stems: frozenset[str] = field(init=False)
    total: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stems", frozenset(self.weights))
        object.__setattr__(self, "total", sum(self.weights.values()))

    def share(self, stems: frozenset[str]) -> float:
        """The weighted share of the query's words that are among `stems`, 0..1."""
        if self.stems.isdisjoint(stems) or not self.total:
            return 0.0
        return sum([self.weights[stem_] for stem_ in self.stems & stems]) / self.total

    def asks(self, stems: frozenset[str]) -> float:
        """The share of `stems` that are words of the query, 0..1."""
        return len(self.stems & stems) / len(stems) if stems else 0.0


def evidence(rows: Sequence[RankRow], signals: Signals, query: Query, asked: Asked) -> NDArray[np.float64]:
    """The evidence for each chunk: shape (len(rows), len(FEATURES))."""
    said, meant = _said(signals), _meant(signals)
    chunks = np.array([_of_chunk(row, said.get(row.row, 0.0), meant, signals, asked) for row in rows], np.float64)
    if not rows:
        return np.empty((0, len(FEATURES)))
    _, first, of_file = np.unique([row.document_id for row in rows], return_index=True, return_inverse=True)
    files = [rows[at] for at in first]
    of_files = np.column_stack([_of_files(chunks, of_file, len(files)), [_of_file(file, asked) for file in files]])
    roles = _roles_of(files, query)[of_file]
    tests = [not role and is_inline_test(row.symbol, row.language) for row, role in zip(rows, roles[:, 0], strict=True)]
    roles[tests, 0] = _of_test(query)
    return np.column_stack([chunks, of_files[of_file], roles])


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
    name, name_asked, scope = _of_name(row.symbol, asked)
    function, type_ = _declared(row.node_type) if row.is_declaration else (False, False)
    return (
        said,
        # Text that was just typed has no embedding yet: it is judged by its words.
        meant.get(row.row, said) if meant else 0.0,
        signals.phrases.get(row.row, 0.0),
        name,
        name_asked,
        scope,
        "symbol" in how,
        "path" in how,
        row.is_declaration,
        function,
        type_,
    )


def _of_name(symbol: str, asked: Asked) -> tuple[float, float, float]:
    whole = word_stems(symbol)
    # Most names have nothing to do with the query.
    if asked.stems.isdisjoint(whole):
        return 0.0, 0.0, 0.0
    name = word_stems(symbol.rpartition(".")[2] or symbol)
    return asked.share(name), asked.asks(name), asked.share(whole)


@cache
def _declared(node_type: str) -> tuple[bool, bool]:
    """Whether a node declares a function, and whether a type."""
    return _FUNCTION.search(node_type) is not None, _TYPE.search(node_type) is not None


_SAID, _MEANT, _PHRASE, _NAME, _DECLARES = map(FEATURES.index, ("lexical", "dense", "phrase", "name", "declaration"))


def _of_files(chunks: NDArray[np.float64], of_file: NDArray[np.intp], files: int) -> NDArray[np.float64]:
    """The evidence that each file's candidates give: shape (files, 7). `of_file` is the number of each chunk's file."""
    said, meant = chunks[:, _SAID], chunks[:, _MEANT]
    best_said, best_meant = _best(said, of_file, files), _best(meant, of_file, files)
    matches = np.bincount(of_file, weights=np.minimum(said / _WHOLE_MATCH, 1.0), minlength=files)
    return np.column_stack([
        _greatest(said, of_file, files),
        best_said / (best_said.max() or 1.0),
        _greatest(meant, of_file, files),
        best_meant / (best_meant.max() or 1.0),
        _greatest(chunks[:, _PHRASE], of_file, files),
        np.log1p(matches) / 6,
        _greatest(chunks[:, _NAME] * chunks[:, _DECLARES], of_file, files),
    ])  # fmt: skip


def _greatest(values: NDArray[np.float64], of_file: NDArray[np.intp], files: int) -> NDArray[np.float64]:
    """The greatest value in each file."""
    greatest = np.full(files, -np.inf)
    np.maximum.at(greatest, of_file, values)
    return greatest


def _best(values: NDArray[np.float64], of_file: NDArray[np.intp], files: int) -> NDArray[np.float64]:
    """The sum of the `_COUNTED` greatest positive values in each file."""
    order = np.lexsort((-values, of_file))
    file = of_file[order]
    counted = order[np.arange(len(order)) - np.searchsorted(file, file) < _COUNTED]
    sums = np.zeros(files)
    np.add.at(sums, of_file[counted], np.maximum(values[counted], 0.0))
    return sums


def _of_file(file: RankRow, asked: Asked) -> tuple[float, ...]:
    """The evidence of a file's path and size about it."""
    folders, _, last = file.path.rpartition("/")
    name = word_stems(last.partition(".")[0])
    return (
        asked.share(name),
        bool(name) and name <= asked.stems,
        asked.share(word_stems(folders)),
        asked.share(word_stems(folders.rpartition("/")[2])),
        math.log1p(file.size) / 16,
    )


def _roles_of(files: Sequence[RankRow], query: Query) -> NDArray[np.float64]:
    """The roles of files: shape (len(files), 4)."""
    old = superseded(file.path for file in files)
    return np.array([
        (
            _of_test(query) * is_test(file.path),
            is_docs(file.language) and not query.wants_docs,
            is_data(file.language) and not (query.wants_data or query.wants_docs),
            1.0 if is_secondary(file.path) else _OLD * (file.path in old),
        )
        for file in files
    ])  # fmt: skip


def _of_test(query: Query) -> float:
    return -1.0 if query.wants_tests else 1.0
