"""JSON and TOML that anybody may have written."""

from __future__ import annotations

import pytest

from rag_ls.languages.families.javascript_resolver import _json
from rag_ls.util.decoding import read_json, read_toml


def test_what_is_usual_is_read() -> None:
    assert read_json('{"a": [1]}') == {"a": [1]}
    assert read_toml('a.b.c = ["1.2.3", "x"]\n[d]\ne = 1') == {"a": {"b": {"c": ["1.2.3", "x"]}}, "d": {"e": 1}}


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "{", "1" * 5000])
def test_json_that_cannot_be_read_is_one_kind_of_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_json(text)


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * 100_000, "a = " + "{a=" * 100_000, ".".join("a" * 50_000) + " = 1", "[" + "a." * 50_000 + "a]"],
)
def test_toml_that_cannot_be_read_is_one_kind_of_error_and_takes_no_time(text: str) -> None:
    # With the square of a key's parts, the third would take minutes.
    with pytest.raises(ValueError, match=r"deep|parts"):
        read_toml(text)


def test_comments_and_strings_that_are_never_closed_take_no_time() -> None:
    # With the square of their number, these would take minutes.
    assert _json("{/*\n" * 200_000) == {}
    assert _json('{"' + '\\"' * 200_000 + "\\") == {}
    assert _json('// x\n{"a": "b//c", /* d */ "e": [1,],}') == {"a": "b//c", "e": [1]}
