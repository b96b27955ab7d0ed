"""Patterns that are compiled at their first use."""

from __future__ import annotations

import re

import pytest

from rag_ls.util.patterns import lazy_pattern


def test_a_pattern_answers_as_the_compiled_one_does() -> None:
    pattern = lazy_pattern(r"(?P<word>[a-z]+)\d", re.IGNORECASE)
    found = pattern.search("x Ab1")
    assert found is not None
    assert (found["word"], pattern.pattern, pattern.groups) == ("Ab", r"(?P<word>[a-z]+)\d", 1)
    assert pattern.sub("-", "a1 b2") == "- -"
    assert pattern.fullmatch("a") is None
    assert lazy_pattern(rb"\d+").findall(b"1 22") == [b"1", b"22"]


def test_nothing_is_compiled_before_it_is_asked() -> None:
    pattern = lazy_pattern("(")
    with pytest.raises(re.error):
        pattern.search("")
