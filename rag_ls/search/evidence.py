"""The evidence that files and the places in them answer a query, each kind with a weight.

Evidence about a file orders the files, evidence about a place orders the places within a file. All of it counts for a
candidate; only the file's role in the repository may count against it. `python -m tests.benchmarks.code.learn` learns the weights
in `search/weights/code.json` from questions about public repositories; docs/quality.md says what they are worth on others.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from rag_ls.config import SearchSettings
from rag_ls.search.fusion import Signals, Weights, highest_score, load_weights
from rag_ls.search.query import Query, QueryKind
from rag_ls.search.roles import (
    BY_PATH,
    Roles,
    find_superseded,
    is_data,
    is_docs,
    is_inline_test,
    is_migration_step,
    tested_name,
)
from rag_ls.search.terms import AskedTerms, name_stems
from rag_ls.storage import RankRow
from rag_ls.util.patterns import lazy_pattern

_FUNCTION = lazy_pattern("function|method|constructor")
_DEFAULTS = SearchSettings()
# Evidence of queries that name a symbol or a path, or that quote the code.
_NAMED = ("file_exact", "path", "file_phrase", "folders", "folder", "file_asked")
# Evidence of each signal that the settings scale.
_LEXICAL = ("lexical", "file_lexical", "file_lexical_sum")
_DENSE = ("dense", "file_dense")
# A file's sum counts this many of its best chunks.
_COUNTED_CHUNKS = 5
# The query may mean a folder of an earlier version all the same.
_OLD_WEIGHT = 0.5
# A name, a path or a piece of code may stand in prose too, so being prose counts less against a file.
_PROSE_WEIGHT_FOR_CODE = 0.6
# A declaration of so many lines has its whole similarity. A few lines hold one thought, so they are near to each question that
# touches it, nearer than the pieces of the long declaration that answers.
_BROAD_LINES = 40
# Of shorter ones than this, length tells nothing.
_FEW_LINES = 8
# Meaning counts more for a question in words, which may use other words than the code. Names, paths and messages match by letters.
_MEANING_WEIGHT_FOR_WORDS = 1.6


Column = NDArray[np.float64]
"""A number for each candidate: shape (candidates,)."""


class Scene:
    """The candidates for a query, with what several kinds of evidence need of them."""

    def __init__(
        self, rows: Sequence[RankRow], signals: Signals[int], query: Query, asked: AskedTerms, roles: Roles
    ) -> None:
        """There must be some rows."""
        self.rows, self.signals, self.query, self.asked, self.roles = rows, signals, query, asked, roles
        _, first, self._of_file = np.unique([row.document_id for row in rows], return_index=True, return_inverse=True)
        self._files = [rows[at] for at in first]
        self._of_places: dict[str, Column] = {}

    def of_places(self, name: str) -> Column:
        """The evidence for each chunk by one of `OF_PLACES`, measured once."""
        if name not in self._of_places:
            self._of_places[name] = OF_PLACES[name](self)
        return self._of_places[name]

    def of_rows(self, value: Callable[[RankRow], float]) -> Column:
        """A number of each chunk."""
        return np.array([value(row) for row in self.rows], np.float64)

    def of_files(self, value: Callable[[RankRow], float]) -> Column:
        """A number of each chunk's file, which is asked for with one chunk of the file."""
        return np.array([value(row) for row in self._files], np.float64)[self._of_file]

    def greatest(self, column: Column) -> Column:
        """The greatest number in each chunk's file."""
        return self._greatest_of_files(column)[self._of_file]

    def greatest_with_tests(self, column: Column) -> Column:
        """The greatest number in each chunk's file or its tests: they say in words what the code does."""
        greatest = self._greatest_of_files(column)
        for test, tested in self._tested:
            greatest[tested] = max(greatest[tested], greatest[test])
        return greatest[self._of_file]

    def _greatest_of_files(self, column: Column) -> Column:
        greatest = np.full(len(self._files), -np.inf)
        np.maximum.at(greatest, self._of_file, column)
        return greatest

    @cached_property
    def _tested(self) -> list[tuple[int, int]]:
        """Each test with the file that it is named after, if no other candidate has that name; none if the query asks for tests."""
        if self.query.wants_tests:
            return []
        tests: list[tuple[int, str]] = []
        named: dict[str, list[int]] = defaultdict(list)
        for at, file in enumerate(self._files):
            if is_docs(file.language) or is_data(file.language):
                continue
            if self.roles.is_test(file.path):
                tests.append((at, tested_name(file.path)))
            else:
                named[tested_name(file.path)].append(at)
        return [(at, named[name][0]) for at, name in tests if len(named.get(name, ())) == 1]

    def sum_of_best(self, column: Column) -> Column:
        """The sum of the `_COUNTED_CHUNKS` greatest positive numbers in each chunk's file, as a share of the best file's."""
        order = np.lexsort((-column, self._of_file))
        file = self._of_file[order]
        counted = order[np.arange(len(order)) - np.searchsorted(file, file) < _COUNTED_CHUNKS]
        sums = np.zeros(len(self._files))
        np.add.at(sums, self._of_file[counted], np.maximum(column[counted], 0.0))
        return (sums / (sums.max() or 1.0))[self._of_file]

    @cached_property
    def lexical(self) -> Column:
        """BM25, as a share of the query's best."""
        values = self.signals.lexical
        best = max(values.values(), default=0.0)
        return self.of_rows(lambda row: (values[row.row] / best if best > 0 else 1.0) if row.row in values else 0.0)

    @cached_property
    def dense(self) -> Column:
        """Similarity, from the least similar candidate that was found by it to the most similar one; without vectors 0."""
        values = self.signals.dense
        if not values:
            return np.zeros(len(self.rows))
        low, high = self.signals.least_dense, max(values.values())
        # Text that was just typed has no embedding yet: it is judged by its words.
        return np.array([
            said if row.row not in values
            else max(-1.0, (values[row.row] - low) / (high - low)) if high > low else 1.0
            for row, said in zip(self.rows, map(float, self.lexical), strict=True)
        ])  # fmt: skip

    @cached_property
    def broad_dense(self) -> Column:
        """As `dense`, but the shorter a chunk's declaration, the less counts its similarity."""
        lines: Counter[tuple[int, str]] = Counter()
        for row in self.rows:
            lines[row.declaration] += row.lines
        breadth = self.of_rows(lambda row: math.log(1 + max(lines[row.declaration], _FEW_LINES), _BROAD_LINES))
        return np.where(self.dense > 0.0, self.dense * np.minimum(breadth, 1.0), self.dense)

    @cached_property
    def names(self) -> NDArray[np.float64]:
        """The shares of the query that symbols hold: shape (candidates, 3), the columns `name`, `name_asked`, `scope`."""
        return np.array([_of_name(row.symbol, self.asked) for row in self.rows])

    @cached_property
    def older(self) -> set[str]:
        """The paths of which there are later versions."""
        return find_superseded(file.path for file in self._files)

    def named_as(self, how: str) -> Column:
        """Whether the query names a chunk in this way."""
        return self.of_rows(lambda row: how in self.signals.exact.get(row.row, ()))

    def path_share(self, path_of: Callable[[str], str]) -> Column:
        """The share of the query that a part of each file's path holds."""
        return self.of_files(lambda file: self.asked.share(name_stems(path_of(file.path), self.asked.stems)))

    def are_tests(self) -> Column:
        """1 for tests; -1 where the query asks for them."""
        sign = -1.0 if self.query.wants_tests else 1.0
        return self.of_rows(
            lambda row: sign * (self.roles.is_test(row.path) or is_inline_test(row.symbol, row.language))
        )


