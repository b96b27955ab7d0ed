"""The lenses above code that memories are about."""

from __future__ import annotations

from pathlib import Path

from tests.lsp.in_process import InProcessEditor
from tests.support import until


def _store(editor: InProcessEditor, content: str) -> None:
    place = {"source_file": "src/cart.py", "symbol": "total_price"}
    editor.command("storeMemory", content=content, scope="project", metadata=place)


def _titles(editor: InProcessEditor, file: Path) -> list[str]:
    return [lens["command"]["title"] for lens in editor.lenses(file)]


def test_code_without_memories_has_none(editor: InProcessEditor, cart: Path) -> None:
    assert editor.lenses(cart) == []


def test_a_lens_counts_the_memories_and_a_click_shows_them(editor: InProcessEditor, cart: Path) -> None:
    _store(editor, "Discounts are shares, not amounts.")
    assert _titles(editor, cart) == ["1 memory"]
    _store(editor, "Prices are net.")
    (lens,) = editor.lenses(cart)
    assert (lens["command"]["title"], lens["range"]["start"]) == ("2 memories", {"line": 0, "character": 0})
    shown = [hit["content"] for hit in editor.run(lens)["results"]]
    assert sorted(shown)[:2] == ["Discounts are shares, not amounts.", "Prices are net."]


def test_a_lens_follows_the_code_and_says_that_it_changed(editor: InProcessEditor, cart: Path) -> None:
    _store(editor, "Discounts are shares, not amounts.")
    editor.type(cart, "import os\n\n\n")
    assert until(lambda: [lens["range"]["start"]["line"] for lens in editor.lenses(cart)] == [3])
    editor.type(cart, "import sys\n")
    text = {
        "range": {"start": {"line": 6, "character": 4}, "end": {"line": 6, "character": 4}},
        "text": "other()\n    ",
    }
    editor.tell("textDocument/didChange", textDocument={"uri": cart.as_uri(), "version": 4}, contentChanges=[text])
    assert until(lambda: _titles(editor, cart) == ["1 memory (1 from before this code changed)"])


def test_the_settings_may_want_none(editor: InProcessEditor, cart: Path) -> None:
    _store(editor, "Discounts are shares, not amounts.")
    editor.tell("workspace/didChangeConfiguration", settings={"ragLs": {"hover": {"lenses": False}}})
    assert until(lambda: editor.lenses(cart) == [])
