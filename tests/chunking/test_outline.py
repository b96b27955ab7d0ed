"""What a document declares: every declaration that is not local, whatever chunk it is in."""

from __future__ import annotations

import pytest

from rag_ls.model import Symbol

from .checks import outline_of
from .samples import SAMPLES, Sample

UNLISTED = {"footer", "script", "style", "template"}
"""Elements of markup that nothing names."""


def named(text: str, language: str) -> dict[str, Symbol]:
    return {symbol.name: symbol for symbol in outline_of(text, language).symbols}


def sample_of(language: str) -> str:
    return next(sample.text for sample in SAMPLES if sample.language == language)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_declarations_are_listed(sample: Sample, end: str) -> None:
    assert set(sample.symbols) - UNLISTED <= set(named(sample.text.replace("\n", end), sample.language))


def test_small_declarations_in_one_chunk_are_all_listed() -> None:
    text = "class A:\n    x = 1\n    def f(self): return 1\n    def g(self): return 2\n\ndef h(): return 3\nY, Z = 1, 2\nW = 3\n"
    assert list(named(text, "python")) == ["A", "A.x", "A.f", "A.g", "h", "W"]


def test_a_symbol_has_its_lines_signature_and_doc() -> None:
    text = 'import a\n\n\n# About it.\n@cache\ndef first(x: int) -> int:\n    """Doc."""\n    return x\n\n\n# Not about it.\n\nY = 1\n'
    first, y = outline_of(text, "python").symbols
    assert first == Symbol("first", "function", 6, 8, "def first(x: int) -> int", "Doc.", True)
    assert y == Symbol("Y", "value", 13, 13, "Y = 1", "", True)


def test_a_comment_before_a_declaration_is_its_doc_and_one_beside_another_is_not() -> None:
    symbols = named("int a; // the first\nint b;\n\n// Adds.\n// More.\nint add(int x) { return x; }\n", "c")
    assert symbols["b"].doc == ""
    assert symbols["add"].doc == "Adds. More."


LOCALS = {
    "python": "def f():\n    x = 1\n    def g(): pass\n    class C: pass\nif A:\n    y = 2\n    def h(): pass\n",
    "javascript": "function f() { const x = 1; function g() {} }\nconst y = run(() => { function z() {} });\nif (a) { function h() {} }\n",
    "go": "package m\nfunc f() { x := 1; var z = 2 }\nvar y = 1\ntype h int\n",
    "rust": "fn f() { fn g() {} const X: i32 = 1; }\nconst y: i32 = 2;\nstruct h;\n",
    "lua": "function f() local x = 1\n local function g() end end\ny = 1\nfunction h() end\n",
    "julia": "function f()\n g(x) = 1\nend\nconst y = 1\nh(x) = 2\n",
}


@pytest.mark.parametrize("language", LOCALS)
def test_what_is_local_to_a_function_is_not_listed(language: str) -> None:
    assert set(named(LOCALS[language], language)) == {"f", "y", "h"}


def test_a_module_written_as_a_function_that_is_called_at_once_lists_its_functions() -> None:
    symbols = named("(function () {\n  var hidden = 1;\n  function shown() {}\n})();\n", "javascript")
    assert set(symbols) == {"shown"}


def test_members_of_an_object_are_listed() -> None:
    symbols = named("export const api = {\n  get() {},\n  put: (x) => x,\n  size: 1,\n};\n", "javascript")
    assert list(symbols) == ["api", "api.get", "api.put"]
    assert all(symbol.exported for symbol in symbols.values())


def test_values_written_twice_are_listed_once() -> None:
    assert [symbol.name for symbol in outline_of("x = 1\nx = 2\n", "python").symbols] == ["x"]


def test_clauses_of_one_function_are_one_symbol() -> None:
    (symbol,) = outline_of("f :: Int -> Int\nf 0 = 1\nf n = n\n", "haskell").symbols
    assert (symbol.name, symbol.start_line, symbol.end_line) == ("f", 1, 3)


def test_a_body_that_the_grammar_leaves_beside_its_head_belongs_to_the_symbol() -> None:
    symbols = named("int f(int x) {\n  var y = 1;\n  return x;\n}\nint z = 1;\n", "dart")
    assert symbols["f"].end_line == 4