@cache
def _declares_function(node_type: str) -> bool:
    return _FUNCTION.search(node_type) is not None


OF_PLACES: Mapping[str, Callable[[Scene], Column]] = {
    # BM25, as a share of the query's best.
    "lexical": lambda at: at.lexical,
    # Similarity, from the least to the most similar candidate that was found by it; less where the declaration is short.
    "dense": lambda at: at.broad_dense,
    # The longest run of the query's words that the chunk holds one after another, as a share of the query.
    "phrase": lambda at: at.of_rows(lambda row: at.signals.phrases.get(row.row, 0.0)),
    # The shares of the query that the chunk's text holds, and that stand in a few lines of it; a rare word counts more.
    "held": lambda at: at.of_rows(lambda row: at.signals.held.get(row.row, 0.0)),
    "close": lambda at: at.of_rows(lambda row: at.signals.close.get(row.row, 0.0)),
    # The share of the query that the symbol's own name holds; a rare word counts more.
    "name": lambda at: at.names[:, 0],
    # The share of that name that the query holds.
    "name_asked": lambda at: at.names[:, 1],
    # The share of the query that the whole qualified symbol holds.
    "scope": lambda at: at.names[:, 2],
    # The query names this very symbol.
    "exact": lambda at: at.named_as("symbol"),
    # It declares something; a function.
    "declaration": lambda at: at.of_rows(lambda row: row.is_declaration),
    "function": lambda at: at.of_rows(lambda row: row.is_declaration and _declares_function(row.node_type)),
    # It is a test, alone or beside the code that it tests, and the query asks for none; -1 if the query asks for tests.
    "test": lambda at: at.are_tests(),
}  # fmt: skip
"""Each kind of evidence for a place by name, with the function that measures it for all candidates; 0..1, a few below 0."""

