"""A relay gives each new engine the editor's documents, but for a text that engines die of."""

from __future__ import annotations

from typing import Any

import pytest

from rag_ls.daemon import unfinished
from rag_ls.daemon.unfinished import OpenDocuments

A, B = "file:///a.ml", "file:///b.ml"


def _open(uri: str, text: str) -> dict[str, Any]:
    item = {"uri": uri, "languageId": "ocaml", "version": 1, "text": text}
    return {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}}


def _change(uri: str, text: str, line: int = 0) -> dict[str, Any]:
    place = {"line": line, "character": 0}
    change = {"range": {"start": place, "end": place}, "text": text}
    params = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]}
    return {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}


def _about(uri: str, method: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": f"textDocument/{method}", "params": {"textDocument": {"uri": uri}}}


def _uris(messages: list[dict[str, Any]]) -> list[str]:
    return [message["params"]["textDocument"]["uri"] for message in messages]


@pytest.fixture
def documents() -> OpenDocuments:
    """An innocent document and, opened after it, a deadly one that ended two engines."""
    documents = OpenDocuments()
    documents.note_change(_open(A, "let a = 1\n"))
    documents.note_change(_open(B, "(*\n"))
    assert documents.engine_died("/log") == []
    assert _uris(documents.replay()) == [A, B]
    (told,) = documents.engine_died("/log")
    assert B in told
    assert "/log" in told
    return documents


def test_a_text_that_two_engines_died_of_is_kept_from_the_next_and_others_are_not(documents: OpenDocuments) -> None:
    assert _uris(documents.replay()) == [A]
    assert documents.note_change(_about(B, "didSave")) is None
    change = _change(A, "let b = 2\n")
    assert documents.note_change(change) is change


def test_a_text_that_changes_is_given_whole_and_kept_back_where_it_is_as_it_was(documents: OpenDocuments) -> None:
    documents.replay()
    given = documents.note_change(_change(B, "*)\n", line=1))
    assert given is not None
    assert (given["method"], given["params"]["textDocument"]["text"]) == ("textDocument/didOpen", "(*\n*)\n")
    whole = _change(B, "")
    whole["params"]["contentChanges"] = [{"text": "(*\n"}]
    taken = documents.note_change(whole)
    assert taken == {"jsonrpc": "2.0", "method": "textDocument/didClose", "params": {"textDocument": {"uri": B}}}
    assert documents.note_change(_about(B, "didClose")) is None
    assert documents.note_change(_open(B, "(*\n")) is None


def test_another_document_is_kept_back_where_engines_die_without_the_first(documents: OpenDocuments) -> None:
    documents.replay()
    (told,) = documents.engine_died("/log")
    assert A in told
    assert documents.replay() == []


def test_it_is_tried_again_later_and_where_something_else_was_to_blame(
    documents: OpenDocuments, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as later:
        later.setattr(unfinished, "_WITHHELD_S", 0.0)
        assert _uris(documents.replay()) == [A, B]
    assert _uris(documents.replay()) == [A]
    documents.clear_blame()
    assert _uris(documents.replay()) == [A, B]


def test_a_document_that_an_engine_has_had_for_long_is_not_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unfinished, "_IN_PLAY_S", 0.0)
    documents = OpenDocuments()
    documents.note_change(_open(A, "let a = 1\n"))
    for _ in range(5):
        assert documents.engine_died("/log") == []
        assert _uris(documents.replay()) == [A]


def test_messages_that_name_no_document_are_passed_on() -> None:
    documents = OpenDocuments()
    for params in (None, {}, {"textDocument": 5}, {"textDocument": {"uri": 5}}):
        message = {"method": "textDocument/didOpen", "params": params}
        assert documents.note_change(message) is message
    strange = {"method": "textDocument/didChange", "params": {"textDocument": {"uri": A}, "contentChanges": 7}}
    documents.note_change({"method": "textDocument/didOpen", "params": {"textDocument": {"uri": A}}})
    assert documents.note_change(strange) is strange
    assert documents.engine_died("/log") == []
    assert len(documents.engine_died("/log")) == 1
