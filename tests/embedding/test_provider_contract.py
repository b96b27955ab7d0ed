"""What every embedding provider must keep to: the local one, and one that behaves as a service would."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import EmbeddingProvider, HostedModel, LoadedModel, ModelCard, ModelHost
from rag_ls.embedding.api import BatchBudget, BatchRefused, QueryLate, normalise
from rag_ls.embedding.hosted import split_to_budget
from rag_ls.embedding.local.catalog import MPNET
from rag_ls.embedding.local.stack import LocalProvider
from rag_ls.embedding.remote.provider import RemoteProvider
from rag_ls.embedding.remote.service import ServiceRecords
from rag_ls.errors import ModelMissing
from tests.embedding.services import EmbeddingService, serving
from tests.support import PATIENCE_S

_DIMENSIONS = 16
_CARD = ModelCard("pretend@1", "pretend", 512, _DIMENSIONS, 0.5)


@dataclass
class PretendModel:
    """A model of a service: words hashed into a vector. It refuses more than `most` texts, whatever its budget says."""

    most: int = 3
    slow: threading.Event | None = None
    budget: BatchBudget = BatchBudget(max_texts=8, max_bytes=100)  # noqa: RUF009 - it is frozen
    query_deadline_s: float | None = 0.05
    card: ModelCard = _CARD
    worker_process_id: int | None = None
    sends_away: bool = False
    batches: list[tuple[int, int]] = field(default_factory=list)
    """Length and backlog of each batch that was taken."""

    def embed_documents(self, texts: Sequence[str], *, backlog: int = 0) -> NDArray[np.float32]:
        if len(texts) > self.most:
            raise BatchRefused(f"{len(texts)} texts are too many")
        self.batches.append((len(texts), backlog))
        return normalise(np.array([_hashed(text) for text in texts]).reshape(-1, _DIMENSIONS))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        if self.slow is not None:
            self.slow.wait(PATIENCE_S)
        return normalise(_hashed(text)[None, :])[0]

    def warm_up(self) -> None:
        """It is warm."""

    def release(self) -> None:
        """It holds nothing."""

    def close(self) -> None:
        """It holds nothing."""


class PretendProvider:
    """A service with one model."""

    def models(self) -> list[ModelCard]:
        return [_CARD]

    def find(self, name: str, *, without: Collection[str] = ()) -> ModelCard:
        if name not in ("auto", _CARD.name):
            raise ModelMissing(f"{name} is none of the service's models")
        return _CARD

    def card(self, model_id: str) -> ModelCard:
        return _CARD if model_id == _CARD.id else ModelCard(model_id, model_id.partition("@")[0], 0, 0)

    def load(self, model_id: str) -> LoadedModel:
        if model_id != _CARD.id:
            raise ModelMissing(f"{model_id} is none of the service's models")
        return PretendModel()


def _hashed(text: str) -> NDArray[np.float32]:
    digest = hashlib.sha256(text.encode()).digest()
    return np.frombuffer(digest[:_DIMENSIONS], dtype=np.uint8).astype(np.float32) - 127.5


@pytest.fixture(params=["local", "pretended", "ollama", "openai"])
def provider(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EmbeddingProvider]:
    if request.param in ("local", "pretended"):
        yield LocalProvider(EmbeddingSettings(backend="onnx")) if request.param == "local" else PretendProvider()
        return
    with serving(EmbeddingService()) as service:
        model = "small" if request.param == "openai" else "auto"
        settings = EmbeddingSettings(provider=request.param, endpoint=service.url, model=model)
        yield RemoteProvider(settings, ServiceRecords(tmp_path))


def _configured(provider: EmbeddingProvider) -> str:
    """What the settings name; OpenAI's API has no usual model."""
    return "small" if isinstance(provider, RemoteProvider) and provider.models()[0].name == "openai/small" else "auto"


@pytest.fixture
def host(provider: EmbeddingProvider) -> Iterator[ModelHost]:
    host = ModelHost(EmbeddingSettings(backend="onnx", model=_configured(provider)), provider)
    yield host
    host.close()


