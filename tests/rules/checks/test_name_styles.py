"""Regular expressions of a project: they match as Python's do, and end in time."""

from __future__ import annotations

import re

import pytest

from rag_ls.rules.checks.contracts import NameStyle, PatternTooSlow

_SLOW, _TEXT = r"(a|aa)+$", "a" * 60 + "b"


def test_a_style_means_whole_names() -> None:
    assert NameStyle(r"[a-z]+").matches_all("abc")
    assert not NameStyle(r"[a-z]+").matches_all("abc1")


def test_what_is_no_regular_expression_is_refused_as_by_the_standard_library() -> None:
    with pytest.raises(re.error):
        NameStyle("(")


def test_a_match_that_would_not_end_names_the_expression_and_is_not_tried_again() -> None:
    pattern = NameStyle(_SLOW)
    for _ in range(3):
        with pytest.raises(PatternTooSlow, match=re.escape(repr(_SLOW))):
            pattern.matches_all(_TEXT)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("|".join(f"word{number}" for number in range(300_000)), "10000 are allowed"),
        ("(?:" * 30 + "a" + "){1000}" * 30, "counted repetitions"),
        ("(?x)" + "(?:" * 30 + "a" + ") { 1000 }" * 30, "counted repetitions"),
        ("a" + "{1000}" * 30, "counted repetitions"),
        ("(" * 4_000 + "a" + ")" * 4_000, "nested too deeply"),
    ],
)
def test_an_expression_that_takes_too_long_to_prepare_is_refused_with_what_to_change(pattern: str, said: str) -> None:
    with pytest.raises(re.error, match=said):
        NameStyle(pattern)


@pytest.mark.parametrize(
    "pattern", [r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", r"\w{1,64}(?:/\w{1,64}){0,20}", r"\p{Lu}\w*", "a{,3}"]
)
def test_usual_counts_are_allowed(pattern: str) -> None:
    assert not NameStyle(pattern).matches_all("no such text")
