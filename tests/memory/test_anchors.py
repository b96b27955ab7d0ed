"""A memory's anchor follows its code."""

from __future__ import annotations

from rag_ls.memory import anchor_to, resolved
from rag_ls.model import Anchor, AnchorState
from rag_ls.storage import NewChunk
from rag_ls.storage.sqlite.checkout import SqliteCheckout
from tests.support import new_chunk, new_chunks, record

_OLD = "def refresh():\n    return 1\n"
_NEW = "def refresh():\n    return 2\n"


def _save(store: SqliteCheckout, path: str, *chunks: NewChunk) -> None:
    store.replace_document(record(path), list(chunks))


def _refresh(path: str = "src/a.py", *, text: str = _OLD, ordinal: int = 0) -> NewChunk:
    return new_chunk(text, path=path, symbol="Session.refresh", ordinal=ordinal)


def _anchor(store: SqliteCheckout) -> Anchor:
    _save(store, "src/a.py", _refresh())
    return anchor_to(store.chunks.of_symbol("Session.refresh")[0])


def test_an_anchor_is_fresh_while_its_code_stays(store: SqliteCheckout) -> None:
    anchor = _anchor(store)
    assert (anchor.path, anchor.symbol, anchor.start_line) == ("src/a.py", "Session.refresh", 1)
    assert resolved(anchor, store, frozenset()) == anchor
    assert anchor.state is AnchorState.FRESH


def test_code_that_unsaved_text_replaces_is_drifted_although_the_file_is_as_it_was(store: SqliteCheckout) -> None:
    anchor = _anchor(store)
    on_disk = store.document("src/a.py")
    assert on_disk is not None
    store.replace_document(record("src/a.py", "editor"), [_refresh(text=_NEW)])
    assert resolved(anchor, store, frozenset()).state is AnchorState.FRESH
    assert resolved(anchor, store, {on_disk.id}).state is AnchorState.DRIFTED


def test_code_that_moved_down_in_its_file_is_fresh_at_its_new_line(store: SqliteCheckout) -> None:
    anchor = _anchor(store)
    _save(store, "src/a.py", new_chunk("import os\n"), _refresh(ordinal=1))
    assert resolved(anchor, store, frozenset()) == Anchor(
        "src/a.py", "Session.refresh", anchor.content_hash, 11, AnchorState.FRESH
    )


def test_changed_code_is_drifted(store: SqliteCheckout) -> None:
    anchor = _anchor(store)
    _save(store, "src/a.py", new_chunk("import os\n"), _refresh(text=_NEW, ordinal=1))
    found = resolved(anchor, store, frozenset())
    assert (found.state, found.path, found.start_line) == (AnchorState.DRIFTED, "src/a.py", 11)


def test_drifted_code_that_is_changed_back_is_fresh(store: SqliteCheckout) -> None:
    anchor = _anchor(store)
    _save(store, "src/a.py", _refresh(text=_NEW))
    assert resolved(anchor, store, frozenset()).state is AnchorState.DRIFTED
    _save(store, "src/a.py", _refresh())
    assert resolved(anchor, store, frozenset()).state is AnchorState.FRESH


def test_reading_does_not_make_a_drifted_anchor_fresh(store: SqliteCheckout) -> None:
    anchor = _anchor(store)
    _save(store, "src/a.py", _refresh(text=_NEW))
    once = resolved(anchor, store, frozenset())
    assert resolved(once, store, frozenset()).state is AnchorState.DRIFTED


def test_removed_code_is_orphaned(store: SqliteCheckout) -> None:
    anchor = _anchor(store)
    _save(store, "src/a.py", new_chunk("import os\n"))
    assert resolved(anchor, store, frozenset()).state is AnchorState.ORPHANED


def test_a_renamed_file_is_followed(store: SqliteCheckout) -> None:
    anchor = _anchor(store)
    store.remove_documents(["src/a.py"])
    _save(store, "lib/session.py", _refresh("lib/session.py"))
    found = resolved(anchor, store, frozenset())
    assert (found.state, found.path) == (AnchorState.FRESH, "lib/session.py")


def test_code_that_was_renamed_away_and_changed_is_followed_by_its_symbol(store: SqliteCheckout) -> None:
    anchor = _anchor(store)
    store.remove_documents(["src/a.py"])
    _save(store, "lib/session.py", _refresh("lib/session.py", text=_NEW))
    found = resolved(anchor, store, frozenset())
    assert (found.state, found.path) == (AnchorState.DRIFTED, "lib/session.py")


def test_a_symbol_that_two_other_files_have_is_not_guessed(store: SqliteCheckout) -> None:
    anchor = _anchor(store)
    store.remove_documents(["src/a.py"])
    for path in ("lib/one.py", "lib/two.py"):
        _save(store, path, _refresh(path, text=_NEW))
    assert resolved(anchor, store, frozenset()).state is AnchorState.ORPHANED


def test_a_copy_elsewhere_does_not_draw_the_anchor_away(store: SqliteCheckout) -> None:
    anchor = _anchor(store)
    _save(store, "aaa/copy.py", _refresh("aaa/copy.py"))
    assert resolved(anchor, store, frozenset()).path == "src/a.py"


def test_a_renamed_symbol_with_a_changed_body_is_orphaned(store: SqliteCheckout) -> None:
    anchor = _anchor(store)
    _save(store, "src/a.py", new_chunk(_NEW, symbol="Session.renew"))
    assert resolved(anchor, store, frozenset()).state is AnchorState.ORPHANED


def test_an_anchor_to_a_whole_file_is_fresh_until_the_file_goes(store: SqliteCheckout) -> None:
    store.replace_document(record(), new_chunks(["one"]))
    anchor = Anchor("src/a.py")
    assert resolved(anchor, store, frozenset()).state is AnchorState.FRESH
    store.replace_document(record(), new_chunks(["two"]))
    assert resolved(anchor, store, frozenset()).state is AnchorState.FRESH
    store.remove_documents(["src/a.py"])
    assert resolved(anchor, store, frozenset()).state is AnchorState.ORPHANED
