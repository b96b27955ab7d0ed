"""Names are read from the tree with what they do at their place: call, derive, import, mention."""

from __future__ import annotations

import pytest

from rag_ls.chunking import approximate_token_offsets, cut, read_uses
from rag_ls.languages import LANGUAGES, Role, role_of
from rag_ls.model import Use, UseKind
from tests.grammars import SYNTAXES

from .checks import SMALL
from .samples import SAMPLES, Sample


def _uses(text: str, language: str, name: str) -> list[Use]:
    found = cut(text, f"a.{language}", language=language, budget=SMALL, token_offsets=approximate_token_offsets)
    return read_uses(found.uses, {name})


@pytest.mark.parametrize(
    ("language", "text", "receiver"),
    [
        ("python", "def f(self):\n    self.store.save(1)\n", "self.store"),
        ("python", "Store(a, b).save(1)\n", "Store()"),
        ("python", "super().save(1)\n", "super()"),
        ("python", "save(1)\n", ""),
        ("python", "a[0].save(1)\n", "?"),
        ("typescript", "class A { f() { this.save(1) } }\n", "this"),
        ("typescript", "store\n  ?.save(1)\n", "store"),
        ("javascript", "const a = store.save(1)\n", "store"),
        ("java", "class A { void f() { store.save(1); } }\n", "store"),
        ("go", "package a\n\nfunc f() { store.save(1) }\n", "store"),
        ("rust", "fn f() { Store::save(1); }\n", "Store"),
        ("c", "void f() { store->save(1); }\n", "store"),
        ("cpp", "void f() { ns::save(1); }\n", "ns"),
        ("csharp", "class A { void F() { store.save(1); } }\n", "store"),
        ("ruby", "store.save(1)\n", "store"),
        ("php", "<?php\n$this->save(1);\n", "this"),
        ("kotlin", "fun f() { store.save(1) }\n", "store"),
        ("swift", "func f() { store.save(1) }\n", "store"),
        ("scala", "def f() = store.save(1)\n", "store"),
        ("lua", "store.save(1)\n", "store"),
        ("dart", "void f() { store.save(1); }\n", "store"),
        ("zig", "fn f() void { store.save(1); }\n", "store"),
    ],
)
def test_a_call_is_known_with_its_receiver(language: str, text: str, receiver: str) -> None:
    (use,) = _uses(text, language, "save")
    assert (use.kind, use.receiver) == (UseKind.CALL, receiver)
    line = text.splitlines()[use.line - 1]
    assert line.encode()[use.column :].startswith(b"save")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "class A(Base, b.C[int]):\n    pass\n"),
        ("typescript", "class A extends Base implements I<T> {}\n"),
        ("javascript", "class A extends Base {}\n"),
        ("java", "class A extends Base<T> implements I {}\n"),
        ("cpp", "class A : public Base {};\n"),
        ("csharp", "class A : Base, I<T> {}\n"),
        ("go", "package a\n\ntype A struct {\n\tBase\n}\n"),
        ("rust", "impl Base for A {}\n"),
        ("kotlin", "class A : Base(), I\n"),
        ("swift", "class A: Base {}\n"),
        ("scala", "class A extends Base\n"),
        ("php", "<?php\nclass A extends Base {}\n"),
        ("ruby", "class A < Base\nend\n"),
    ],
)
def test_a_base_class_is_known(language: str, text: str) -> None:
    assert [use.kind for use in _uses(text, language, "Base")] == [UseKind.IMPLEMENT]


def test_imports_texts_and_labels_are_told_apart() -> None:
    text = "from a import save\n\n# save\nx = 'save'\nf(save=1)\ny = f'{save}'\n"
    assert [(use.kind, use.line) for use in _uses(text, "python", "save")] == [
        (UseKind.IMPORT, 1),
        (UseKind.MENTION, 6),
    ]


def test_a_column_counts_bytes_and_a_name_may_have_any_letters() -> None:
    (use,) = _uses("é = größe\n", "python", "größe")
    assert (use.line, use.column) == (1, 5)


def test_scripts_in_markup_are_read_in_their_own_language() -> None:
    text = "<template><p>save</p></template>\n<script lang='ts'>\n" + "store.save(1)\n" * 60 + "</script>\n"
    assert {use.kind for use in _uses(text, "vue", "save")} == {UseKind.CALL}


@pytest.mark.parametrize("sample", [each for each in SAMPLES if each.language in SYNTAXES], ids=lambda each: each.path)
def test_every_language_of_code_gives_names(sample: Sample) -> None:
    known = LANGUAGES[sample.language]
    found = cut(
        sample.text, sample.path, language=sample.language, budget=SMALL, token_offsets=approximate_token_offsets
    )
    if known.references is not None:
        assert read_uses(found.uses)
    elif role_of(sample.language) is Role.CODE and not known.is_markup:
        assert sample.language in ("dockerfile", "make")


