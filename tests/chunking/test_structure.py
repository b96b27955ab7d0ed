"""How declarations become chunks: what stands alone, what is split, what is merged."""

from __future__ import annotations

import numpy as np
import pytest

from rag_ls.chunking import Budget, approximate_token_offsets, cut, embedding_text
from rag_ls.model import Chunk
from tests.grammars import SYNTAXES

from .checks import MEDIUM, SMALL, chunks_of
from .samples import SAMPLES


def of(chunks: list[Chunk], symbol: str) -> list[Chunk]:
    return [chunk for chunk in chunks if chunk.symbol == symbol]


def lines(count: int, indent: str = "    ") -> str:
    return "".join(f"{indent}value_{n} = compute(value_{n}, {n})\n" for n in range(count))


CLASS = f'''class Session(Base):
    """A session.

    More about it.
    """

    lifetime: int = 3600

    # Not to be called twice.
    @retry(times=3)
    def refresh(self, now):
        """Move the end."""
{lines(4, "        ")}
    def close(self):
{lines(4, "        ")}'''


def test_a_large_class_has_a_head_and_its_methods() -> None:
    chunks = chunks_of(CLASS, "python", MEDIUM)
    assert [chunk.symbol for chunk in chunks] == ["Session", "Session.refresh", "Session.close"]
    head, refresh, _ = chunks
    assert head.is_declaration
    assert head.node_type == "class_definition"
    assert head.signature == "class Session(Base)"
    assert head.doc == "A session."
    assert "lifetime" in head.text
    assert refresh.signature == "def refresh(self, now)"
    assert refresh.doc == "Move the end."
    assert refresh.parent_types == ("module", "class_definition", "block", "decorated_definition")
    assert refresh.depth == 4
    assert not any(chunk.overlap for chunk in chunks)


def test_comments_and_decorators_belong_to_the_declaration_after_them() -> None:
    chunks = chunks_of(CLASS, "python", MEDIUM)
    assert of(chunks, "Session.refresh")[0].text.startswith("    # Not to be called twice.\n    @retry")


def test_a_class_within_the_budget_is_one_chunk() -> None:
    chunks = chunks_of("class A:\n    def b(self):\n        return 1\n\n    def c(self):\n        return 2\n", "python")
    assert [chunk.symbol for chunk in chunks_of("class A:\n    x = 1\n", "python")] == ["A"]
    assert [chunk.symbol for chunk in chunks] == ["A"]


def test_a_large_function_goes_on_with_overlap() -> None:
    chunks = chunks_of("def before():\n    pass\n\n\ndef long(a, b):\n" + lines(40), "python", Budget(100, 20, 30))
    first, *others = of(chunks, "long")
    assert first.is_declaration
    assert len(others) >= 3
    for former, chunk in zip([first, *others], others, strict=False):
        assert not chunk.is_declaration
        assert chunk.signature == "def long(a, b)"
        assert chunk.text.startswith("    value_")
        assert chunk.overlap
        assert chunk.overlap.startswith("    value_")
        assert former.text.endswith(chunk.overlap)


def test_the_overlap_does_not_reach_into_the_declaration_before() -> None:
    text = "def first():\n" + lines(3) + "\ndef second():\n" + lines(3) + "\n\nif main:\n" + lines(30)
    for chunk in chunks_of(text, "python", Budget(60, 10, 50)):
        assert "def " not in chunk.overlap
        if chunk.is_declaration:
            assert chunk.overlap == ""


def test_a_nested_function_has_a_qualified_name() -> None:
    text = "def outer():\n" + lines(8) + "\n    def inner(x):\n" + lines(6, "        ") + "\n    return inner\n"
    assert "outer.inner" in {chunk.symbol for chunk in chunks_of(text, "python", MEDIUM)}


