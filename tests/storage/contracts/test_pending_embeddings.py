"""Which chunks wait for a vector: nothing that was embedded once is embedded again."""

from __future__ import annotations

import numpy as np
import pytest

from rag_ls.storage import CheckoutIndex, Priority, ProjectIndex
from tests.support import MODEL, digest, new_chunk, new_chunks, record, unit_vectors

OTHER = "other-model@2"


@pytest.fixture
def embedded(index: ProjectIndex) -> ProjectIndex:
    """An index with one document of two chunks, both embedded."""
    index.checkout.embeddings.activate(MODEL)
    index.checkout.replace_document(record(), new_chunks(["one", "two"]))
    _put(index, MODEL, [text_hash for text_hash, _ in index.checkout.embeddings.pending(MODEL, 100)])
    return index


def _put(index: ProjectIndex, model: str, text_hashes: list[bytes], dimensions: int = 16) -> None:
    with index.checkout.together():
        index.vectors.put(model, text_hashes, unit_vectors(len(text_hashes), dimensions))
        if model == index.checkout.embeddings.active_model():
            index.checkout.embeddings.note_embedded(text_hashes)


def _pending(store: CheckoutIndex, model: str = MODEL) -> list[str]:
    return [chunk.text for _, chunk in store.embeddings.pending(model, 10)]


def test_a_reverted_edit_costs_no_embedding(embedded: ProjectIndex) -> None:
    store = embedded.checkout
    store.replace_document(record(), new_chunks(["one", "two changed"]))
    assert store.embeddings.pending_count(MODEL) == 1
    store.replace_document(record(), new_chunks(["one", "two"]))
    assert store.embeddings.pending_count(MODEL) == 0


def test_a_renamed_file_costs_no_embedding(embedded: ProjectIndex) -> None:
    store = embedded.checkout
    store.remove_documents(["src/a.py"])
    store.replace_document(record("src/renamed.py"), new_chunks(["one", "two"], path="src/renamed.py"))
    assert _pending(store) == []


def test_a_copied_file_costs_no_embedding(embedded: ProjectIndex) -> None:
    store = embedded.checkout
    store.replace_document(record("copy/a.py"), new_chunks(["one", "two"], path="copy/a.py"))
    assert _pending(store) == []
    assert len(store.chunks.with_texts([digest("one"), digest("two")])) == 4


def test_equal_texts_are_pending_once(store: CheckoutIndex) -> None:
    store.embeddings.activate(MODEL)
    store.replace_document(record(), new_chunks(["same", "same", "other"]))
    assert _pending(store) == ["same", "other"]
    assert set(store.embeddings.waiting_hashes(MODEL)) == {digest("same"), digest("other")}


def test_what_is_being_edited_is_embedded_first(store: CheckoutIndex) -> None:
    store.embeddings.activate(MODEL)
    store.replace_document(record("bulk.py"), new_chunks(["bulk"], path="bulk.py"))
    store.replace_document(record("edited.py"), new_chunks(["edited"], path="edited.py"), priority=Priority.INTERACTIVE)
    assert _pending(store) == ["edited", "bulk"]
    assert [chunk.text for _, chunk in store.embeddings.pending(MODEL, 10, at_least=Priority.INTERACTIVE)] == ["edited"]


def test_documents_can_be_preferred(store: CheckoutIndex) -> None:
    store.embeddings.activate(MODEL)
    for path in ("a.py", "b.py"):
        store.replace_document(record(path), new_chunks([path], path=path))
    document = store.document("b.py")
    assert document is not None
    store.embeddings.prefer([document.id], Priority.RETURNED)
    assert _pending(store) == ["b.py", "a.py"]


def test_vectors_of_another_model_wait_until_it_is_activated(embedded: ProjectIndex) -> None:
    pending = embedded.checkout.embeddings
    assert pending.pending_count(OTHER) == 2
    _put(embedded, OTHER, [text_hash for text_hash, _ in pending.pending(OTHER, 10)], dimensions=8)
    assert (pending.active_model(), pending.pending_count(OTHER)) == (MODEL, 0)
    pending.activate(OTHER)
    assert (pending.active_model(), pending.pending_count(OTHER), pending.pending_count(MODEL)) == (OTHER, 0, 0)


