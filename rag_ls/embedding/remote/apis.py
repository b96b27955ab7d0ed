"""The protocol of a service as its model needs it; `ollama.py` and `openai_compatible.py` implement it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from rag_ls.embedding.remote.service import RetryPolicy, ServiceFailed
from rag_ls.util.records import dataclass


@dataclass(frozen=True, slots=True)
class Described:
    """A model as its service describes it."""

    revision: str
    """Differs between models whose vectors must not be compared."""
    dimensions: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of some texts in order, and how many tokens the service counted; 0 if it did not say."""

    vectors: Sequence[Sequence[float]]
    tokens: int = 0


class EmbeddingApi(Protocol):
    """One model of one service."""

    @property
    def endpoint(self) -> str:
        """The address that texts are sent to."""
        ...

    def describe(self, policy: RetryPolicy) -> Described:
        """The model. Raises `ModelMissing` where the service has none of this name, `ServiceFailed`."""
        ...

    def embed(self, texts: Sequence[str], policy: RetryPolicy) -> Embedded:
        """Vectors of texts. Raises `BatchRefused` where they are too long together or alone, `ServiceFailed`."""
        ...

    def close(self) -> None:
        """End waiting and further requests."""
        ...


def vectors_of(endpoint: str, found: Any) -> Sequence[Sequence[float]]:
    """A service's vectors as they came, if they are lists of numbers. Raises `ServiceFailed`."""
    is_right = isinstance(found, list) and all(
        isinstance(row, list) and row and all(isinstance(value, int | float) for value in row) for row in found
    )
    if not is_right:
        raise ServiceFailed(
            f"{endpoint} answered with no vectors: is it the right address, and a model for embeddings?"
        )
    return list(found)