def test_bare_names_are_calls_in_ruby_unless_a_variable_has_them() -> None:
    text = (
        "def show(story, page: 1)\n  total = count\n  save! if total > page\n"
        "  items.each { |item| item + total + later; later = 1 }\n  later\nrescue Failed => error\n  log error\nend\n"
    )
    names = "count total page items item later save! error story log show".split()
    calls = {name: [use.line for use in _uses(text, "ruby", name) if use.kind == UseKind.CALL] for name in names}
    # A variable of a block is none after it.
    assert {name: lines for name, lines in calls.items() if lines} == {
        "count": [2],
        "items": [4],
        "later": [4, 5],
        "save!": [3],
        "log": [7],
    }


def test_symbols_and_texts_that_name_methods_are_uses_in_ruby() -> None:
    text = (
        "class A\n  before_action :load, only: [:load], if: :load\n  story.send(:load)\n"
        'end\nget "/a" => "stories#load"\nrender action: "load"\nputs "load", load: 1\n'
    )
    assert [(use.line, use.receiver) for use in _uses(text, "ruby", "load")] == [
        (2, "?"), (2, "?"), (2, "?"), (3, "?"), (5, "?"), (6, "?"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("language", "text", "lines"),
    [
        ("erb", "<p>save</p>\n<% if a %>\n<%= save(\n b) -%>\n<%# save %>\n<%= store.save %>\n", [3, 6]),
        ("haml", "%p save\n%a{href: save(1)}= store.save\n- if save\n  Has #{save}\n", [2, 2, 3, 4]),
        ("slim", "p save\na href=save(1) = store.save\n- if save\n  | Has #{save}\n", [2, 2, 3, 4]),
        ("eex", "<p>save</p>\n<%= save(1) %>\n<.button go={save(2)} />\n", [2, 3]),
        ("ejs", "<p>save</p>\n<%- save(1) %>\n", [2]),
    ],
)
def test_the_code_of_templates_is_read_and_not_their_text(language: str, text: str, lines: list[int]) -> None:
    uses = _uses(text, language, "save")
    assert [use.line for use in uses] == lines
    assert {use.kind for use in uses} == {UseKind.CALL}


def test_calls_in_what_a_macro_takes_are_calls() -> None:
    text = "fn f() {\n    assert_eq!(store.save(1), vec![save(2)], save);\n}\n"
    assert [(use.kind, use.receiver) for use in _uses(text, "rust", "save")] == [
        (UseKind.CALL, "store"), (UseKind.CALL, ""), (UseKind.MENTION, ""),
    ]  # fmt: skip
    typed = "fn f() {\n    assert_eq!(world.get::<Save<u8>>(1), get::<Save>::new());\n}\n"
    assert [use.kind for use in _uses(typed, "rust", "get")] == [UseKind.CALL, UseKind.MENTION]


def test_the_mark_at_the_end_of_a_tag_is_no_code() -> None:
    assert _uses("<% items.each do |item| -%>\n<%= save(item) -%>\n<% end -%>\n", "erb", "") == []
    assert [use.line for use in _uses("<% if (a) { -%>\n<%_ save(1) _%>\n<% } -%>\n", "ejs", "save")] == [2]


def test_a_name_after_a_class_that_begins_the_file_is_a_call_in_ruby() -> None:
    text = "class A\n  later = 1\nend\nlater\n"
    assert [use.line for use in _uses(text, "ruby", "later") if use.kind == UseKind.CALL] == [4]


def test_the_head_of_a_function_and_its_specification_call_nothing_in_elixir() -> None:
    text = (
        "defmodule Cart do\n  @spec total(t(), integer()) :: integer() when x: var\n"
        "  def total(cart, tax \\\\ total())\n  def total([], _), do: 0\n"
        "  defp total([head | tail]) when is_list(tail), do: total(tail)\n  @limit total(1)\n  def bare, do: total()\nend\n"
    )
    uses = _uses(text, "elixir", "total")
    assert [each.line for each in uses if each.kind is UseKind.MENTION] == [2, 3, 4, 5]
    assert [(each.line, each.column) for each in uses if each.kind is UseKind.CALL] == [
        (3, 25),
        (5, 52),
        (6, 9),
        (7, 16),
    ]


def test_the_same_text_gives_the_same_uses() -> None:
    # In Kotlin's grammar, a name of several parts begins where the first of them does.
    text = "".join(f"import shop.part{number}.Cart{number}\n" for number in range(20))
    cuts = [
        cut(text, "a.kt", language="kotlin", budget=SMALL, token_offsets=approximate_token_offsets) for _ in range(8)
    ]
    found = {each.uses for each in cuts}
    assert len(found) == 1
    assert read_uses(found.pop(), {"shop"})