def test_going_back_to_a_former_model_costs_no_embedding(embedded: ProjectIndex) -> None:
    pending = embedded.checkout.embeddings
    pending.activate(OTHER)
    assert pending.pending_count(OTHER) == 2
    pending.activate(MODEL)
    assert pending.pending_count(MODEL) == 0


def test_many_chunks_wait_for_another_model_and_come_in_parts(embedded: ProjectIndex) -> None:
    embedded.checkout.replace_document(record(), new_chunks([f"text {number}" for number in range(50)]))
    assert len(embedded.checkout.embeddings.pending(OTHER, 20)) == 20
    assert embedded.checkout.embeddings.pending_count(OTHER) == 50


def test_a_text_without_a_usable_vector_waits_no_longer(store: CheckoutIndex) -> None:
    store.embeddings.activate(MODEL)
    store.replace_document(record(), new_chunks(["good", "bad"]))
    store.embeddings.refuse(digest("bad"))
    assert _pending(store) == ["good"]
    assert store.chunks.with_texts([digest("bad")]) == []


def test_a_chunk_to_embed_carries_what_its_text_is_made_of(store: CheckoutIndex) -> None:
    store.replace_document(record(), [new_chunk("body", symbol="A.run", signature="def run(self)")])
    chunk = store.embeddings.pending(MODEL, 1)[0][1]
    assert (chunk.path, chunk.symbol, chunk.signature, chunk.text) == ("src/a.py", "A.run", "def run(self)", "body")


def test_what_fails_between_a_vector_and_its_note_is_taken_back_or_made_good(index: ProjectIndex) -> None:
    store = index.checkout
    store.embeddings.activate(MODEL)
    store.replace_document(record(), new_chunks(["one"]))

    def fail_between() -> None:
        with store.together():
            index.vectors.put(MODEL, [digest("one")], unit_vectors(1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_between()
    assert _pending(store) == ["one"]
    _put(index, MODEL, [digest("one")])
    assert _pending(store) == []
    assert np.isfinite(index.vectors.get(MODEL, [digest("one")])[digest("one")]).all()


def test_unsaved_text_can_be_kept_out_of_what_is_embedded(store: CheckoutIndex) -> None:
    store.embeddings.activate(MODEL)
    store.replace_document(record(), new_chunks(["saved"]))
    store.replace_document(record(session="typing"), new_chunks(["unsaved"]))
    assert sorted(_pending(store)) == ["saved", "unsaved"]
    for model in (MODEL, OTHER):
        found = store.embeddings.pending(model, 10, saved_only=True)
        assert [chunk.text for _, chunk in found] == ["saved"]
        assert store.embeddings.pending_count(model, saved_only=True) == 1
    store.embeddings.withhold_unsaved()
    assert _pending(store) == ["saved"]
    assert store.embeddings.pending_count(MODEL) == 1
    store.replace_document(record(), new_chunks(["saved", "unsaved"]))
    assert sorted(_pending(store)) == ["saved", "unsaved"], "once it is saved, it waits as any text"


def test_hashes_of_unsaved_text_alone_are_told_apart_from_those_of_files(index: ProjectIndex) -> None:
    store = index.checkout
    store.embeddings.activate(MODEL)
    store.replace_document(record(), new_chunks(["saved", "both"]))
    store.replace_document(record(session="typing"), new_chunks(["both", "unsaved"]))
    assert set(store.embeddings.waiting_hashes(MODEL, saved_only=True)) == {digest("saved"), digest("both")}
    assert store.embeddings.saved_hashes() == []
    _put(index, MODEL, [digest(text) for text in ("saved", "both", "unsaved")])
    assert set(store.embeddings.saved_hashes()) == {digest("saved"), digest("both")}