def test_sizeable_declarations_stand_alone_and_small_ones_merge() -> None:
    text = "A = 1\nB = 2\nC = 3\n\n\ndef f(a):\n" + lines(3) + "\n\ndef g(a):\n" + lines(3)
    chunks = chunks_of(text, "python", MEDIUM)
    assert [(chunk.symbol, chunk.is_declaration) for chunk in chunks if "def" in chunk.text] == [
        ("f", True),
        ("g", True),
    ]
    getters = "".join(f"    int get{n}() {{ return {n}; }}\n" for n in range(30))
    chunks = chunks_of("class Many {\n" + getters + "}\n", "java", MEDIUM)
    assert len(chunks) <= 5
    assert [(chunk.symbol, chunk.is_declaration) for chunk in chunks[:2]] == [("Many", True), ("Many", False)]


def test_overloads_of_one_name_stay_together() -> None:
    text = "refresh :: Int -> Session -> Session\nrefresh 0 session = session\nrefresh now session = go now session\n"
    assert [chunk.symbol for chunk in chunks_of(text, "haskell", Budget(100, 4, 4))] == ["refresh"]


BROKEN = """def before(a):
    x = compute(a, 1)
    return combine(x, a)


def broken(a:
    return ((a + ) * [3
    class = 7


def after(a):
    y = compute(a, 2)
    return combine(y, a)
"""


def test_a_syntax_error_costs_only_the_structure_around_it() -> None:
    symbols = {chunk.symbol for chunk in chunks_of(BROKEN, "python", Budget(60, 10, 5))}
    assert {"before", "after"} <= symbols


UNFINISHED = {
    "python": "def unfinished(a):\n    value = compute(a, [1\n",
    "javascript": "function unfinished(a) {\n  if (a) {\n    compute(a, [1\n",
    "typescript": "function unfinished(a: number) {\n  compute(a, {b: [1\n",
    "go": "func unfinished(a int) {\n\tcompute(a, []int{1\n",
    "rust": "fn unfinished(a: i64) {\n    compute(a, vec![1\n",
    "c": "int unfinished(int a)\n{\n    compute(a, (1\n",
    "lua": "function unfinished(a)\n  if a then compute(a, {1\n",
    "kotlin": "fun unfinished(a: Int) {\n    compute(a, listOf(1\n",
    "r": "unfinished <- function(a) {\n  compute(a, c(1\n",
}


@pytest.mark.parametrize("language", UNFINISHED)
def test_a_declaration_being_typed_does_not_swallow_those_after_it(language: str) -> None:
    sample = next(sample for sample in SAMPLES if sample.language == language)
    text = sample.text + "\n" + UNFINISHED[language] + "\n" + sample.text
    tail = len((sample.text + "\n" + UNFINISHED[language]).encode())
    chunks = chunks_of(text, language, MEDIUM)
    before = {chunk.symbol for chunk in chunks if chunk.start_byte < tail}
    after = {chunk.symbol for chunk in chunks if chunk.start_byte >= tail}
    expected = set(sample.symbols) - {"DEFAULTS"}  # a constant may merge with what is before it
    assert expected <= before
    assert expected <= after


def test_a_comment_that_the_grammar_gives_to_the_import_before_is_the_class_s() -> None:
    text = "import a.b.C\n\n/** Doc of it. */\nclass Foo {\n    fun bar(x: Int): Int { return compute(x, 1, 2) }\n}\n"
    chunk = of(chunks_of(text, "kotlin", Budget(60, 12, 5)), "Foo")[0]
    assert chunk.doc == "Doc of it."


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zig", "const std = 1;\n\n/// Doc of it.\npub fn foo() void {}\n"),
        ("haskell", "module A where\n\n-- | Doc of it.\nfoo :: Int\nfoo = 1\n"),
        ("powershell", "# Doc of it.\nfunction foo {\n  1\n}\n"),
        ("powershell", "<#\n.SYNOPSIS\nDoc of it.\n.DESCRIPTION\nMore.\n#>\nfunction foo {\n  1\n}\n"),
        ("hcl", "# Doc of it.\nfoo = 1\n"),
        ("c", "/** @brief Doc of it.\n *  @param n a number\n */\nint foo(int n) { return n; }\n"),
        ("cpp", "/// \\brief Doc of it.\n/// \\param n a number\nint foo(int n) { return n; }\n"),
        ("javascript", "/**\n * @description Doc of it.\n * @returns {number}\n */\nfunction foo() { return 1 }\n"),
        ("erlang", "%% @doc Doc of it.\n-spec foo() -> integer().\nfoo() -> 1.\n"),
        ("solidity", "/// @notice Doc of it.\ncontract foo {}\n"),
        ("clojure", '(ns a)\n\n(defn ^String foo\n  "Doc of it."\n  [a] "b")\n'),
        ("clojure", '(ns a)\n\n;; Doc of it.\n#?(:clj 1)\n;; Doc of it.\n(def foo "no doc")\n'),
        ("graphql", '"""\nDoc of it.\n"""\ntype foo { a: Int }\n'),
        ("graphql", '# A comment.\n"Doc of it."\nenum foo { A }\n'),
    ],
)
def test_a_declaration_has_the_documentation_above_it(language: str, text: str) -> None:
    cut_text = cut(text, "a", language=language, budget=Budget(60, 4, 4), token_offsets=approximate_token_offsets)
    (chunk,) = (each for each in cut_text.chunks if each.is_declaration and each.symbol == "foo")
    (symbol,) = (each for each in cut_text.outline.symbols if each.name == "foo")
    assert chunk.doc == symbol.doc == "Doc of it."
    assert "Doc of it." in chunk.text


