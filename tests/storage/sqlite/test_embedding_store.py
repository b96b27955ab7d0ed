"""Vectors are addressed by text: nothing that was embedded once is embedded again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rag_ls.storage import IndexStore, Priority
from tests.support import MODEL, digest, new_chunk, new_chunks, record, unit_vectors

OTHER = "other-model@2"


@pytest.fixture
def embedded(store: IndexStore) -> IndexStore:
    """An index with one document of two chunks, both embedded."""
    store.embeddings.activate(MODEL)
    store.replace_document(record(), new_chunks(["one", "two"]))
    _embed_all(store)
    return store


def test_a_reverted_edit_costs_no_embedding(embedded: IndexStore) -> None:
    embedded.replace_document(record(), new_chunks(["one", "two changed"]))
    assert embedded.embeddings.pending_count(MODEL) == 1
    embedded.replace_document(record(), new_chunks(["one", "two"]))
    assert embedded.embeddings.pending_count(MODEL) == 0


def test_a_renamed_file_costs_no_embedding(embedded: IndexStore) -> None:
    embedded.remove_documents(["src/a.py"])
    embedded.replace_document(record("src/renamed.py"), new_chunks(["one", "two"], path="src/renamed.py"))
    assert embedded.embeddings.pending(MODEL, 10) == []


def test_a_copied_file_costs_no_embedding(embedded: IndexStore) -> None:
    embedded.replace_document(record("copy/a.py"), new_chunks(["one", "two"], path="copy/a.py"))
    assert embedded.embeddings.pending(MODEL, 10) == []
    rows = embedded.embeddings.rows_with([1, 2])
    assert len(rows) == 4


def test_equal_texts_are_pending_once(store: IndexStore) -> None:
    store.embeddings.activate(MODEL)
    store.replace_document(record(), new_chunks(["same", "same", "other"]))
    assert [text_hash for text_hash, _ in store.embeddings.pending(MODEL, 10)] == [digest("same"), digest("other")]


def test_what_is_being_edited_is_embedded_first(store: IndexStore) -> None:
    store.embeddings.activate(MODEL)
    store.replace_document(record("bulk.py"), new_chunks(["bulk"], path="bulk.py"))
    store.replace_document(record("edited.py"), new_chunks(["edited"], path="edited.py"), priority=Priority.INTERACTIVE)
    assert [chunk.text for _, chunk in store.embeddings.pending(MODEL, 10)] == ["edited", "bulk"]
    assert [chunk.text for _, chunk in store.embeddings.pending(MODEL, 10, interactive_only=True)] == ["edited"]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0])
def test_a_vector_that_would_poison_searches_is_refused(store: IndexStore, value: float) -> None:
    store.embeddings.activate(MODEL)
    store.replace_document(record(), new_chunks(["good", "bad"]))
    vectors = unit_vectors(2)
    vectors[1] = value
    with pytest.raises(ValueError, match="not stored"):
        store.embeddings.add(MODEL, [digest("good"), digest("bad")], vectors)
    assert store.embeddings.last_id() == 0
    assert store.embeddings.pending_count(MODEL) == 2


def test_a_vector_never_changes_once_it_is_stored(embedded: IndexStore) -> None:
    before = embedded.embeddings.vectors(MODEL, [1])[1]
    embedded.embeddings.add(MODEL, [digest("one")], unit_vectors(1, seed=99))
    assert np.array_equal(embedded.embeddings.vectors(MODEL, [1])[1], before)


def test_vectors_of_another_model_wait_until_it_is_activated(embedded: IndexStore) -> None:
    assert embedded.embeddings.pending_count(OTHER) == 2
    hashes = [text_hash for text_hash, _ in embedded.embeddings.pending(OTHER, 10)]
    embedded.embeddings.add(OTHER, hashes, unit_vectors(2, dimensions=8))
    assert embedded.embeddings.active_model() == MODEL
    assert {embedding for _, embedding, _ in embedded.embeddings.rows_with([3, 4])} == set()
    embedded.embeddings.activate(OTHER)
    assert {embedding for _, embedding, _ in embedded.embeddings.rows_with([3, 4])} == {3, 4}


def test_going_back_to_a_former_model_costs_no_embedding(embedded: IndexStore) -> None:
    embedded.embeddings.activate(OTHER)
    assert embedded.embeddings.pending_count(OTHER) == 2
    embedded.embeddings.activate(MODEL)
    assert embedded.embeddings.pending_count(MODEL) == 0


def test_vectors_come_in_batches_in_the_order_of_their_ids(embedded: IndexStore) -> None:
    hashes = [digest(str(number)) for number in range(10)]
    embedded.embeddings.add(MODEL, hashes, unit_vectors(10))
    batches = list(embedded.embeddings.newer_than(MODEL, 2, batch=4))
    assert [ids.tolist() for ids, _ in batches] == [[3, 4, 5, 6], [7, 8, 9, 10], [11, 12]]
    assert np.allclose(np.concatenate([vectors for _, vectors in batches]), unit_vectors(10), atol=1e-3)


def test_vectors_are_given_for_the_model_that_made_them_alone(embedded: IndexStore) -> None:
    found = embedded.embeddings.vector(1)
    assert found is not None
    assert found[0] == MODEL
    assert np.array_equal(found[1], embedded.embeddings.vectors(MODEL, [1])[1])
    assert embedded.embeddings.vectors(OTHER, [1]) == {}
    assert embedded.embeddings.vector(None) is None


def test_a_text_without_a_usable_vector_waits_no_longer(store: IndexStore) -> None:
    store.embeddings.activate(MODEL)
    store.replace_document(record(), new_chunks(["good", "bad"]))
    store.embeddings.refuse(digest("bad"))
    assert [text_hash for text_hash, _ in store.embeddings.pending(MODEL, 5)] == [digest("good")]


def test_a_chunk_to_embed_carries_what_its_text_is_made_of(store: IndexStore) -> None:
    store.replace_document(record(), [new_chunk("body", symbol="A.run", signature="def run(self)")])
    chunk = store.embeddings.pending(MODEL, 1)[0][1]
    assert (chunk.path, chunk.symbol, chunk.signature, chunk.text) == ("src/a.py", "A.run", "def run(self)", "body")


def _embed_all(store: IndexStore) -> None:
    hashes = [text_hash for text_hash, _ in store.embeddings.pending(MODEL, 100)]
    store.embeddings.add(MODEL, hashes, unit_vectors(len(hashes)))


def test_vectors_are_borrowed_from_another_index_by_what_they_stand_for(store: IndexStore, tmp_path: Path) -> None:
    lender = IndexStore(tmp_path / "lender.db")
    lender.replace_document(record("b.py"), new_chunks(["same", "theirs"], path="b.py"))
    lender.embeddings.activate(MODEL)
    vectors = unit_vectors(2)
    lender.embeddings.add(MODEL, [digest("same"), digest("theirs")], vectors)
    lender.embeddings.add("other", [digest("ours")], vectors[:1])
    store.embeddings.activate(MODEL)
    store.replace_document(record("a.py"), new_chunks(["same", "ours"]))
    assert store.embeddings.borrow(MODEL, tmp_path / "lender.db") == 1
    lender.close()
    assert [chunk.text for _, chunk in store.embeddings.pending(MODEL, 10)] == ["ours"]
    ((_, found),) = store.embeddings.newer_than(MODEL, 0)
    assert np.allclose(found, vectors[:1], atol=1e-3)
