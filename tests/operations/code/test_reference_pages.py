"""`find_references` of a name with many uses: those that are shown are resolved, the others are counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rag_ls.engine.client import Client
from rag_ls.engine.code.references import AskedSymbol, find_references
from rag_ls.operations import Operations
from tests.operations.code.projects import index_project
from tests.support import PATIENCE_S, write

CALLS = 30
FILES = {
    "shop/cart.py": "class Cart:\n    def save(self):\n        pass\n",
    "shop/box.py": "from shop.cart import Cart\n\n\nclass Box(Cart):\n    def save(self):\n        return super().save()\n",
    "shop/other.py": "class Other:\n    def save(self):\n        pass\n",
    "docs/guide.md": "# Guide\n\nCall `save`.\n",
    # A receiver that is known, one that is not, and one that is another thing.
    **{
        f"shop/part{number:02}.py": "from shop.cart import Cart\nfrom shop.other import Other\n\n\n"
        "def run(cart: Cart, thing, other: Other):\n"
        + "    thing.save()\n    cart.save()\n    other.save()\n" * (CALLS // 3)
        + "    return thing.save\n"
        for number in range(20)
    },
}


@pytest.fixture
def shop(client: Client, tmp_path: Path) -> Client:
    """A client of a shop that saves often."""
    client.open(write(tmp_path / "shop", FILES))
    index_project(client, embeddings=False)
    return client


def _ask(client: Client, **question: Any) -> dict[str, Any]:
    return Operations(client, wait_for_model_s=PATIENCE_S).run("find_references", {"symbol": "Cart.save", **question})


def _place(reference: dict[str, Any]) -> tuple[str, str, int, int]:
    return reference["kind"], reference["path"], reference["line"], reference["column"]


@pytest.mark.slow
def test_the_pages_together_hold_each_reference_once(shop: Client) -> None:
    view = shop.projects()[0]
    whole = find_references(view, AskedSymbol("Cart.save")).references
    seen: list[dict[str, Any]] = []
    while page := _ask(shop, k=90, offset=len(seen)):
        seen += page["references"]
        if len(seen) >= page["total"]:
            break
    assert sorted(map(_place, seen)) == sorted((each.kind.value, each.path, each.line, each.column) for each in whole)
    assert (page["total"], page.get("estimated", False)) == (len(whole), False)
    sure = {_place(each): each["sure"] for each in seen}
    assert all(
        (sure[each.kind.value, each.path, each.line, each.column] == "resolved") == each.resolved for each in whole
    )


def test_what_was_not_looked_at_is_told(shop: Client) -> None:
    answer = _ask(shop, k=50)
    assert [each["kind"] for each in answer["references"][:2]] == ["definition", "call"]
    assert {each["sure"] for each in answer["references"]} == {"resolved"}
    assert answer["estimated"]
    assert "1 definition in 1 file; about 531 calls, 71 of them resolved so far" in answer["summary"]
    assert answer["summary"].endswith("about 20 mentions, not looked at yet; about 1 line of docs, not looked at yet")
    assert f"about {answer['total'] - 50} more: offset = 50 goes on" in answer["note"]


def test_a_kind_that_comes_late_needs_no_look_at_the_others(shop: Client) -> None:
    answer = _ask(shop, show="implements")
    assert [_place(each)[:3] for each in answer["references"]] == [("override", "shop/box.py", 5)]
    assert not answer.get("estimated", False)


def _type_many(client: Client, root: Path, uses: dict[str, str]) -> None:
    """A shop with thousands of uses of a key, of which those of some documents mean `Cart.size`."""
    others = {
        f"src/a{number:02}.ts": "export function run(thing: any) {\n" + "  show(thing.size);\n" * 60 + "}\n"
        for number in range(40)
    }
    cart = "export interface Cart {\n  size: number;\n}\n\nexport function findCart(): Cart {\n  return load();\n}\n"
    client.open(write(root, {"src/cart.ts": cart, **others, **uses}))
    index_project(client, embeddings=False)


def test_uses_where_the_type_is_known_come_before_thousands_that_share_the_name(client: Client, tmp_path: Path) -> None:
    uses = {
        "src/z1.ts": "import { Cart } from './cart';\n\nexport function pack(cart: Cart) {\n  return cart.size;\n}\n",
        "src/z2.ts": "import { findCart } from './cart';\n\nexport const made = () => {\n  return findCart().size;\n};\n",
    }
    _type_many(client, tmp_path / "shop", uses)
    answer = _ask(client, symbol="Cart.size", k=20)
    resolved = [each for each in answer["references"] if each["sure"] == "resolved"]
    assert [_place(each)[:3] for each in resolved] == [
        ("definition", "src/cart.ts", 2),
        ("mention", "src/z1.ts", 4),
        ("mention", "src/z2.ts", 4),
    ]
    assert len(answer["references"]) == 20
    assert (answer["estimated"], answer["total"] > 2300) == (True, True)


@pytest.mark.slow
def test_a_use_far_from_the_type_is_found_on_a_later_page(client: Client, tmp_path: Path) -> None:
    shop = "import { findCart } from './cart';\n\nexport function findShop() {\n  const cart = findCart();\n  return { cart };\n}\n"
    owned = (
        "import { Owner } from './owner';\n\nexport function look(owner: Owner) {\n  return owner.shop.cart.size;\n}\n"
    )
    uses = {
        "src/shop.ts": shop,
        "src/z1.ts": "import { Cart } from './cart';\n\nexport interface Shop {\n  cart: Cart;\n}\n",
        "src/z2.ts": "import { Shop } from './z1';\n\nexport interface Place {\n  shop: Shop;\n}\n",
        "src/z3.ts": "import { Place } from './z2';\n\nexport interface Town {\n  place: Place;\n}\n",
        "src/owner.ts": "import { Town } from './z3';\n\nexport interface Owner extends Town {\n  age: number;\n}\n",
        "src/z4.ts": owned.replace("owner.shop", "owner.place.shop"),
    }
    _type_many(client, tmp_path / "shop", uses)
    view = client.projects()[0]
    whole = find_references(view, AskedSymbol("Cart.size")).references
    seen: list[dict[str, Any]] = []
    while page := _ask(client, symbol="Cart.size", k=900, offset=len(seen)):
        seen += page["references"]
        if len(seen) >= page["total"]:
            break
    assert sorted(map(_place, seen)) == sorted((each.kind.value, each.path, each.line, each.column) for each in whole)
    assert ("mention", "src/z4.ts", 4) in {_place(each)[:3] for each in seen if each["sure"] == "resolved"}
