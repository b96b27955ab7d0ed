"""Maps cosines of all models to one scale of similarity.

The cosine of related texts differs between models: with MiniLM a question and the note that answers it are often at
0.4, with other models all texts are above 0.6. So cosines are mapped piecewise linearly, so that 0.7 means "begins to
be about the same" for each model.
"""

from __future__ import annotations

from rag_ls.embedding.api import ModelCard

RELEVANT = 0.7


def similarity(model: ModelCard, cosine: float) -> float:
    """The similarity (0..1) for a cosine between a question's and a text's vector, both made by `model`."""
    bend = model.relevant_cosine
    if cosine <= bend:
        return max(0.0, cosine) / bend * RELEVANT
    return min(1.0, RELEVANT + (cosine - bend) / (1 - bend) * (1 - RELEVANT))


def cosine_of(model: ModelCard, wanted: float) -> float:
    """The cosine for a similarity: the inverse of `similarity`."""
    bend = model.relevant_cosine
    if wanted <= RELEVANT:
        return wanted / RELEVANT * bend
    return bend + (wanted - RELEVANT) / (1 - RELEVANT) * (1 - bend)
