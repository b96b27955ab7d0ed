"""The arguments of a request: checked key by key, with errors that name the remedy."""

from __future__ import annotations

from typing import Any

import pytest

from rag_ls.errors import InvalidRequest
from rag_ls.operations.fields import NO_ARGUMENT
from rag_ls.operations.parsing import Arguments


def _args(values: object) -> Arguments:
    known = ("query", "k", "tags", "scope", "minimum", "filters", "source_file")
    return Arguments("search_code", values, dict.fromkeys(known, (Any, NO_ARGUMENT)))


def test_nothing_given_is_an_empty_object() -> None:
    args = _args(None)
    assert (args.text("query"), args.integer("k"), args.strings("tags"), args.mapping("filters")) == ("", None, (), {})
    assert (args.choice("scope", ("a",)), args.fraction("minimum")) == (None, None)


@pytest.mark.parametrize("values", ["text", 3, ["query"], True])
def test_anything_but_an_object_is_refused(values: object) -> None:
    with pytest.raises(InvalidRequest, match="search_code takes one JSON object"):
        _args(values)


def test_an_unknown_argument_is_refused_and_the_known_are_listed() -> None:
    with pytest.raises(InvalidRequest, match="no argument 'querry'; the nearest is query; it takes query, k, tags"):
        _args({"querry": "x"})


def test_a_null_counts_as_absent() -> None:
    assert _args({"k": None}).integer("k") is None


@pytest.mark.parametrize(("alias", "key"), [("top_k", "k"), ("top_n", "k"), ("limit", "k")])
def test_common_slips_are_understood(alias: str, key: str) -> None:
    assert _args({alias: 3}).integer(key) == 3
    assert _args({"tag": "x"}).strings("tags") == ("x",)


@pytest.mark.parametrize("alias", ["path", "file"])
def test_a_path_of_a_memory_is_the_file_that_it_is_about(alias: str) -> None:
    assert _args({alias: "src/cart.py"}).text("source_file") == "src/cart.py"


@pytest.mark.parametrize("value", ["", "  \n"])
def test_a_required_text_must_not_be_blank(value: str) -> None:
    with pytest.raises(InvalidRequest, match="needs 'query'"):
        _args({"query": value}).text("query", required=True)
    assert _args({"query": value}).text("query") == value


@pytest.mark.parametrize("value", [True, ["x", "y"], [], {}, float("inf")])
def test_a_text_is_a_string(value: object) -> None:
    with pytest.raises(InvalidRequest, match="query must be a string, not"):
        _args({"query": value}).text("query")


@pytest.mark.parametrize(
    ("value", "text"), [(1, "1"), (2.5, "2.5"), (["x"], "x"), ('["x"]', '["x"]'), ("null", "null")]
)
def test_a_number_or_a_list_of_one_is_a_text_and_a_text_stays_as_it_is(value: object, text: str) -> None:
    assert _args({"query": value}).text("query") == text


def test_an_argument_that_clients_make_up_for_tools_without_arguments_says_nothing() -> None:
    assert _args({"random_string": "dummy", "k": 3}).integer("k") == 3


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert _args({"k": 3.0}).integer("k") == 3


@pytest.mark.parametrize("value", ["three", "1,000", 3.5, "3.5", True, [3], float("nan"), float("inf"), "nan", "1e999"])
def test_anything_else_is_no_whole_number(value: object) -> None:
    with pytest.raises(InvalidRequest, match="k must be a whole number"):
        _args({"k": value}).integer("k")


def test_a_number_below_the_least_is_refused() -> None:
    assert _args({"k": 1}).integer("k", least=1) == 1
    with pytest.raises(InvalidRequest, match="k = 0 is below 1"):
        _args({"k": 0}).integer("k", least=1)


@pytest.mark.parametrize("value", [-0.1, 1.1, "1.5", "half", True, float("nan")])
def test_a_fraction_is_a_number_from_0_to_1(value: object) -> None:
    assert _args({"minimum": 1}).fraction("minimum") == 1.0
    with pytest.raises(InvalidRequest, match="minimum"):
        _args({"minimum": value}).fraction("minimum")


def test_strings_lose_blanks_and_repeats() -> None:
    assert _args({"tags": [" a", "b", "", "a "]}).strings("tags") == ("a", "b")
    assert _args({"tags": "one"}).strings("tags") == ("one",)
    with pytest.raises(InvalidRequest, match="tags must be a list of strings"):
        _args({"tags": ["a", ["b", "c"]]}).strings("tags")


@pytest.mark.parametrize("values", [{}, {"scope": None}])
def test_a_required_choice_must_be_made(values: object) -> None:
    with pytest.raises(InvalidRequest, match="needs 'scope', one of project, global"):
        _args(values).choice("scope", ("project", "global"), required=True)


def test_a_choice_is_understood_in_any_case() -> None:
    assert _args({"scope": " Project"}).choice("scope", ("project", "global")) == "project"
    with pytest.raises(InvalidRequest, match="is not one of project, global"):
        _args({"scope": "team"}).choice("scope", ("project", "global"))


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ('["money", "refund"]', ("money", "refund")), ("['money', 'refund']", ("money", "refund")),
        ("[money, refund]", ("money", "refund")), ("money, refund", ("money", "refund")), ("money", ("money",)),
        (["money", None, 7], ("money", "7")), (['["money", "refund"]'], ("money", "refund")), (7, ("7",)), ("[]", ()),
        ("null", ()), (["null"], ()), ("", ()), ("[x", ("[x",)), ("['it's']", ("it's",)),
    ],
)  # fmt: skip
def test_a_list_of_tags_may_be_written_as_a_text(value: object, texts: tuple[str, ...]) -> None:
    assert _args({"tags": value}).strings("tags") == texts


@pytest.mark.parametrize(
    ("value", "texts"), [("a,b", ("a,b",)), ("[id].tsx", ("[id].tsx",)), ("[a, b]", ("[a, b]",)), ('["a"]', ("a",))]
)
def test_in_other_lists_a_comma_or_a_bracket_belongs_to_the_text(value: object, texts: tuple[str, ...]) -> None:
    assert _args({"filters": value}).strings("filters") == texts


@pytest.mark.parametrize("value", ["{'k': True, 'q': None, 'r': 'x'}", '{"k": true, "q": null, "r": "x"}'])
def test_an_object_may_be_written_as_a_text(value: object) -> None:
    assert _args({"filters": value}).mapping("filters") == {"k": True, "q": None, "r": "x"}


@pytest.mark.parametrize("value", ["{", "x", ["a"], 3, "{" * 100_000 + "}" * 100_000, "[" * 100_000 + "]" * 100_000])
def test_anything_else_is_no_object(value: object) -> None:
    with pytest.raises(InvalidRequest, match=r"filters must be an object, such as \{\}"):
        _args({"filters": value}).mapping("filters")
