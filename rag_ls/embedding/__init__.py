"""Embeds texts: turns them into vectors."""

# A package offers what it imports here.
# mypy: implicit-reexport
# ruff: noqa: F401

from rag_ls.embedding.api import GUESSED_RELEVANT_COSINE, Embedder, Embedding, EmbeddingProvider, LoadedModel, ModelCard
from rag_ls.embedding.hosted import CACHED_QUERIES, EMBEDDED_QUERIES, EMBEDDED_TEXTS, HostedModel, ShortenedModel
from rag_ls.embedding.local.catalog import locate
from rag_ls.embedding.local.worker import Reranker
from rag_ls.embedding.models import OFF, ModelHost, local_model
