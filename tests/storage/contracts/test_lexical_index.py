"""What every full-text index must do."""

from __future__ import annotations

from rag_ls.storage import CheckoutIndex, LexicalIndex
from tests.support import new_chunk, new_chunks, record


def _document_of(store: CheckoutIndex, path: str) -> int:
    document = store.document(path)
    assert document is not None
    return document.id


def test_the_chunk_that_holds_more_of_the_terms_comes_first(store: CheckoutIndex, lexical: LexicalIndex) -> None:
    store.replace_document(record(), new_chunks(["retry with backoff", "retry at once", "nothing of it"]))
    found = lexical.search(["retry", "backoff"], 10)
    texts = store.chunks.by_row([candidate.row for candidate in found])
    assert [texts[candidate.row].stored.chunk.text for candidate in found] == ["retry with backoff", "retry at once"]
    assert found[0].value > found[1].value > 0
    assert lexical.search([], 10) == []


def test_a_name_says_more_than_a_body(store: CheckoutIndex, lexical: LexicalIndex) -> None:
    store.replace_document(record(), [new_chunk("calls refresh here"), new_chunk("other", symbol="refresh", ordinal=1)])
    best = lexical.search(["refresh"], 1)[0]
    assert store.chunks.by_row([best.row])[best.row].stored.chunk.symbol == "refresh"


def test_a_search_can_be_restricted_to_documents(store: CheckoutIndex, lexical: LexicalIndex) -> None:
    for path in ("a.py", "b.py"):
        store.replace_document(record(path), new_chunks([f"needle in {path}"], path=path))
    found = lexical.search(["needle"], 10, {_document_of(store, "b.py")})
    assert set(store.chunks.documents_of([candidate.row for candidate in found]).values()) == {
        _document_of(store, "b.py")
    }
    assert lexical.search(["needle"], 10, set()) == []


def test_a_search_can_be_restricted_to_chunks_with_rare_terms(store: CheckoutIndex, lexical: LexicalIndex) -> None:
    store.replace_document(record(), new_chunks(["common rare", "common", "common common"]))
    every, few = lexical.search(["common", "rare"], 10), lexical.search(["common", "rare"], 10, holding=["rare"])
    assert len(every) == 3
    assert few == every[:1]


def test_what_is_replaced_or_removed_is_found_no_more(store: CheckoutIndex, lexical: LexicalIndex) -> None:
    store.replace_document(record(), new_chunks(["former words"]))
    store.replace_document(record(), new_chunks(["newer words"]))
    assert lexical.search(["former"], 10) == []
    store.remove_documents([record().path])
    assert lexical.search(["newer"], 10) == []


def test_how_many_chunks_hold_a_term_is_counted_up_to_a_limit(store: CheckoutIndex, lexical: LexicalIndex) -> None:
    store.replace_document(record(), new_chunks([f"common word{number}" for number in range(9)]))
    assert (
        lexical.frequencies(["common", "no"], 100),
        lexical.frequencies(["common"], 5),
        lexical.frequencies([], 9),
    ) == (
        {"common": 9, "no": 0},
        {"common": 5},
        {},
    )


def test_terms_of_about_the_same_spelling_are_offered(store: CheckoutIndex, lexical: LexicalIndex) -> None:
    store.replace_document(record(), new_chunks(["backoff backwards other"]))
    assert "backoff" in lexical.terms_like("backof")
    assert "other" not in lexical.terms_like("backof")