def test_markdown_sections_are_named_by_their_headings() -> None:
    text = "# A\n\n" + "A sentence that is here. " * 40 + "\n\n## C\n\n" + "More. " * 30
    chunks = chunks_of(text, "markdown", MEDIUM)
    assert "A > C" in {chunk.symbol for chunk in chunks}
    pieces = of(chunks, "A")
    assert len(pieces) > 1
    assert all(chunk.text.rstrip().endswith(".") for chunk in pieces)


def test_text_is_cut_at_paragraphs() -> None:
    text = "".join(f"Paragraph {n} says something. It says it twice.\nAnd goes on.\n\n" for n in range(20))
    chunks = chunks_of(text, "text", MEDIUM)
    assert len(chunks) > 2
    assert all(chunk.text.startswith("Paragraph") for chunk in chunks)


def test_unknown_languages_get_windows_of_lines_with_overlap() -> None:
    chunks = chunks_of("".join(f"key{n} value{n}\n" for n in range(200)), None, MEDIUM)
    assert {chunk.language for chunk in chunks} == {"text"}
    assert all(chunk.text.startswith("key") for chunk in chunks)
    assert all(chunk.overlap.startswith("key") for chunk in chunks[1:])


def test_a_blob_of_one_token_is_bounded_by_its_bytes() -> None:
    def one_token(text: str):
        return np.zeros(1, dtype=np.int64)

    from rag_ls.chunking import chunk_text

    chunks = chunk_text("A" * 10_000, "x", language="python", budget=SMALL, token_offsets=one_token)
    assert max(len(chunk.text) for chunk in chunks) <= 16 * SMALL.max_tokens


def test_what_is_embedded_names_the_scope_and_the_signature_once() -> None:
    chunks = chunks_of(CLASS.replace("    def close", lines(20, "        ") + "    def close"), "python", MEDIUM)
    first, second, *_ = of(chunks, "Session.refresh")
    assert embedding_text(first) == "Session\n" + first.text
    assert embedding_text(second) == "Session.refresh > def refresh(self, now)\n" + second.overlap + second.text


@pytest.mark.parametrize("language", sorted(SYNTAXES))
def test_signatures_and_docs_are_single_short_lines(language: str) -> None:
    sample = next(sample for sample in SAMPLES if sample.language == language)
    for chunk in chunks_of(sample.text, language, MEDIUM):
        assert len(chunk.signature) <= 200
        assert len(chunk.doc) <= 300
        assert "\n" not in chunk.signature + chunk.doc


