"""The paths of documents are kept while they stay the same."""

from __future__ import annotations

from tests.support import new_chunk, open_checkout, record


def test_the_list_is_the_same_while_the_paths_are() -> None:
    store = open_checkout(None)
    store.replace_document(record("a.py"), [new_chunk("one\n")])
    rows = store.document_paths()
    assert [row[1] for row in rows] == ["a.py"]
    store.replace_document(record("a.py"), [new_chunk("two\n")])
    assert store.document_paths() is rows
    store.replace_document(record("b.py"), [new_chunk("one\n")])
    assert sorted(row[1] for row in store.document_paths()) == ["a.py", "b.py"]
    store.remove_documents(["a.py"])
    assert [row[1] for row in store.document_paths()] == ["b.py"]
    store.close()


def test_a_transaction_sees_its_own_paths_and_leaves_none_of_them_if_it_fails() -> None:
    store = open_checkout(None)
    store.replace_document(record("a.py"), [new_chunk("one\n")])
    assert len(store.document_paths()) == 1
    try:
        with store.together():
            store.replace_document(record("b.py"), [new_chunk("one\n")])
            assert len(store.document_paths()) == 2
            raise KeyError
    except KeyError:
        assert [row[1] for row in store.document_paths()] == ["a.py"]
    store.close()
