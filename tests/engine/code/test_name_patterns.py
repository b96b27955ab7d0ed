"""Patterns around one name: compiled once for all names, tried where the name stands."""

from __future__ import annotations

import pytest

from rag_ls.engine.code.references.name_patterns import find_around


@pytest.mark.parametrize(
    ("name", "found"),
    [("count", [(4, "int")]), ("other", [(16, "str")]), ("cou", []), ("missing", []), ("", [])],
)
def test_a_pattern_is_found_around_each_place_of_a_name(name: str, found: list[tuple[int, str]]) -> None:
    text = "let count: int, other: str, account: no"
    matches = list(find_around(r"(?<!\w){name}\s*:\s*(\w+)", text, name))
    assert [(match.start, match.value.group(1)) for match in matches] == found
