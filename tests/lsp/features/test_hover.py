"""What a hover shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lsp.in_process import InProcessEditor
from tests.support import until, write

_NAME = 6
_CART = {"source_file": "src/cart.py", "symbol": "total_price"}


def _store(editor: InProcessEditor, content: str, **metadata: str) -> None:
    editor.command("storeMemory", content=content, scope="project", metadata=metadata)


def test_a_memory_about_the_code_is_shown_with_its_place(editor: InProcessEditor, cart: Path) -> None:
    _store(editor, "Discounts are shares, not amounts.", **_CART)
    shown = editor.hover(cart, 0, _NAME)
    assert "- Discounts are shares, not amounts." in shown
    assert f"[src/cart.py:1]({cart.as_uri()}#L1)" in shown


def test_a_memory_says_that_its_code_has_changed_since(editor: InProcessEditor, cart: Path) -> None:
    _store(editor, "Discounts are shares, not amounts.", **_CART)
    editor.type(cart, "async ")
    assert until(lambda: "*(the code has changed since)*" in editor.hover(cart, 0, _NAME + len("async ")))


def test_a_memory_about_a_line_is_shown_beside_that_line(editor: InProcessEditor, cart: Path) -> None:
    _store(editor, "The sum is net of tax.", source_file="src/cart.py", line=3)
    for line in (1, 2):
        assert f"[src/cart.py:3]({cart.as_uri()}#L3)" in editor.hover(cart, line, 12)


def test_a_renamed_function_s_memory_tells_the_former_name(editor: InProcessEditor, cart: Path) -> None:
    _store(editor, "Discounts are shares, not amounts.", **_CART)
    text = {
        "range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}},
        "text": "whole",
    }
    editor.tell("textDocument/didChange", textDocument={"uri": cart.as_uri(), "version": 3}, contentChanges=[text])
    assert until(lambda: "*(about `total_price`, now `whole_price`)*" in editor.hover(cart, 0, _NAME))


@pytest.mark.slow
def test_a_long_memory_is_cut_to_one_line(editor: InProcessEditor, cart: Path) -> None:
    _store(editor, "Prices are net.\n" + "And rounded half up. " * 40, **_CART)
    lines = editor.hover(cart, 0, _NAME).splitlines()
    assert any(line.startswith("- Prices are net. And rounded") and "…" in line for line in lines)


def test_keywords_single_letters_and_white_space_show_nothing(editor: InProcessEditor, cart: Path) -> None:
    _store(editor, "Discounts are shares, not amounts.", **_CART)
    assert editor.hover(cart, 0, 1) == ""
    editor.type(cart, "x = 1\n\n")
    assert editor.hover(cart, 0, 0) == editor.hover(cart, 1, 0) == ""


def test_the_calls_of_a_function_come_before_similar_code_those_of_tests_last(
    editor: InProcessEditor, shop: Path, cart: Path
) -> None:
    calling = "from src.cart import total_price\n\n\ndef {}():\n    total_price([])\n    return total_price([])\n"
    write(shop, {"src/bill.py": calling.format("make_bill"), "tests/test_bill.py": calling.format("test_bill")})
    editor.command("reindex")
    assert until(lambda: "`make_bill`" in editor.hover(cart, 0, _NAME))
    _, calls = editor.hover(cart, 0, _NAME).split("**Called by**\n\n")
    lines = calls.split("\n\n")[0].splitlines()
    assert [line.partition(" — ")[0] for line in lines] == ["- `make_bill`", "- `test_bill`"]
    assert f"[src/bill.py:5]({(shop / 'src/bill.py').as_uri()}#L5)" in lines[0]
    assert "Called by" not in editor.hover(cart, 1, 5), "nobody calls what stands there"


def test_a_document_that_is_not_open_shows_nothing(editor: InProcessEditor, shop: Path) -> None:
    assert editor.hover(shop / "src/auth.py", 3, 8) == ""


def test_the_settings_may_want_no_hovers(editor: InProcessEditor, cart: Path) -> None:
    _store(editor, "Discounts are shares, not amounts.", **_CART)
    editor.tell("workspace/didChangeConfiguration", settings={"ragLs": {"hover": {"enabled": False}}})
    assert until(lambda: editor.hover(cart, 0, _NAME) == "")


_PRICES = """\
def net(amount):
    return amount / 1.2


def gross(amount):
    return net(amount) * 1.2


class Till:
    def count(self):
        return gross(1)
"""


def test_a_hover_speaks_of_the_symbol_under_the_cursor_alone(editor: InProcessEditor, shop: Path) -> None:
    file = write(shop, {"src/prices.py": _PRICES}) / "src/prices.py"
    editor.open(file)
    assert until(lambda: "prices.py" in str(editor.command("searchCode", query="gross amount")))
    for symbol in ("net", "gross", "Till", "Till.count"):
        _store(editor, f"Known of <{symbol}>.", source_file="src/prices.py", symbol=symbol)
    _store(editor, "Known of <all>.", source_file="src/prices.py")

    def known(line: int, character: int) -> list[str]:
        shown = editor.hover(file, line, character)
        return [
            name for name in ("net", "gross", "Till", "Till.count", "all") if f"<{name}>" in shown.replace("\\", "")
        ]

    assert known(5, 12) == ["net", "all"], "a call"
    assert known(10, 16) == ["gross", "all"], "a call from another declaration"
    assert known(0, 9) == ["net", "all"], "a parameter is of its function"
    assert known(9, 9) == ["Till", "Till.count", "all"], "a method lies in its class"
    other = write(shop, {"src/bill.py": "from src.prices import net\n\ntotal = net(3)\n"}) / "src/bill.py"
    editor.open(other)
    assert known(5, 12) == ["net", "all"]
    assert until(lambda: "<net>" in editor.hover(other, 2, 9).replace("\\", ""))
    assert "<gross>" not in editor.hover(other, 2, 9).replace("\\", "")


def test_a_keyword_of_another_language_is_a_name(editor: InProcessEditor, shop: Path) -> None:
    file = write(shop, {"src/from.ts": "export function from(a: number) {\n  return a\n}\n"}) / "src/from.ts"
    editor.open(file, "typescript")
    assert until(lambda: "from.ts" in str(editor.command("searchCode", query="export function from")))
    _store(editor, "Dates are of the shop.", source_file="src/from.ts", symbol="from")
    assert "Dates are of the shop" in editor.hover(file, 0, 17)
    assert editor.hover(file, 1, 4) == "", "return is a keyword"