@pytest.mark.parametrize(
    ("language", "symbol", "signature", "doc"),
    [
        ("javascript", "Cart", "export class Cart", "A shopping cart."),
        ("typescript", "MemoryStore.get", "async get(key: string): Promise<T | undefined>", ""),
        (
            "go",
            "Session.Refresh",
            "func (s *Session) Refresh(now time.Time) error",
            "Refresh moves the end further away.",
        ),
        ("rust", "Error", "pub enum Error", "What can go wrong."),
        ("java", "Session.refresh", None, "Moves the end further away."),
        ("csharp", "Session.Refresh", "public void Refresh(TimeSpan lifetime)", "Moves the end further away."),
        ("elixir", "MyApp.Auth.Session.refresh", None, "Moves the end further away."),
        ("lua", "Session.refresh", "function Session:refresh(now)", "Moves the end further away."),
        ("ocaml", "refresh", "let refresh session now", "Moves the end further away."),
        ("julia", "Auth.Session", "mutable struct Session", "A signed-in user's session."),
        ("css", ".button:hover, .button:focus", None, "What the pointer is on."),
        ("sql", "users", None, "People who can sign in."),
    ],
)
def test_signature_and_doc_are_read(language: str, symbol: str, signature: str | None, doc: str) -> None:
    sample = next(sample for sample in SAMPLES if sample.language == language)
    chunk = of(chunks_of(sample.text, language, MEDIUM), symbol)[0]
    assert chunk.is_declaration
    assert chunk.doc == doc
    if signature is not None:
        assert chunk.signature == signature


def test_approximate_tokens_are_ascending_starts_of_characters() -> None:
    for text in ["", "  ", "abc défgh 漢字 \U0001f600 foo_bar(x)", "\ud800x"]:
        offsets = approximate_token_offsets(text)
        data = text.encode("utf-8", "surrogatepass")
        assert offsets.dtype == np.int64
        assert np.all(np.diff(offsets) > 0)
        assert all(data[offset] & 0xC0 != 0x80 for offset in offsets)


@pytest.mark.parametrize("sizes", [(0, 0, 0), (10, 11, 0), (10, 5, 11), (10, -1, 0)])
def test_an_impossible_budget_is_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="tokens"):
        Budget(*sizes)


def test_a_doc_comment_above_a_blank_line_is_the_function_s_and_other_comments_are_not() -> None:
    doc = "  /**\n   * Returns the wombat of the response, as it was set by the last middleware in the row.\n   */\n"
    text = (
        f"module.exports = {{\n{doc}\n  get wombat () {{\n    return this.state.wombat || this.request.wombat\n  }},\n\n"
        "  // Here the setters begin, each of them with a check of what it is given by its caller.\n\n"
        "  set giraffe (value) {\n    this.state.giraffe = this.request.giraffe = value\n  }\n}\n"
    )
    chunks = chunks_of(text, "javascript", Budget(60, 10, 0))
    (wombat,), (giraffe,) = of(chunks, "wombat"), of(chunks, "giraffe")
    assert (doc in wombat.text, wombat.doc) == (
        True,
        "Returns the wombat of the response, as it was set by the last middleware in the row.",
    )
    assert giraffe.doc == ""
    two_lines = text.replace("*/\n\n", "*/\n\n\n")
    assert of(chunks_of(two_lines, "javascript", Budget(60, 10, 0)), "wombat")[0].doc == ""


@pytest.mark.parametrize(
    ("language", "head", "code"),
    [
        ("javascript", "/**\n * Copyright 2020 Wombats Inc. All rights reserved.\n */", "function dig() { return 1 }"),
        ("c", "/** @file dig.c How wombats dig their holes. */", "static int dig(int a) {\n  return a;\n}"),
        ("php", "<?php\n/**\n * Wombats.\n *\n * @package Wombats\n */", "class dig {\n  public $hole;\n}"),
    ],
)
def test_what_the_first_comment_says_of_the_file_is_no_documentation_of_the_function_below(
    language: str, head: str, code: str
) -> None:
    chunks = chunks_of(f"{head}\n\n{code}\n", language, Budget(60, 5, 0))
    assert [(chunk.doc, "*/" in chunk.text) for chunk in of(chunks, "dig")] == [("", False)]
    documented = chunks_of(f"{head}\n\n/** Digs a hole. */\n\n{code}\n", language, Budget(60, 5, 0))
    assert [chunk.doc for chunk in of(documented, "dig")] == ["Digs a hole."]
