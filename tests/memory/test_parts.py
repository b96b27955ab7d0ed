"""Long content is embedded in parts, and comes back as one memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_ls.chunking import approximate_token_offsets
from rag_ls.embedding import HostedModel, ModelCard
from rag_ls.memory import ALL, Memories, Question
from rag_ls.memory.parts import embed_missing, parts_of
from rag_ls.memory.recall import memory_of
from rag_ls.model import Scope
from rag_ls.storage import MemoryStore
from tests.memory.support import new, put, record
from tests.support import MODEL, scale_examples

_FILLER = (
    "The quarterly report describes how the marketing department plans its campaigns. "
    "Every campaign has a budget, a list of channels and a person who is responsible. "
)
_LONG = (
    "# How we bill\n\nInvoices are sent on the first of each month.\n\n"
    + "\n\n".join(f"## Chapter {number}\n\n{_FILLER * 4}" for number in range(4))
    + "\n\n## Tokens\n\nAccess tokens of the gateway expire after ninety minutes.\n"
)


def test_short_content_is_one_part_as_it_is() -> None:
    assert parts_of("use tabs\n") == ["use tabs\n"]


@settings(max_examples=scale_examples(30))
@given(st.text(max_size=50) | st.integers(1, 3000).map(lambda count: "wörter, 検索 and so on. " * count))
def test_every_part_fits_a_model_and_none_is_empty(content: str) -> None:
    parts = parts_of(content)
    # Full parts would be 200 tokens long.
    assert 1 <= len(parts) <= 1 + approximate_token_offsets(content).size // 100
    assert len(parts) == 1 or all(part.strip() for part in parts)
    assert all(approximate_token_offsets(part).size <= 256 for part in parts)


def test_all_of_a_long_text_is_in_its_parts() -> None:
    parts = parts_of(_LONG)
    assert len(parts) > 3
    for line in filter(None, _LONG.splitlines()):
        assert any(line[:40] in part for part in parts)


@pytest.mark.slow
@pytest.mark.parametrize(
    "question",
    ["when do access tokens of the gateway expire?", "when are invoices sent"],
)
def test_the_end_of_a_long_memory_is_found_as_its_beginning_is(
    memories: Memories, model: HostedModel, question: str
) -> None:
    long = memories.store(new(_LONG), model).memory
    memories.store(new("Reviews need two people"), model)
    hits = memories.recall(Question(question, 5, 0.7, ALL), model)
    assert [hit.item.id for hit in hits] == [long.id]
    assert memory_of(hits[0]).content == _LONG.strip()
    assert memories.of(Scope.PROJECT).vectors.of(long.id, model.card.id).shape[0] == len(parts_of(_LONG.strip()))


def test_a_shorter_version_leaves_no_part_behind(memories: Memories, model: HostedModel) -> None:
    long = memories.store(new(_LONG), model).memory
    memories.update(long.id, lambda memory: replace(memory, content="Invoices are sent by mail"), model)
    assert memories.of(Scope.PROJECT).vectors.of(long.id, model.card.id).shape[0] == 1
    assert memories.recall(Question("when do access tokens expire?", 5, 0.7, ALL), model) == []


class _Counting:
    """A model that counts what it is given."""

    card = ModelCard(MODEL, "test", 256, 8)

    def __init__(self) -> None:
        self.batches: list[int] = []

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(len(texts))
        return np.stack([np.eye(8, dtype=np.float32)[len(text) % 8] for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.embed_documents([text])[0]

    def close(self) -> None: ...


class TestEmbedMissing:
    @pytest.fixture
    def store(self) -> MemoryStore:
        """A hundred memories without vectors, one in ten a long one."""
        store = MemoryStore(None, Scope.PROJECT)
        for number in range(100):
            put(store, record(number, f"{_LONG} {number}" if number % 10 == 0 else f"rule number {number}"))
        return store

    def test_all_are_embedded_in_batches(self, store: MemoryStore) -> None:
        model = _Counting()
        assert embed_missing(store, model, 1000) == 100
        assert embed_missing(store, model, 1000) == 0
        assert store.vectors.missing_count(MODEL) == 0
        assert max(model.batches) < 64 + 40
        for number in (0, 1, 10, 99):
            content = record(number, f"{_LONG} {number}" if number % 10 == 0 else f"rule number {number}").content
            assert len(store.vectors.of(record(number).id, MODEL)) == len(parts_of(content))

    def test_no_more_than_a_limit(self, store: MemoryStore) -> None:
        assert embed_missing(store, _Counting(), 8) == 8
        assert store.vectors.missing_count(MODEL) == 92

    def test_it_stops_between_batches_when_asked_to(self, store: MemoryStore) -> None:
        asked = threading.Event()
        done = embed_missing(store, _Counting(), 1000, lambda: asked.is_set() or asked.set() or False)
        assert 0 < done < 100
        assert store.vectors.missing_count(MODEL) == 100 - done

    def test_a_memory_that_is_changed_meanwhile_waits_for_its_turn(self) -> None:
        store = MemoryStore(None, Scope.PROJECT)
        put(store, record(1, "rule one"))

        class Slow(_Counting):
            def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
                store.replace(record(1, "rule two", version=2))
                return super().embed_documents(texts)

        embed_missing(store, Slow())
        assert [content for _, content, _ in store.vectors.missing(MODEL, 5)] == ["rule two"]