def test_its_best_model_is_the_one_that_auto_means_and_says_what_it_is(provider: EmbeddingProvider) -> None:
    card = provider.models()[0]
    assert provider.find(_configured(provider)) == card == provider.find(card.name)
    assert card.id.startswith(f"{card.name}@")
    assert card.max_tokens > 0
    assert 0 < card.relevant_cosine < 1


def test_stored_vectors_have_the_scale_that_their_provider_says(provider: EmbeddingProvider) -> None:
    host = ModelHost(EmbeddingSettings(), provider)
    card = provider.find(_configured(provider))
    assert host.card(card.id) == card
    assert host.card("of another machine@1") == ModelCard("of another machine@1", "of another machine", 0, 0)


def test_a_model_that_it_has_not_is_refused_by_name_and_by_id(provider: EmbeddingProvider) -> None:
    with pytest.raises(ModelMissing, match="no-such-model"):
        provider.find("no-such-model")
    with pytest.raises(ModelMissing, match="no-such-model"):
        provider.load("no-such-model@1")


def test_vectors_are_of_length_one_in_order_and_those_of_the_card(host: ModelHost) -> None:
    card = host.configured()
    model = host.wait(card.id, PATIENCE_S)
    assert model is not None
    texts = [f"text number {number} of a few" for number in range(20)]
    vectors = model.embed_documents(texts)
    assert vectors.shape == (20, card.dimensions)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert np.allclose(model.embed_documents(texts[7:8])[0], vectors[7], atol=1e-2)
    assert model.embed_query("a question").shape == (card.dimensions,)
    assert model.embed_documents([]).shape[0] == 0


def test_a_batch_that_is_refused_is_halved_until_it_is_taken() -> None:
    service = PretendModel(most=3)
    model = HostedModel(service)
    texts = [f"t{number}" for number in range(8)]
    assert np.allclose(model.embed_documents(texts, backlog=5), np.stack([model.embed_query(text) for text in texts]))
    assert service.batches == [(2, 11), (2, 9), (2, 7), (2, 5)]


def test_a_single_text_that_is_refused_is_told() -> None:
    with pytest.raises(BatchRefused):
        HostedModel(PretendModel(most=0)).embed_documents(["t"])


def test_a_query_that_is_late_is_left_to_words_and_there_for_the_next_question() -> None:
    slow = threading.Event()
    model = HostedModel(PretendModel(slow=slow))
    with pytest.raises(QueryLate, match="pretend@1"):
        model.embed_query("where")
    slow.set()
    assert model.embed_query("where").shape == (_DIMENSIONS,)


def test_a_query_is_embedded_in_one_thread_and_a_known_one_in_none() -> None:
    slow, before = threading.Event(), set(threading.enumerate())
    model = HostedModel(PretendModel(slow=slow))
    model.begin_query("where")
    (thread,) = set(threading.enumerate()) - before
    slow.set()
    thread.join()
    known = model.begin_query("where")
    assert not set(threading.enumerate()) - before
    assert known().shape == (_DIMENSIONS,)


def test_batches_keep_within_texts_and_bytes_and_lose_nothing() -> None:
    budget = BatchBudget(max_texts=3, max_bytes=10)
    texts = ["a", "b", "c", "d", "ééééé", "x", "far too long for any batch", "y", "z"]
    batches = [list(batch) for batch in split_to_budget(budget, texts)]
    assert batches == [["a", "b", "c"], ["d"], ["ééééé"], ["x"], ["far too long for any batch"], ["y", "z"]]
    assert list(split_to_budget(budget, [])) == [[]]


def test_the_scale_of_a_known_model_is_known_in_every_revision() -> None:
    card = LocalProvider(EmbeddingSettings()).card(f"{MPNET.name}@of long ago")
    assert (card.id, card.relevant_cosine) == (f"{MPNET.name}@of long ago", MPNET.relevant_cosine)
