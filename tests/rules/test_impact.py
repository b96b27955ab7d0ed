"""What depends on a document: by imports, through re-exports, and by the names of its own package."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.engine.code.impact import count_uses, find_impact
from rag_ls.engine.code.related_tests import describe_reach, find_tests
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.indexing import Buffer, Depth
from tests.support import PATIENCE_S, until, write

PYTHON = {
    "shop/__init__.py": "from .cart import Cart as Basket, total\n",
    "shop/cart.py": "class Cart:\n    pass\n\n\ndef total(items):\n    return sum(items)\n\n\ndef unused():\n    pass\n",
    "shop/mail.py": "from shop.cart import total\n\n\ndef send():\n    return total([])\n",
    "shop/web.py": "from shop import mail\n\n\ndef view():\n    return mail.send()\n",
    "app.py": "import shop\n\nprint(shop.total([1]))\n",
    "cli.py": "from shop import Basket\n\nBasket()\n",
    "other.py": "def total():\n    return 0\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_it():\n    assert Cart()\n",
}
SCRIPT = {
    "src/button.ts": "export default function Button() {}\nexport const size = 1;\n",
    "src/index.ts": "export { default as Button } from './button';\nexport * from './button';\n",
    "src/page.ts": "import { Button } from './index';\nButton();\n",
    "src/box.ts": "import { size } from '.';\nconsole.log(size);\n",
    "src/none.ts": "import { other } from '.';\nother();\n",
    "src/own.ts": "import Button from './button';\nexport const own = Button;\n",
    "src/later.ts": "import Button from './own';\nButton();\n",
}
GO = {
    "go.mod": "module example.org/shop\n",
    "cart/cart.go": "package cart\n\n// Cart holds items.\ntype Cart struct{}\n\nfunc sum(c Cart) int { return 0 }\n",
    "cart/total.go": "package cart\n\nfunc Total(c Cart) int { return sum(c) }\n",
    "cart/log.go": "package cart\n\n// Log says Cart.\nfunc Log() {}\n",
    "main.go": 'package main\n\nimport "example.org/shop/cart"\n\nfunc main() { cart.Total(cart.Cart{}) }\n',
    "tool.go": 'package main\n\nimport "example.org/shop/cart"\n\nfunc tool() { cart.Log() }\n',
}


def _indexed(client: Client, root: Path, files: dict[str, str]) -> ProjectSession:
    view = client.open(write(root, files), on_purpose=True)
    view.indexing.index_tree(Depth.WORDS)
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    return view


def _dependents(view: ProjectSession, path: str, symbol: str = "") -> dict[str, tuple[str, ...]]:
    return {each.path: each.names for each in find_impact(view, path, symbol, 3).dependents.direct}


def test_names_are_followed_through_a_package(client: Client, tmp_path: Path) -> None:
    view = _indexed(client, tmp_path, PYTHON)
    assert _dependents(view, "shop/cart.py") == {
        "shop/__init__.py": ("Cart", "total"),
        "shop/mail.py": ("total",),
        "app.py": ("total",),
        "cli.py": ("Cart",),
        "tests/test_cart.py": ("Cart",),
    }
    assert set(_dependents(view, "shop/cart.py", "Cart")) == {"shop/__init__.py", "cli.py", "tests/test_cart.py"}
    assert _dependents(view, "shop/cart.py", "unused") == {}


def test_what_depends_on_the_dependents_is_counted(client: Client, tmp_path: Path) -> None:
    view = _indexed(client, tmp_path, PYTHON)
    found = find_impact(view, "shop/mail.py", "", 3)
    assert [each.path for each in found.dependents.direct] == ["shop/web.py"]
    assert find_impact(view, "shop/cart.py", "", 3).dependents.beyond == 1
    # Of one symbol, those count that its users lead to.
    assert find_impact(view, "shop/cart.py", "unused", 3).dependents.beyond == 0
    assert find_impact(view, "shop/cart.py", "", 3).tests == ("tests/test_cart.py",)


def test_default_and_star_exports_are_followed(client: Client, tmp_path: Path) -> None:
    view = _indexed(client, tmp_path, SCRIPT)
    assert set(_dependents(view, "src/button.ts")) == {"src/index.ts", "src/page.ts", "src/box.ts", "src/own.ts"}


def test_a_go_file_s_names_are_what_others_depend_on(client: Client, tmp_path: Path) -> None:
    view = _indexed(client, tmp_path, GO)
    assert _dependents(view, "cart/cart.go") == {"cart/total.go": ("Cart", "sum"), "main.go": ("Cart",)}
    assert set(_dependents(view, "cart/log.go")) == {"tool.go"}


def test_an_unsaved_import_counts(client: Client, tmp_path: Path) -> None:
    view = _indexed(client, tmp_path, PYTHON)
    view.buffer_changed(Buffer("other.py", "from shop.cart import total\n\nprint(total([]))\n"))
    assert until(lambda: "other.py" in _dependents(view, "shop/cart.py"), PATIENCE_S)
    view.buffer_closed("other.py")
    assert until(lambda: "other.py" not in _dependents(view, "shop/cart.py"), PATIENCE_S)


@pytest.mark.parametrize("path", ["shop\\cart.py", "./shop/cart.py"])
def test_a_path_may_be_written_in_other_ways(client: Client, tmp_path: Path, path: str) -> None:
    view = _indexed(client, tmp_path, PYTHON)
    assert find_impact(view, path, "", 3).path == "shop/cart.py"


def test_the_uses_of_each_exported_symbol_are_counted(client: Client, tmp_path: Path) -> None:
    uses = count_uses(_indexed(client, tmp_path, PYTHON), "shop/cart.py")
    assert [(each.symbol, each.line, each.files, each.tests) for each in uses] == [
        ("Cart", 1, 3, 1),
        ("total", 5, 3, 0),
    ]


def test_the_lines_of_a_symbol_in_its_dependents_are_told(client: Client, tmp_path: Path) -> None:
    view = _indexed(client, tmp_path, PYTHON)
    lines = {each.path: each.lines for each in find_impact(view, "shop/cart.py", "total", 3).dependents.direct}
    assert (lines["shop/mail.py"], lines["app.py"]) == ((1, 5), (3,))
    whole = {each.path: each.lines for each in find_impact(view, "shop/cart.py", "", 3).dependents.direct}
    assert (whole["shop/mail.py"], whole["app.py"]) == ((1, 5), (1, 3))


def test_a_dependent_has_its_lines_with_the_name_that_each_uses(client: Client, tmp_path: Path) -> None:
    view = _indexed(client, tmp_path, PYTHON)
    uses = {each.path: each.uses for each in find_impact(view, "shop/cart.py", "", 3).dependents.direct}
    assert uses["shop/mail.py"] == ((1, "total"), (5, "total"))
    assert uses["tests/test_cart.py"] == ((1, "Cart"), (5, "Cart"))


def test_a_symbol_needs_no_file_where_one_file_declares_it(client: Client, tmp_path: Path) -> None:
    view = _indexed(client, tmp_path, {**PYTHON, "tests/test_send.py": "def send():\n    pass\n"})
    assert find_impact(view, "", "send", 3).path == "shop/mail.py"
    with pytest.raises(InvalidRequest, match=r"2 files declare total: other\.py, shop/cart\.py; give one as file_path"):
        find_impact(view, "", "total", 3)
    with pytest.raises(NotFound, match="no symbol 'sned' is in the index"):
        find_impact(view, "", "sned", 3)


def test_tests_within_the_file_cover_it(client: Client, tmp_path: Path) -> None:
    text = "pub fn total() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {}\n}\n"
    view = _indexed(client, tmp_path, {"Cargo.toml": '[package]\nname = "shop"\n', "src/lib.rs": text})
    assert find_impact(view, "src/lib.rs", "", 3).tests == ("src/lib.rs",)


def test_a_test_that_imports_a_name_through_a_package_is_related_too(client: Client, tmp_path: Path) -> None:
    view = _indexed(client, tmp_path, {**PYTHON, "tests/test_all.py": "from shop import Basket\n\nBasket()\n"})
    assert "tests/test_all.py" in find_impact(view, "shop/cart.py", "", 3).tests
    why = {each.path: each.why for each in find_tests(view, "shop/cart.py", 0, "", 10)}
    assert why["tests/test_all.py"][0] == "imports it (line 1)"


def test_what_lies_beyond_is_counted_in_full(client: Client, tmp_path: Path) -> None:
    """Not for as long as a moment lasts: the same question had another answer each time."""
    chain = {f"shop/n{at}.py": f"from shop import n{at - 1}\n\nn{at - 1}\n" for at in range(1, 120)}
    view = _indexed(client, tmp_path, {"shop/__init__.py": "", "shop/n0.py": "x = 1\n", **chain})
    dependents = find_impact(view, "shop/n0.py", "", 3).dependents
    assert (len(dependents.direct), dependents.beyond, dependents.is_all) == (1, 118, True)


def test_the_tests_that_reach_a_document_over_others_are_told(client: Client, tmp_path: Path) -> None:
    view = _indexed(client, tmp_path, {**PYTHON, "tests/test_pages.py": "from shop import web\n\nweb.view()\n"})
    impact = find_impact(view, "shop/mail.py", "", 3)
    assert not impact.tests
    assert [(each.path, each.through) for each in impact.reaching_tests] == [("tests/test_pages.py", "shop/web.py")]
    assert describe_reach(impact.reaching_tests) == "no test imports it directly; 1 reaches it through web.py"
    assert not find_impact(view, "shop/cart.py", "", 3).reaching_tests
    related = {each.path: each.why for each in find_tests(view, "shop/mail.py", 0, "", 10)}
    assert related["tests/test_pages.py"] == ("reaches it through shop/web.py",)


def test_what_is_used_by_its_whole_name_is_depended_on(client: Client, tmp_path: Path) -> None:
    files = {
        "core/Cargo.toml": '[package]\nname = "shop-core"\n',
        "core/src/lib.rs": "pub mod tax;\npub use tax::rate;\n",
        "core/src/tax.rs": "pub fn rate() -> u8 { 0 }\n\nmod tests {\n    use super::*;\n}\n",
        "app/Cargo.toml": '[package]\nname = "app"\n',
        "app/src/main.rs": "fn main() {\n    shop_core::tax::rate();\n}\n",
        "app/src/passed.rs": "fn run() {\n    shop_core::rate();\n}\n",
    }
    view = _indexed(client, tmp_path, files)
    found = _dependents(view, "core/src/tax.rs")
    assert set(found) == {"core/src/lib.rs", "app/src/main.rs", "app/src/passed.rs"}
    assert found["app/src/main.rs"] == ("rate",)
