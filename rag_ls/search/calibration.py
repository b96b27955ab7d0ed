"""Calibrates scores and cosines: what a number of one ranking or model means on a scale that all share.

The cosine of related texts differs between models: with MiniLM a question and the note that answers it are often at
0.4, with other models all texts are above 0.6. So cosines are mapped piecewise linearly, so that 0.7 means "begins to
be about the same" for each model.
"""

from __future__ import annotations

import math

from rag_ls.embedding import ModelCard

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
