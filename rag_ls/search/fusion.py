"""Several signals into one score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts; they need not sum to one."""

    dense: float
    lexical: float


def fuse(dense: Mapping[int, float], lexical: Mapping[int, float], weights: Weights) -> dict[int, float]:
    """A score in 0..1 for each candidate that any signal knows.

    `dense` holds cosine similarities, `lexical` BM25 values (higher is better). Each signal is scaled to 0..1
    over the candidates of this query and the two are averaged by weight. A candidate without words in common
    has no lexical value; one without a similarity is not embedded yet, and its words alone speak for it: text
    that was just typed must not rank below all else. Scores, not reciprocal ranks: equal ranks of a sure and an unsure signal would
    count the same (docs/performance.md has the comparison).
    """
    total = weights.dense * bool(dense) + weights.lexical * bool(lexical)
    if total <= 0:
        return dict.fromkeys({*dense, *lexical}, 0.0)
    scaled_dense, scaled_lexical = _scaled(dense), _scaled(lexical, floor=0.0)
    fused = {key: scaled_lexical[key] for key in lexical if key not in dense}
    for key, similarity in scaled_dense.items():
        fused[key] = (weights.dense * similarity + weights.lexical * scaled_lexical.get(key, 0.0)) / total
    return fused


def _scaled(values: Mapping[int, float], floor: float | None = None) -> dict[int, float]:
    if not values:
        return {}
    low = min(values.values()) if floor is None else floor
    high = max(values.values())
    span = high - low
    return {key: (value - low) / span if span > 0 else 1.0 for key, value in values.items()}
