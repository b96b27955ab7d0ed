"""Prints of code: comments and formatting do not count, every other token does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.memory.fingerprints import code_tokens, fingerprint_code, fingerprint_line, similarity

_PYTHON = (
    'def total(items, rate):\n    """Sum them."""\n    if items:\n        return sum(items) * rate\n    return 0\n'
)


def _exact(text: str, language: str = "python") -> str:
    return fingerprint_code(text, language).exact


@pytest.mark.parametrize(
    "reformatted",
    [
        _PYTHON + "\n\n",
        _PYTHON.replace("    if items:", "    # Nothing costs nothing.\n\n    if items:  # really"),
        _PYTHON.replace("(items, rate)", "(\n    items,\n    rate,\n)"),
        "\n".join("  " + line if line else line for line in _PYTHON.split("\n")),
        _PYTHON.replace("    ", "  "),
        _PYTHON.replace("sum(items) * rate", "sum(items) \\\n            * rate"),
    ],
)
def test_comments_and_formatting_do_not_count(reformatted: str) -> None:
    assert _exact(reformatted) == _exact(_PYTHON)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if items", "if not items"), ("sum(items)", "sum[items]"), ("* rate", "/ rate"), ("return 0", "return 1"),
        ("return 0", "return 0.0"), ("Sum them", "Add them"), ("    return 0\n", "        return 0\n"), (", rate)", ", *rate)"),
        ("def total", "async def total"),
    ],
)  # fmt: skip
def test_every_other_token_counts(before: str, after: str) -> None:
    assert before in _PYTHON
    assert _exact(_PYTHON.replace(before, after)) != _exact(_PYTHON)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("javascript", "f('a', 1); // note", 'f("a",\n  1);\n/* more\n */'),
        ("go", "x := []int{\n\t1, // one\n\t2,\n}", "x := []int{1, 2}"),
        ("rust", "fn f<'a>(x: &'a str) -> &'a str { x } // it's x", "fn f<'a>(x: &'a str) -> &'a str {\n    x\n}"),
        ("sql", "SELECT a -- the first\nFROM t", "SELECT a FROM t"),
        ("html", "<p>a</p><!-- b -->", "<p>a</p>"),
        ("ruby", "puts '#{x}' # x", 'puts "#{x}"'),
        ("c", 'char *url = "http://x"; /* y */', 'char *url = "http://x";'),
    ],
)
def test_each_language_has_its_comments(language: str, one: str, other: str) -> None:
    assert _exact(one, language) == _exact(other, language)


def test_what_looks_like_a_comment_in_a_string_counts() -> None:
    assert _exact("x = 'a # b'") != _exact("x = 'a # c'")
    assert _exact('f("http://a")', "javascript") != _exact('f("http://b")', "javascript")


def test_a_rename_changes_the_exact_print_and_not_that_of_the_body() -> None:
    before = fingerprint_code("def walk(n):\n    return walk(n - 1)\n", "python", "walk")
    after = fingerprint_code("def stroll(n):\n    return stroll(n - 1)\n", "python", "stroll")
    assert before.exact != after.exact
    assert before.body == after.body
    assert similarity(before.sketch, after.sketch) == 1.0


def test_similarity_tells_a_small_change_from_another_function() -> None:
    one = fingerprint_code(_PYTHON, "python", "total").sketch
    near = fingerprint_code(_PYTHON.replace("* rate", "* rate * 2"), "python", "total").sketch
    far = fingerprint_code("class Mail:\n    def send(self):\n        self.smtp.send()\n", "python", "Mail").sketch
    assert similarity(one, near) > 0.8
    assert similarity(one, far) < 0.3
    assert similarity(one, "") == 0.0


@given(st.text(max_size=200), st.sampled_from(["python", "javascript", "rust", "markdown", "unheard-of"]))
def test_any_text_has_a_print(text: str, language: str) -> None:
    first = fingerprint_code(text, language, "x")
    assert first == fingerprint_code(text, language, "x")
    assert bool(first.exact) == bool(list(code_tokens(text, language)))
    if first.sketch:
        assert similarity(first.sketch, first.sketch) == 1.0


@pytest.mark.parametrize("quotes", ['"""', "'''", '"', "`"])
def test_an_unclosed_string_of_many_backslashes_is_read_in_no_time(quotes: str) -> None:
    assert fingerprint_code("x = " + quotes + "\\a" * 20_000, "python").exact
    assert fingerprint_line("x = " + quotes + "\\a" * 20_000, "python")
