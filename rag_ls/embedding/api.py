"""The interfaces of embedding: models, their providers, and their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag_ls.errors import RagLsError
from rag_ls.util.records import dataclass

# The value for a model that was not measured.
GUESSED_RELEVANT_COSINE = 0.4
# Before it, Unicode has Latin, Greek and Cyrillic letters.
_FIRST_OTHER_LETTER = "\u0530"


class BatchRefused(RagLsError):
    """A provider takes no batch of this size."""


class ModelClosed(RagLsError):
    """The engine that uses the model ends."""


class QueryLate(RagLsError):
    """A query's vector did not arrive in time, so the query is answered by words."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """The properties of a model, known before it is loaded."""

    id: str
    """Name and revision: vectors of equal ids can be compared."""
    name: str
    max_tokens: int
    """The length of text that it reads."""
    dimensions: int
    """The dimensions of its vectors; 0 if they are unknown before it is loaded."""
    relevant_cosine: float = GUESSED_RELEVANT_COSINE
    """The cosine from which a question and a text are about the same (see `similarity`)."""
    knows_european_scripts_alone: bool = False
    """Whether it takes words of other scripts for one unknown word, so that texts of such words seem to mean the same."""

    def can_read(self, text: str) -> bool:
        """Whether it knows the script of most of a text's letters."""
        letters = [letter for letter in text if letter.isalpha()]
        known = sum(letter < _FIRST_OTHER_LETTER for letter in letters)
        return not self.knows_european_scripts_alone or 2 * known >= len(letters)


@dataclass(frozen=True, slots=True)
class Embedding:
    """A text's vector, shape (dimensions,) and of length one, with the model that made it."""

    model: ModelCard
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BatchBudget:
    """The limits of a batch. A single text may exceed them."""

    max_texts: int
    max_bytes: int
    """Bytes of all texts in UTF-8."""


class Embedder(Protocol):
    """Turns texts into unit vectors of one model. Safe to call from any thread."""

    @property
    def card(self) -> ModelCard:
        """The model."""

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of `texts` in order: shape (len(texts), dimensions), each of length one."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """One vector of shape (dimensions,), of length one."""

    def close(self) -> None:
        """Free all resources; waiting calls fail."""


class LoadedModel(Protocol):
    """A model that a provider has loaded. Safe to call from any thread."""

    @property
    def card(self) -> ModelCard:
        """The model."""

    @property
    def budget(self) -> BatchBudget:
        """The limits of one call of `embed_documents`."""

    @property
    def query_deadline_s(self) -> float | None:
        """The seconds that a question waits for its vector; None if the model always answers at once."""

    @property
    def worker_process_id(self) -> int | None:
        """The process that does bulk work, where one runs."""

    @property
    def sends_away(self) -> bool:
        """Whether texts leave this machine."""

    def embed_documents(self, texts: Sequence[str], *, backlog: int = 0) -> NDArray[np.float32]:
        """As `Embedder`, within the budget; `backlog` is how many texts are still to come. Raises `BatchRefused`."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """As `Embedder`; it may take long."""

    def warm_up(self) -> None:
        """Load what the next query needs, so that it is answered at once."""

    def release(self) -> None:
        """The calling thread has nothing more to embed for now."""

    def close(self) -> None:
        """Free all resources; waiting calls fail."""


class EmbeddingProvider(Protocol):
    """A source of models: this machine, or a service."""

    def models(self) -> Sequence[ModelCard]:
        """The models that can be loaded now, the best choice first."""

    def find(self, name: str) -> ModelCard:
        """The model that a setting names. Raises `ModelMissing` with what to do."""

    def card(self, model_id: str) -> ModelCard:
        """The card of a model that stored vectors name, at once and also where it cannot be loaded any more."""

    def load(self, model_id: str) -> LoadedModel:
        """Load the model with an id. Takes seconds. Raises `ModelMissing`, `ModelDamaged`."""


def normalise(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """The vectors, shape (n, dimensions), at length one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
