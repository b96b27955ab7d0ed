"""An import knows which members of its module the document uses, and its other names."""

from __future__ import annotations

import pytest

from rag_ls.chunking import Budget, approximate_token_offsets, cut, outline_of_document
from rag_ls.model import Import


def _imports(text: str, language: str) -> list[Import]:
    return list(
        cut(text, "x", language=language, budget=Budget(), token_offsets=approximate_token_offsets).outline.imports
    )


def _own_names(text: str, language: str) -> tuple[str, ...]:
    return cut(text, "x", language=language, budget=Budget(), token_offsets=approximate_token_offsets).outline.own_names


@pytest.mark.parametrize(
    ("language", "text", "uses"),
    [
        ("python", "import shop.cart as c\nc.total(1)\nc.Cart()\n", ("total", "Cart")),
        ("python", "import shop.cart\nshop.cart.total(1)\n", ("total",)),
        ("python", "from shop import cart\ncart.total(1)\n", ("cart.total",)),
        ("go", 'package a\nimport "example.org/shop/cart"\nfunc f() { cart.Total(cart.New()) }\n', ("Total", "New")),
        ("go", 'package a\nimport kit "example.org/shop/cart"\nvar x = kit.New()\n', ("New",)),
        ("go", 'package a\nimport "gopkg.in/yaml.v3"\nvar x = yaml.Marshal\n', ("Marshal",)),
        ("typescript", "import * as cart from './cart'\ncart.total(1)\n", ("total",)),
        ("javascript", "const cart = require('./cart')\ncart.total(1)\n", ("total",)),
        ("rust", "use crate::shop::cart;\nfn f() { cart::total(); }\n", ("total",)),
    ],
)
def test_the_members_that_are_used_are_read(language: str, text: str, uses: tuple[str, ...]) -> None:
    (found,) = _imports(text, language)
    assert found.uses == uses


def test_names_that_are_taken_out_of_a_required_module_are_its_names() -> None:
    (found,) = _imports("const { total, tax: vat } = require('./cart')\n", "javascript")
    assert found.names == ("total", "tax")


@pytest.mark.parametrize(
    ("text", "aliases"),
    [
        ("export { default as Button } from './Button'\n", (("default", "Button"),)),
        ("export { default } from './Button'\n", ()),
        ("import Button from './Button'\n", (("default", "Button"),)),
        ("import { a as b, c } from './x'\n", (("a", "b"),)),
    ],
)
def test_another_name_of_an_imported_name_is_read(text: str, aliases: tuple[tuple[str, str], ...]) -> None:
    (found,) = _imports(text, "typescript")
    assert found.aliases == aliases


def test_a_go_file_uses_names_of_its_own_package() -> None:
    text = (
        "package shop\n\n// Total is explained by Comment.\nfunc (c Cart) Total(tax Rate) int {\n"
        '\tlocal := Discount("Quoted")\n\treturn sum(local, c.items) + Cart{Field: Limit}.n\n}\n'
        "type Priced interface {\n\tPrice() Money\n}\ntype Box struct {\n\tWidth Size\n}\n"
    )
    used = set(_own_names(text, "go"))
    assert used >= {"Cart", "Rate", "Discount", "sum", "Limit", "Money", "Size"}
    assert not used & {"Comment", "Quoted", "local", "items", "Total", "Field", "Price", "Width"}


def test_a_java_file_uses_types_of_its_own_package() -> None:
    text = "package shop;\n/* Comment */\nclass Cart { Rate rate; void add(Item item) { item.Other(); } }\n"
    used = set(_own_names(text, "java"))
    assert used >= {"Rate", "Item"}
    assert "Comment" not in used


def test_python_names_are_read_only_beside_a_star_import() -> None:
    assert "total" in _own_names("from cart import *\nprint(total)\n", "python")
    assert _own_names("from cart import total\nprint(total)\n", "python") == ()


def test_the_longest_name_before_a_member_is_the_one_that_is_used() -> None:
    text = "import shop\nimport shop.cart as c\nimport shop.tax.vat\nshop.tax.vat.rate()\nshop.open()\nc . add()\nabc.no\nx.c.no\n"
    assert [found.uses for found in _imports(text, "python")] == [("cart", "tax", "open"), ("add",), ("rate",)]


_WHOLE = {
    "rust": (
        "use crate::shop;\nmod inner {\n    use super::Cart;\n    fn f() { super::total(); }\n}\n"
        "/// Not `mail::send` of a comment.\n#[derive(serde::Serialize)]\n"
        "fn run(kind: Kind) -> crate::tax::Rate {\n    settings::Settings::load();\n    settings::open();\n    shop::vat::rate();\n"
        '    shop::close();\n    inner::f();\n    println!("audit::log");\n    u8::from(Kind::Old);\n    Vec::<super::Item>::new()\n}\n',
        [
            ("crate::shop", (), 1),
            ("self", (), 3),
            ("self", ("total",), 4),
            ("serde", ("Serialize",), 7),
            ("crate::tax", ("Rate",), 8),
            ("settings", ("Settings", "open"), 9),
            ("crate::shop::vat", ("rate",), 11),
            ("super", ("Item",), 16),
        ],
    ),
}


@pytest.mark.parametrize("language", sorted(_WHOLE))
def test_what_is_used_by_its_whole_name_is_imported(language: str) -> None:
    text, expected = _WHOLE[language]
    found = _imports(text, language)
    uses = {"crate::shop": ()}  # its member is known to be used, too
    assert [(each.module, uses.get(each.module, each.uses), each.line) for each in found] == expected
    assert list(outline_of_document(text, "x", language, declarations=False).imports) == found
