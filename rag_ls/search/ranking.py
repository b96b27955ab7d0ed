"""Rules that know code, applied to fused scores."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from rag_ls.search.query import Query
from rag_ls.storage import ChunkRow, last_name

# Added to (or taken from) a fused score of 0..1. Issue-sized steps: a rule orders near ties and names, no more.
_EXACT_NAME = 0.35
_NAMED_PATH = 0.25
_DECLARATION = 0.04
_TEST_CODE = -0.12
_SAME_FILE = 0.04
_HIGHEST = 1.0 + _EXACT_NAME + _NAMED_PATH + _DECLARATION

_TEST_PATH = re.compile(
    r"(^|/)(tests?|testing|__tests__|spec|fixtures?)/|(^|/)(test_|conftest)[^/]*$|[._-](test|tests|spec)\.\w+$", re.I
)


def rank(rows: Sequence[ChunkRow], fused: Mapping[int, float], query: Query) -> list[tuple[ChunkRow, float]]:
    """The chunks with their final scores in 0..1, best first; equal scores in order of path and line."""
    scored = [(row, fused.get(row.row, 0.0) + _adjustment(row, query)) for row in rows]
    scored.sort(key=_order)
    scored = _spread(_collapsed(scored))
    return [(row, max(0.0, min(1.0, score / _HIGHEST))) for row, score in scored]


def _adjustment(row: ChunkRow, query: Query) -> float:
    chunk = row.stored.chunk
    value = 0.0
    if query.names and last_name(chunk.symbol) in query.names:
        value += _EXACT_NAME if chunk.is_declaration else _EXACT_NAME / 2
    if any(_path_named(path, chunk.path) for path in query.paths):
        value += _NAMED_PATH
    if chunk.is_declaration:
        value += _DECLARATION
    if not query.wants_tests and _TEST_PATH.search(chunk.path):
        value += _TEST_CODE
    return value


def _path_named(named: str, path: str) -> bool:
    return path == named or path.endswith("/" + named)


def _collapsed(scored: Sequence[tuple[ChunkRow, float]]) -> list[tuple[ChunkRow, float]]:
    """Of the pieces of one declaration only the best stays."""
    seen: set[tuple[int, str]] = set()
    kept = []
    for row, score in scored:
        key = (row.document_id, row.stored.chunk.symbol)
        if row.stored.chunk.symbol and key in seen:
            continue
        seen.add(key)
        kept.append((row, score))
    return kept


def _spread(scored: Sequence[tuple[ChunkRow, float]]) -> list[tuple[ChunkRow, float]]:
    """Each further hit of one file counts a little less, so that one file does not fill the answer."""
    of_file: Counter[int] = Counter()
    spread = []
    for row, score in scored:
        spread.append((row, score - _SAME_FILE * of_file[row.document_id]))
        of_file[row.document_id] += 1
    spread.sort(key=_order)
    return spread


def _order(item: tuple[ChunkRow, float]) -> tuple[float, str, int]:
    row, score = item
    return (-round(score, 9), row.stored.chunk.path, row.stored.chunk.ordinal)
