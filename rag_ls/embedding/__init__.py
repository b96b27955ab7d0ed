"""Texts to vectors."""

from rag_ls.embedding.api import Embedder
from rag_ls.embedding.local.catalog import LocatedModel, locate
from rag_ls.embedding.local.worker import EmbeddingWorkerFailed, Reranker
from rag_ls.embedding.models import HostedModel, ModelHost, ModelState
from rag_ls.embedding.similarity import cosine_of, similarity

__all__ = [
    "Embedder",
    "EmbeddingWorkerFailed",
    "HostedModel",
    "LocatedModel",
    "ModelHost",
    "ModelState",
    "Reranker",
    "cosine_of",
    "locate",
    "similarity",
]
