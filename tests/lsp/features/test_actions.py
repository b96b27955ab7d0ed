"""The code actions on a selection, and what they do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rag_ls.engine.client import local_client
from tests.lsp.in_process import InProcessEditor, in_process_editor

_COMMENT = "# Discounts are shares, not amounts.\n"


def _titles(editor: InProcessEditor, file: Path, lines: tuple[int, int], **context: Any) -> list[str]:
    return [action["title"] for action in editor.actions(file, lines, **context)]


def test_a_comment_is_offered_as_the_note_itself(editor: InProcessEditor, cart: Path) -> None:
    editor.type(cart, _COMMENT)
    actions = editor.actions(cart, (0, 1))
    assert [action["title"] for action in actions] == [
        "Remember this: Discounts are shares, not amounts.",
        "Remember this for all projects",
        "What do we know about this?",
    ]
    stored = editor.run(actions[0])
    assert (stored["status"], stored["scope"]) == ("inserted", "project")
    assert editor.run(actions[1])["scope"] == "global"
    assert [hit["content"] for hit in editor.run(actions[2])["results"]][:1] == ["Discounts are shares, not amounts."]


def test_for_code_the_editor_asks_for_the_note_and_shows_what_is_known_there(
    editor: InProcessEditor, cart: Path
) -> None:
    asked: list[Any] = []

    def answer(params: Any) -> dict[str, str]:
        asked.append(params)
        return {"content": "Prices are net."}

    editor.replies["ragLs/askForNote"] = answer
    remember = editor.actions(cart, (0, 1))[0]
    assert remember["title"].startswith("Remember a note about this: def total_price")
    editor.run(remember)
    assert asked[0]["known"] == []
    stored = editor.command("listMemories")["memories"]
    assert [(item["content"], item["anchor"]["symbol"]) for item in stored] == [("Prices are net.", "total_price")]
    editor.run(remember)
    assert [item["content"] for item in asked[1]["known"]] == ["Prices are net."]


def test_a_note_that_the_user_does_not_write_is_not_remembered(editor: InProcessEditor, cart: Path) -> None:
    assert editor.run(editor.actions(cart, (0, 1))[0]) == {"status": "cancelled"}
    assert editor.command("listMemories")["memories"] == []


def test_for_an_editor_that_cannot_ask_the_selection_is_the_note(shop: Path) -> None:
    with in_process_editor(local_client("lsp"), shop) as editor:
        file = shop / "src/cart.py"
        editor.open(file)
        remember = editor.actions(file, (0, 1))[0]
        assert remember["title"].startswith("Remember this: def total_price")
        stored = editor.command("getMemory", id=editor.run(remember)["id"])
        assert stored["content"] == file.read_text().splitlines()[0]
        assert stored["anchor"]["symbol"] == "total_price"


def test_without_a_selection_only_the_question_is_offered(editor: InProcessEditor, cart: Path) -> None:
    assert _titles(editor, cart, (0, 0)) == ["What do we know about this?"]


def test_an_editor_that_wants_fixes_alone_gets_none(editor: InProcessEditor, cart: Path) -> None:
    assert _titles(editor, cart, (0, 1), only=["quickfix"]) == []
