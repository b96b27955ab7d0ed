"""Globs that `re` would never be done with: they match as they do there."""

from __future__ import annotations

import re
from unittest import mock

from hypothesis import assume, example, given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from rag_ls.indexing.ignore_files import compiled
from rag_ls.util import path_globs
from rag_ls.util.path_globs import glob_matcher
from rag_ls.util.patterns import LinearPattern

_PATHS = st.lists(st.text("ab*.", min_size=1, max_size=5), min_size=1, max_size=5).map("/".join)
_PATTERN = st.text("ab*?/", min_size=1, max_size=12)
_LINES = st.lists(
    st.lists(st.sampled_from("a b * * / ? ** **/ /**/ . [ab] [!a/] \\* !".split()), min_size=1, max_size=10).map(
        "".join
    ),
    min_size=1,
    max_size=3,
)


@given(_LINES, _PATHS, st.booleans())
def test_patterns_of_ignore_files_match_as_pathspec_matches_them(lines: list[str], path: str, is_folder: bool) -> None:
    try:
        plain = GitIgnoreSpec.from_lines(lines)
    except ValueError:
        assume(False)
    path += "/" * is_folder
    assert compiled(lines).check_file(path).include == plain.check_file(path).include


@given(_PATTERN, _PATHS)
@example("**//", "a/a")
@example("**/a", "ba")
def test_globs_of_a_question_match_as_a_regular_expression_does(pattern: str, path: str) -> None:
    expected = glob_matcher(pattern)(path)
    path_globs._pattern.cache_clear()
    with mock.patch.object(path_globs, "_MAX_SIMPLE_WILDCARDS", -1):
        assert glob_matcher(pattern)(path) == expected
    path_globs._pattern.cache_clear()


@given(st.text("a.[]^-!\\/\n", max_size=8), st.text("a.[]^-!\\/\n", max_size=8))
def test_letters_that_mean_something_in_regular_expressions_mean_themselves(letters: str, text: str) -> None:
    pattern = LinearPattern(re.escape(letters))
    assert (pattern.fullmatch(text) is not None) == (letters == text)
    assert pattern.fullmatch(letters) is not None
