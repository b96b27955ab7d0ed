"""One scale of similarity for all models.

The cosine at which texts begin to have to do with each other differs from model to model: with MiniLM a question and
the note that answers it are often at 0.4, with others everything is above 0.6. So a question's cosines are stretched,
piece by piece linearly, until 0.7 means "begins to be about the same" for each model.
"""

from __future__ import annotations

from rag_ls.embedding.api import ModelCard

RELEVANT = 0.7


def similarity(model: ModelCard, cosine: float) -> float:
    """A cosine between a question's vector and a text's, both made by `model`, on the common scale 0..1."""
    bend = model.relevant_cosine
    if cosine <= bend:
        return max(0.0, cosine) / bend * RELEVANT
    return min(1.0, RELEVANT + (cosine - bend) / (1 - bend) * (1 - RELEVANT))


def cosine_of(model: ModelCard, wanted: float) -> float:
    """The cosine that a similarity stands for: the inverse of `similarity`."""
    bend = model.relevant_cosine
    if wanted <= RELEVANT:
        return wanted / RELEVANT * bend
    return bend + (wanted - RELEVANT) / (1 - RELEVANT) * (1 - bend)
