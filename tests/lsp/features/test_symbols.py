"""Workspace symbols: names, and questions in words."""

from __future__ import annotations

from tests.lsp.in_process import InProcessEditor


def _found(editor: InProcessEditor, query: str) -> list[str]:
    return [item["name"] for item in editor.ask("workspace/symbol", {"query": query})]


def test_a_name_finds_its_declaration(editor: InProcessEditor) -> None:
    assert _found(editor, "sendInvoice")[0] == "sendInvoice"


def test_a_question_in_words_finds_the_code_that_answers_it(editor: InProcessEditor) -> None:
    assert _found(editor, "renew an expired login")[0].startswith("Session")


def test_nothing_asked_is_nothing_found(editor: InProcessEditor) -> None:
    assert _found(editor, "") == []
