"""Comments that suppress a rule, in each language's own words."""

from __future__ import annotations

import re

import pytest

from rag_ls.languages import LANGUAGES
from rag_ls.rules.checks.checker import find_suppressions, format_suppression
from tests.grammars import SYNTAXES


@pytest.mark.parametrize("language", sorted(SYNTAXES))
def test_a_suppression_is_a_comment_of_its_language_and_is_read_again(language: str) -> None:
    written = format_suppression(language, "no-print", "it is a script")
    assert re.fullmatch(LANGUAGES[language].comments.pattern, written, re.DOTALL)
    found = find_suppressions(f"{written}\nx = 1\n")
    assert [(each.rules, each.reason, each.lines) for each in found] == [(("no-print",), "it is a script", (1, 2))]


@pytest.mark.parametrize("mark", ["##", "///", ";;;", "%%", "/**", "---"])
def test_a_comment_may_have_its_mark_several_times(mark: str) -> None:
    (found,) = find_suppressions(f"{mark} rag-ls: ignore[no-print] it is a script\nx = 1\n")
    assert found.lines == (1, 2)
