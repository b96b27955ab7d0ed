"""Ranks candidates by how well they answer a query."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from rag_ls.search.evidence import Asked, Weights, highest, static_score
from rag_ls.search.query import Query
from rag_ls.search.roles import is_docs
from rag_ls.storage import RankRow

# After this many hits of one file, its further hits rank below nearly as good hits of other files.
_MAX_HITS_OF_A_FILE = 3
_CROWDED = 0.15
_COHERENT = 3
_LOOKED_AT = 60


def rank(
    rows: Sequence[RankRow], dense: Mapping[int, float], lexical: Mapping[int, float], exact: Mapping[int, Collection[str]],
    query: Query, asked: Asked, weights: Weights,
) -> list[tuple[RankRow, float]]:  # fmt: skip
    """The chunks with their scores in 0..1, best first; equal scores in order of path and place.

    `dense` holds similarities, `lexical` BM25 values (higher is better), both by row. Each is scaled over the
    candidates of this query. The scaled values are added; reciprocal ranks would count equal ranks of a sure and an
    unsure signal alike. A chunk without an embedding uses its lexical share as its dense one, so that text that was
    just typed does not rank last.
    """
    words, meaning = _shares(lexical), _scaled(dense)
    scored = []
    for row in rows:
        said = words.get(row.row, 0.0)
        how = exact.get(row.row, ())
        score = weights.lexical * said + weights.dense * (meaning.get(row.row, said) if meaning else 0.0)
        score += static_score(row, query, asked, weights, exact="symbol" in how, named="path" in how)
        scored.append((row, score))
    scored = _coherent(scored, weights)
    scored.sort(key=_order)
    top = highest(weights) - (0.0 if meaning else weights.dense)
    declared = [item for item in scored if _fit(item[0], query)]
    declared.sort(key=lambda item: -_fit(item[0], query))
    placed = {row: rank for rank, row in enumerate(row for row, how in exact.items() if "line" in how)}
    at_lines = sorted((item for item in scored if item[0].row in placed), key=lambda item: placed[item[0].row])
    first = _collapsed([*at_lines, *declared])
    taken = {_declaration(row) for row, _ in first}
    rest = [item for item in scored if _declaration(item[0]) not in taken]
    return _in_turn(_as_shares(first, top), _as_shares(_uncrowded(_collapsed(rest), query), top))


def _fit(row: RankRow, query: Query) -> int:
    """How well a chunk declares the query's bare name: 2 for an exact match, 1 ignoring case, 0 for none."""
    if not query.bare_name or not row.is_declaration or is_docs(row.language):
        return 0
    name = tuple(row.symbol.split("."))[-len(query.bare_name) :]
    lowered = tuple(part.lower() for part in query.bare_name)
    return 2 if name == query.bare_name else int(tuple(part.lower() for part in name) == lowered)


def _as_shares(scored: Sequence[tuple[RankRow, float]], top: float) -> list[tuple[RankRow, float]]:
    return [(row, max(0.0, min(1.0, score / top))) for row, score in scored]


def _in_turn(first: list[tuple[RankRow, float]], rest: list[tuple[RankRow, float]]) -> list[tuple[RankRow, float]]:
    """Put `first` before `rest`, and raise their scores to match that order."""
    ordered = list(rest)
    for row, score in reversed(first):
        above = ordered[0][1] if ordered else 0.0
        ordered.insert(0, (row, max(score, above)))
    return ordered


def _shares(values: Mapping[int, float]) -> dict[int, float]:
    best = max(values.values(), default=0.0)
    return {row: value / best if best > 0 else 1.0 for row, value in values.items()}


def _scaled(values: Mapping[int, float]) -> dict[int, float]:
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    return {row: (value - low) / (high - low) if high > low else 1.0 for row, value in values.items()}


def _coherent(scored: Sequence[tuple[RankRow, float]], weights: Weights) -> list[tuple[RankRow, float]]:
    """Raise the scores of chunks whose files have several good chunks."""
    found: dict[int, list[float]] = defaultdict(list)
    for row, score in sorted(scored, key=lambda item: -item[1])[:_LOOKED_AT]:
        if len(found[row.document_id]) < _COHERENT:
            found[row.document_id].append(max(0.0, score))
    sums = {document: sum(scores) for document, scores in found.items()}
    best = max(sums.values(), default=0.0) or 1.0
    return [(row, score + weights.coherence * sums.get(row.document_id, 0.0) / best) for row, score in scored]


def _collapsed(scored: Sequence[tuple[RankRow, float]]) -> list[tuple[RankRow, float]]:
    """Keep only the best piece of each declaration."""
    seen: set[tuple[int, str]] = set()
    kept = []
    for row, score in scored:
        key = _declaration(row)
        if key in seen:
            continue
        seen.add(key)
        kept.append((row, score))
    return kept


def _declaration(row: RankRow) -> tuple[int, str]:
    """The key of the declaration that a chunk is a piece of; its own key if it has no symbol."""
    return row.document_id, row.symbol or f"#{row.ordinal}"


def _uncrowded(scored: Sequence[tuple[RankRow, float]], query: Query) -> list[tuple[RankRow, float]]:
    """Lower the scores of a file's hits after the first few, unless the query names a file."""
    if query.paths:
        return list(scored)
    of_file: Counter[int] = Counter()
    moved = []
    for row, score in scored:
        of_file[row.document_id] += 1
        moved.append((row, score - _CROWDED * (of_file[row.document_id] > _MAX_HITS_OF_A_FILE)))
    moved.sort(key=_order)
    return moved


def _order(item: tuple[RankRow, float]) -> tuple[float, str, int]:
    row, score = item
    return (-round(score, 9), row.path, row.ordinal)
