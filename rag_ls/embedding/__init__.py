"""Texts to vectors."""

from rag_ls.embedding.api import Embedder
from rag_ls.embedding.catalog import LocatedModel, locate
from rag_ls.embedding.host import HostedModel, ModelHost, ModelState
from rag_ls.embedding.similarity import cosine_of, similarity
from rag_ls.embedding.worker import EmbeddingWorkerFailed, Reranker

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