EXPORTED = {
    "python": (
        "def a(): pass\nclass B:\n def _p(self): pass\n def __init__(self): pass\n def q(self): pass\n_c = 1\n",
        "a B B.__init__ B.q",
    ),
    "javascript": (
        "export function a() {}\nfunction b() {}\nconst c = 1, d = 2;\nexport { b, c as e };\nclass F {g() {}}\n",
        "a b c",
    ),
    "typescript": (
        "export class A { b() {} private c() {} #d = 1 }\ninterface E { f: 1 }\nexport default g;\nfunction g() {}\n",
        "A A.b g",
    ),
    "go": ("package m\nfunc A() {}\nfunc b() {}\nfunc (c *C) D() {}\nfunc (c *C) e() {}\n", "A C.D"),
    "rust": (
        "pub fn a() {}\nfn b() {}\npub struct C;\nimpl C { pub fn d() {} fn e() {} }\n"
        "impl F for C { fn g() {} }\npub trait H { fn i(); }\n",
        "a C C.d C.g H H.i",
    ),
    "java": ("class A { private int b; int c; @X(private = 1) void d() {} }\n", "A A.c A.d"),
    "csharp": ("class A { private int b; public int c; [X(1)] private void d() {} }\n", "A A.c"),
    "kotlin": ("class A { private val b = 1\n fun c() {} }\nprivate fun d() {}\n", "A A.c"),
    "swift": ("class A { private var b = 1\n private(set) var c = 2 }\nfileprivate func d() {}\n", "A A.c"),
    "c": ("static int a(void) { return 1; }\nint b(void) { return 1; }\nstatic int c;\n", "b"),
    "cpp": ("class A { static int b(); };\nstatic int c() { return 1; }\n", "A A.b"),
    "zig": ("pub fn a() void {}\nfn b() void {}\n", "a"),
    "lua": ("function a() end\nlocal function b() end\n", "a"),
    "elixir": ("defmodule A do\n  def b, do: 1\n  defp c, do: 2\nend\n", "A A.b"),
}


@pytest.mark.parametrize("language", EXPORTED)
def test_what_a_module_offers_is_known_by_its_syntax(language: str) -> None:
    text, expected = EXPORTED[language]
    assert [name for name, symbol in named(text, language).items() if symbol.exported] == expected.split()


def test_what_is_declared_for_a_reference_belongs_to_the_type_behind_it() -> None:
    text = "impl Pay for &'_ mut Cart<A> {\n    fn total() {}\n}\nimpl Pay for *const a::Cart { fn size() {} }\n"
    assert list(named(text, "rust")) == ["Cart.total", "a.Cart.size"]


def test_what_commonjs_offers_is_known() -> None:
    text = "function a() {}\nfunction b() {}\nexports.c = function () {};\nmodule.exports = { a };\n"
    symbols = named(text, "javascript")
    assert {name: symbol.exported for name, symbol in symbols.items()} == {"a": True, "b": False, "exports.c": True}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "rst",
            "Top\n===\n\ntext\n\nOne\n---\n\nmore\n\nTwo\n---\nx\n",
            [("Top", 1), ("Top > One", 6), ("Top > Two", 11)],
        ),
        ("asciidoc", "= A\n\n== B\n\ntext\n", [("A", 1), ("A > B", 3)]),
        ("org", "* A\n** B\ntext\n* C\n", [("A", 1), ("A > B", 2), ("C", 4)]),
        ("latex", "\\section{A}\nx\n\\subsection{B}\n", [("A", 1), ("A > B", 3)]),
        ("markdown", "# A\n\n## B\n\ntext\n", [("A", 1), ("A > B", 3)]),
    ],
)
def test_headings_are_sections(language: str, text: str, expected: list[tuple[str, int]]) -> None:
    symbols = outline_of(text, language).symbols
    assert [(symbol.name, symbol.start_line) for symbol in symbols] == expected
    assert {symbol.kind for symbol in symbols} == {"section"}


def test_a_section_ends_before_the_next_one_of_its_level() -> None:
    symbols = named("A\n=\n\n===\nTop\n===\n\nOne\n---\nx\n\nTwo\n---\ny\n", "rst")
    assert symbols["Top"].end_line == 14
    assert symbols["Top > One"].end_line == 11


def test_data_is_listed_two_levels_deep() -> None:
    assert list(named('{"a": {"b": {"c": 1}}, "d": [{"e": 1}, {"e": 2}]}', "json")) == ["a", "a.b", "d", "d.e"]


def test_the_empty_text_has_no_outline() -> None:
    assert outline_of("", "python").symbols == ()
