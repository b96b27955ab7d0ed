"""Whose unsaved text is in the index, and whether its owner still lives."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.indexing import EditingSessions
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from tests.support import new_chunks, python, record

_EDITOR = """
import sys
from pathlib import Path
from rag_ls.indexing import EditingSessions

sessions = EditingSessions(Path(sys.argv[1]))
sessions.claim("theirs")
print("claimed", flush=True)
sys.stdin.read()
"""


def test_a_session_lives_until_it_is_closed(tmp_path: Path) -> None:
    sessions, others = EditingSessions(tmp_path), EditingSessions(tmp_path)
    sessions.claim("mine")
    others.claim("other")
    assert sessions.is_live("mine")
    assert sessions.is_live("other")
    others.close("other")
    assert not sessions.is_live("other")
    assert not sessions.is_live("never-there")
    sessions.close("mine")
    assert list((tmp_path / "sessions").iterdir()) == []


def test_the_unsaved_text_of_a_living_process_stays_and_that_of_a_killed_one_goes(
    tmp_path: Path, store: CheckoutIndex
) -> None:
    sessions = EditingSessions(tmp_path)
    sessions.claim("mine")
    editor = python(_EDITOR, tmp_path)
    assert editor.stdout is not None
    assert editor.stdout.readline().strip() == "claimed"
    for session in ("mine", "theirs"):
        store.replace_document(record("a.py", session), new_chunks(["text"]))
    try:
        sessions.clear_dead(store)
        assert {document.session for document in store.unsaved_documents()} == {"mine", "theirs"}
        assert sessions.is_live("theirs")
    finally:
        editor.kill()
        editor.communicate()
    sessions.clear_dead(store)
    assert {document.session for document in store.unsaved_documents()} == {"mine"}
    assert [file.stem for file in (tmp_path / "sessions").iterdir()] == ["mine"]


def test_the_text_of_files_on_disk_is_nobody_s_to_clear(tmp_path: Path, store: CheckoutIndex) -> None:
    store.replace_document(record("a.py"), new_chunks(["text"]))
    EditingSessions(tmp_path).clear_dead(store)
    assert set(store.documents()) == {"a.py"}


def test_a_session_that_others_cannot_see_keeps_its_text_in_its_own_process(
    tmp_path: Path, store: CheckoutIndex, caplog: pytest.LogCaptureFixture
) -> None:
    sessions, folder = EditingSessions(tmp_path), tmp_path / "sessions"
    folder.rmdir()
    folder.write_text("in the way")
    for _ in range(3):
        sessions.claim("mine")
    assert caplog.text.count("other processes do not see the unsaved text") == 1
    store.replace_document(record("a.py", "mine"), new_chunks(["text"]))
    sessions.clear_dead(store)
    assert {document.session for document in store.unsaved_documents()} == {"mine"}
    assert sessions.list_own() == ["mine"]
    folder.unlink()
    folder.mkdir()
    sessions.claim("mine")
    assert EditingSessions(tmp_path).is_live("mine")
    sessions.close("mine")
    sessions.clear_dead(store)
    assert store.unsaved_documents() == []