OF_FILES: Mapping[str, Callable[[Scene], Column]] = {
    # The best BM25 of the chunks of the file and its tests, and the sum of the file's best, as a share of the best file's.
    "file_lexical": lambda at: at.greatest_with_tests(at.lexical),
    "file_lexical_sum": lambda at: at.sum_of_best(at.lexical),
    # The best similarity of the file, however short the declarations are.
    "file_dense": lambda at: at.greatest(at.dense),
    # The longest run of words in any of the file's chunks.
    "file_phrase": lambda at: at.greatest(at.of_places("phrase")),
    # The greatest share of the query that one of the file's or its tests' chunks holds, and that stands in a few lines of the file.
    "file_held": lambda at: at.greatest_with_tests(at.of_places("held")),
    "file_close": lambda at: at.greatest(at.of_places("close")),
    # The greatest shares that the names of its symbols have: see `name`, `name_asked` and `scope`.
    "file_symbol": lambda at: at.greatest(at.names[:, 0]),
    "file_symbol_asked": lambda at: at.greatest(at.names[:, 1]),
    "file_scope": lambda at: at.greatest(at.names[:, 2]),
    # The query names a symbol of the file, or the file itself.
    "file_exact": lambda at: at.greatest(at.of_places("exact")),
    "path": lambda at: at.greatest(at.named_as("path")),
    # The share of the query that the file's name holds, and whether the query holds that whole name.
    "file_name": lambda at: at.path_share(_name_of),
    "file_asked": lambda at: at.of_files(lambda file: _is_asked(_name_of(file.path), at.asked)),
    # The share of the query that the names of the file's folders hold, and the share that the innermost folder holds.
    "folders": lambda at: at.path_share(lambda path: path.rpartition("/")[0]),
    "folder": lambda at: at.path_share(lambda path: path.rpartition("/")[0].rpartition("/")[2]),
    # All hits in it are tests, and the query asks for none; -1 if the query asks for tests.
    "file_test": lambda at: -at.greatest(-at.of_places("test")),
    # It is prose, and the query asks for none.
    "docs": lambda at: at.of_files(lambda file: is_docs(file.language) and not at.query.wants_docs),
    # It is data or style, and the query asks for none.
    "data": lambda at: at.of_files(
        lambda file: is_data(file.language) and not (at.query.wants_data or at.query.wants_docs)
    ),
    # It is an example, vendored, generated, kept for compatibility, or a step of a migration that the query does not ask for.
    "secondary": lambda at: at.of_files(lambda file: _measure_secondary(file.path, at)),
}  # fmt: skip
"""The same for files: each chunk has the number of its file."""

ROLES = ("test", "file_test", "docs", "data", "secondary")
"""The evidence against a place or a file: people rarely mean a test, prose or data unless they say so."""

FEATURES = {**OF_PLACES, **OF_FILES}


def evidence(
    rows: Sequence[RankRow], signals: Signals[int], query: Query, asked: AskedTerms, roles: Roles = BY_PATH
) -> NDArray[np.float64]:
    """The evidence for each chunk: shape (len(rows), len(FEATURES)), in the order of `FEATURES`."""
    if not rows:
        return np.empty((0, len(FEATURES)))
    scene = Scene(rows, signals, query, asked, roles)
    places = [scene.of_places(name) for name in OF_PLACES]
    return np.column_stack([*places, *(measure(scene) for measure in OF_FILES.values())])


def for_kind(weights: Weights, kind: QueryKind) -> Weights:
    """The weights for a kind of query."""
    if kind is QueryKind.WORDS:
        return {**weights, **{name: weights[name] * _MEANING_WEIGHT_FOR_WORDS for name in _DENSE}}
    return {**weights, "docs": weights["docs"] * _PROSE_WEIGHT_FOR_CODE}


def weights_for(kind: QueryKind, settings: SearchSettings) -> Weights:
    """The weights for a kind of query, with both signals scaled by the settings; default settings change nothing."""
    weights = for_kind(load_weights("code"), kind)
    lexical_scale = settings.lexical_weight / _DEFAULTS.lexical_weight
    dense_scale = settings.dense_weight / _DEFAULTS.dense_weight
    scaled = {**dict.fromkeys(_LEXICAL, lexical_scale), **dict.fromkeys(_DENSE, dense_scale)}
    return {name: weight * scaled.get(name, 1.0) for name, weight in weights.items()}


def top_score(weights: Weights, *, dense: bool) -> float:
    """The score of a file with all evidence that a question in words can have; what names a place scores above it."""
    left_out = _NAMED if dense else (*_NAMED, *_DENSE)
    return highest_score(weights, [name for name in OF_FILES if name not in left_out])


def _measure_secondary(path: str, at: Scene) -> float:
    if at.roles.is_secondary(path) or (is_migration_step(path) and not at.query.wants_migrations):
        return 1.0
    return _OLD_WEIGHT * (path in at.older)


def _of_name(symbol: str, asked: AskedTerms) -> tuple[float, float, float]:
    whole = name_stems(symbol, asked.stems)
    # The query has nothing to do with most names.
    if asked.stems.isdisjoint(whole):
        return 0.0, 0.0, 0.0
    name = name_stems(symbol.rpartition(".")[2] or symbol, asked.stems)
    return asked.share(name), asked.share_asked(name), asked.share(whole)


def _name_of(path: str) -> str:
    """The file's name without suffixes."""
    return path.rpartition("/")[2].partition(".")[0]


def _is_asked(name: str, asked: AskedTerms) -> bool:
    stems = name_stems(name, asked.stems)
    return bool(stems) and stems <= asked.stems
