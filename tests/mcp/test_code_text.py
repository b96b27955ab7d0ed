"""Agents read code as plain text: line numbers, one path for each file, nothing escaped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rag_ls.mcp.handshake import shows_structure_alone
from rag_ls.operations.code import lookup
from rag_ls.operations.code.hits import CodeAnswer, CodeRecord, ExactPlaces, LineRecord, PlaceRecord
from rag_ls.operations.code.lookup import SymbolRecord, SymbolsAnswer
from rag_ls.operations.code.references import ReferenceRecord, ReferencesAnswer
from rag_ls.operations.stats import Stats
from tests.agents import render_answer

_STATS = Stats(took_ms=1.0, dense=True, candidates=3, complete=True)
_HIT = CodeRecord(
    kind="chunk", id="a1", path="src/cart.py", start_line=8, end_line=11, language="python", symbol="total",
    node_type="function_definition", score=0.73951, matched_by=("dense",), freshness="disk",
    file="/home/ann/shop/src/cart.py", text='def total(items):\n\t"""Sum\\n up."""\n\x0c    tax = 1\n    return sum(items)\n',
)  # fmt: skip


def _text(*hits: CodeRecord, stats: Stats = _STATS) -> str:
    return str(render_answer("search_code", CodeAnswer("q", hits, stats))["text"])


def test_code_has_line_numbers_and_its_path_once() -> None:
    assert _text(_HIT) == (
        'src/cart.py:8-11  total  0.74\n8\tdef total(items):\n9\t\t"""Sum\\n up."""\n10\t     tax = 1\n11\t    return sum(items)'
    )


def test_that_no_line_holds_a_qualified_name_is_said_only_where_nothing_answers() -> None:
    nowhere = ExactPlaces("exact", "Cart.total", 0, 0, (), left_out="8 files not looked at (8 data)")
    nothing_close = replace(_STATS, nothing_close=True)
    told = [
        str(render_answer("search_code", CodeAnswer("Cart.total", hits, stats, nowhere))["text"])
        for hits, stats in (((_HIT,), _STATS), ((_HIT,), nothing_close), ((), _STATS))
    ]
    assert ["no line that was looked at holds" in text for text in told] == [False, True, True]


def test_doubts_about_hits_come_before_them_and_other_notes_after() -> None:
    weak = _text(_HIT, stats=replace(_STATS, note="weak: no place has them; no indexed file has the word 'kafka'"))
    assert weak.startswith("(weak: no place has them; no indexed file has the word 'kafka')\n\nsrc/cart.py:8-11")
    assert _text(_HIT, stats=replace(_STATS, note="2 more files did not fit")).endswith(
        "\n\n(2 more files did not fit)"
    )


def test_a_cut_text_goes_on_with_the_right_number() -> None:
    cut = replace(
        _HIT, end_line=90, text="def total(items):\n…\n    tax = 1\n…", truncated=True, left_out=("9-19", "21-90")
    )
    assert _text(cut).split("\n")[1:] == ["8\tdef total(items):", "…", "20\t    tax = 1", "…"]
    # A mark that stands in the code itself is code.
    assert _text(replace(_HIT, text="…\n")).endswith("\n8\t…")


def test_other_places_of_the_file_are_a_line_each() -> None:
    hit = replace(_HIT, places=(PlaceRecord(40, 60, "Cart.add", 43, "    self.total = total(items)"),))
    assert _text(hit).endswith("\nalso 40-60 Cart.add\n43\t    self.total = total(items)")


def test_a_hit_far_below_the_best_is_one_line() -> None:
    far = replace(_HIT, score=0.2, far=True, truncated=True, text="…\n    tax = 1\n…", left_out=("8-9", "11-11"))
    where = "src/cart.py:10  total  0.20: tax = 1"
    assert _text(_HIT, far, far).endswith(f"11\t    return sum(items)\n\n{where}\n{where}")
    named = replace(far, text="…\n    tax = total(1)\n…")
    assert _text(_HIT, named).endswith("\n\nsrc/cart.py:10  0.20: tax = total(1)")
    # Without a budget it is whole.
    assert _text(replace(_HIT, far=True)) == _text(_HIT)


def test_what_is_not_as_usual_stands_in_the_head_and_notes_at_the_end() -> None:
    stats = replace(_STATS, complete=False, pending_documents=3, note="a filter matches little")
    text = _text(replace(_HIT, freshness="buffer", scope="def total(items)"), _HIT, stats=stats)
    assert text.startswith("src/cart.py:8-11  total  0.74  in def total(items)  unsaved text\n")
    assert text.endswith("\n\n(3 files to come; a filter matches little)")
    assert "list_symbols" in _text()


def test_the_structure_beside_it_has_no_code() -> None:
    hit = replace(_HIT, places=(PlaceRecord(40, 60, "Cart.add", 43, "    self.total"),))
    beside = render_answer("search_code", CodeAnswer("q", (hit,), _STATS))["structured"]
    assert beside["results"] == [
        {"id": "a1", "path": "src/cart.py", "start_line": 8, "end_line": 11, "symbol": "total", "score": 0.74,
         "places": [{"start_line": 40, "end_line": 60, "symbol": "Cart.add", "line": 43}]}
    ]  # fmt: skip


def test_an_excerpt_says_what_is_left() -> None:
    whole = replace(_HIT, matched_by=("id",), note="lines 12-20 are left out")
    text = str(render_answer("get_chunk", whole)["text"])
    assert text.startswith("src/cart.py:8-11  total\n8\t")
    assert text.endswith("\n(lines 12-20 are left out)")


def test_an_outline_is_nested_and_names_its_file_once() -> None:
    def symbol(name: str, first: int, last: int, kind: str = "function", signature: str = "") -> SymbolRecord:
        return SymbolRecord("src/cart.py", name, kind, first, last, signature, True)

    symbols = (
        symbol("RATE", 1, 1, "value"),
        symbol("Cart", 3, 30, "type", "class Cart"),
        symbol("Cart.total", 5, 9, signature="def total(self, rate) -> float"),
        symbol("Cart.total.inner", 6, 7, signature="def inner()"),
        symbol("Cart.add", 10, 30, signature="def add(self)"),
        symbol("pay", 33, 40, signature="def pay(cart)"),
    )
    answer: dict[str, Any] = render_answer("list_symbols", SymbolsAnswer(symbols, 9))
    assert answer["text"].split("\n") == [
        "src/cart.py",
        "1 value RATE",
        "3-30 type Cart",
        " 5-9 total(rate) -> float",
        "  6-7 inner()",
        " 10-30 add()",
        "33-40 pay(cart)",
        "(3 more: k = 9 lists all, kind or a longer query fewer)",
    ]
    assert answer["structured"]["total"] == 9
    other = replace(symbols[0], path="src/rates.py")
    several = render_answer("list_symbols", SymbolsAnswer((*symbols[1:3], other), 3))["text"]
    assert several.split("\n") == [
        "src/cart.py",
        " 3-30 type Cart",
        " 5-9 function Cart.total(rate) -> float",
        "src/rates.py:1 value RATE",
    ]


def test_lines_of_one_file_in_a_row_stand_beneath_its_path() -> None:
    def call(path: str, line: int, depth: int = 1, project: str = "") -> ReferenceRecord:
        return ReferenceRecord("call", path, line, 1, "", "total(1)", "resolved", depth=depth, project=project)

    def text(*calls: ReferenceRecord) -> str:
        return str(render_answer("find_references", ReferencesAnswer("total", calls, len(calls), "calls"))["text"])

    cart = call("src/cart.py", 3), call("src/cart.py", 3), call("src/cart.py", 9)
    assert text(*cart, call("src/pay.py", 1)).split("\n")[1:] == [
        "src/cart.py", " 3: total(1)", " 9: total(1)", "src/pay.py:1: total(1)",
    ]  # fmt: skip
    long = replace(cart[0], text=f"{'a' * 300} total(1) {'b' * 300}")
    assert "…" + "a" * 59 + " total(1) " in text(long)
    assert len(text(long)) < 200
    # A tree of callers keeps a place in each line.
    tree = text(cart[0], call("src/cart.py", 20, depth=2)).split("\n")[1:]
    assert tree == ["src/cart.py:3 call: total(1)", "  src/cart.py:20 call: total(1)"]
    elsewhere = [call("src/cart.py", line, project="/home/ann/shop") for line in (3, 9)]
    assert text(*elsewhere).split("\n")[1] == "/home/ann/shop/src/cart.py"


def _use(kind: str, path: str, line: int, text: str, target: str = "") -> ReferenceRecord:
    return ReferenceRecord(kind, path, line, 1, "pay", text, "resolved", target=target)


def _list_uses(*uses: ReferenceRecord) -> list[str]:
    answer = ReferencesAnswer("total", uses, len(uses), "calls")
    return str(render_answer("find_references", answer)["text"]).split("\n")[1:]


def test_an_import_beside_its_uses_is_a_line_beneath_them() -> None:
    imports = _use("import", "pay.py", 1, "import total"), _use("import", "all.py", 2, "import total")
    assert _list_uses(_use("call", "pay.py", 9, "total()"), *imports) == [
        "pay.py", " 9 in pay: total()", " 1 import in pay", "all.py:2 import in pay: import total",
    ]  # fmt: skip


def test_a_long_list_of_implementations_tells_their_names_alone() -> None:
    found = [_use("implement", f"{number}.py", 3, f"class Node{number}(Node):") for number in range(21)]
    assert _list_uses(*found)[0] == "0.py:3 implement in pay"
    assert _list_uses(*found[:20])[0] == "0.py:3 implement in pay: class Node0(Node):"


def test_many_uses_in_tests_are_told_without_their_texts() -> None:
    tests = [
        replace(_use("call", "pay_test.py", line, f"total({line})"), test=True, symbol=f"TestPay.test_{line}")
        for line in range(1, 7)
    ]
    call = _use("call", "pay.py", 9, "total()")
    assert _list_uses(call, *tests) == ["pay.py:9 in pay: total()", "pay_test.py:1,2,3,4,5,6 in TestPay"]
    mentions = [replace(tests[at], kind="mention", symbol="test_mention") for at in (1, 3)]
    kinds = _list_uses(call, tests[0], mentions[0], tests[2], mentions[1], *tests[4:])
    assert kinds[1:] == ["pay_test.py", " 1,3,5,6 in TestPay", " 2,4 mention"]
    assert len(_list_uses(call, *tests[:5])) == 7


def test_a_target_is_told_where_it_tells_one_declaration_from_another() -> None:
    own, other = _use("call", "a.py", 1, "x.total()", "total"), _use("call", "b.py", 2, "y.total()", "Cart.total")
    assert _list_uses(own, other) == ["a.py:1 in pay: x.total()", "b.py:2 of Cart.total in pay: y.total()"]
    assert _list_uses(other) == ["b.py:2 in pay: y.total()"]


def test_a_long_list_tells_the_text_of_uses_in_one_declaration_once_but_all_lines() -> None:
    uses = [_use("call", "a.py", line, f"total({line})") for line in range(1, 21)]
    assert len(_list_uses(*uses)) == 21
    wide = _use("call", "c.py", 5, f"total({'1, ' * 60})")
    assert len(_list_uses(*uses, wide)[-1]) < len(_list_uses(wide)[-1])
    last = _use("call", "b.py", 5, "total(1)")
    assert _list_uses(*uses, last) == [
        f"a.py:{','.join(map(str, range(1, 21)))} in pay: total(1)",
        "b.py:5 in pay",
    ]
    many = _list_uses(*uses, *(_use("call", f"{number}.py", 1, f"total(x{number})") for number in range(20)))
    assert [line.partition(":")[0] for line in many] == ["a.py", *(f"{number}.py" for number in range(20))]
    assert sum(": total(" in line for line in many) == 12


def _held(*lines: LineRecord, hits: tuple[CodeRecord, ...] = (), names_project: bool = False) -> list[str]:
    held = ExactPlaces("exact", "pay", len(lines), 1, lines)
    answer = CodeAnswer("pay", hits, _STATS, held)
    text = str(render_answer("search_code", answer, names_project=names_project)["text"])
    return text.split("\n\n")[0].split("\n")[1:]


def test_lines_that_hold_a_text_stand_beneath_the_path_of_their_file() -> None:
    lines = [LineRecord("a.py", line, 5, f"    pay({line})", file="/home/ann/shop/a.py") for line in (2, 7)]
    assert _held(*lines) == ["a.py", " 2: pay(2)", " 7: pay(7)"]
    assert _held(*lines, names_project=True) == ["/home/ann/shop/a.py", " 2: pay(2)", " 7: pay(7)"]


def test_lines_of_a_file_that_are_alike_are_one_with_the_declarations_around_them() -> None:
    lines = [LineRecord("a.py", line, 5, "    pay()", symbol) for line, symbol in ((2, "Cart.buy"), (7, "Cart.add"))]
    assert _held(*lines, LineRecord("a.py", 9, 1, "pay(1)")) == [
        "a.py", " 2,7: pay()  [Cart.buy, Cart.add]", " 9: pay(1)",
    ]  # fmt: skip
    assert _held(lines[0], replace(lines[0], line=3)) == ["a.py:2,3: pay()  [Cart.buy]"]


def test_a_file_of_tests_is_a_line() -> None:
    tests = (
        lookup.TestRecord(
            "tests/test_cart.py", "", 0.5, ("named after cart.py", "mentions total"), start_line=3, end_line=9
        ),
        lookup.TestRecord("tests/cart.py", "", 0.3, ("imports it (line 1)",)),
    )
    assert str(render_answer("related_tests", lookup.TestsAnswer(tests, "2 files are not read yet"))["text"]).split(
        "\n"
    ) == [
        "tests/test_cart.py:3-9  named after cart.py; mentions total",
        "tests/cart.py  imports it (line 1)",
        "(2 files are not read yet)",
    ]
    assert "search_code" in str(render_answer("related_tests", lookup.TestsAnswer(()))["text"])


@pytest.mark.parametrize(
    ("client", "alone"),
    [("claude-code", True), ("codex-mcp-client", True), ("mcp", False), ("inspector", False), ("", False)],
)
def test_clients_that_would_drop_the_text_get_it_alone(client: str, alone: bool) -> None:
    assert shows_structure_alone(client) is alone


def test_what_is_to_come_is_counted_in_english() -> None:
    one = replace(_STATS, complete=False, pending_documents=1, pending_embeddings=2000)
    assert "(1 file to come; 2,000 embeddings to come; " in _text(_HIT, stats=one)
    noted = replace(one, note="11 files are too large")
    assert "(1 file to come; 2,000 embeddings to come; 11 files are too large)" in _text(_HIT, stats=noted)
