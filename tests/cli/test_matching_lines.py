"""Which lines hold the words of a question."""

from __future__ import annotations

import pytest

from rag_ls.cli.matching_lines import Words


@pytest.mark.parametrize(
    ("question", "line", "count"),
    [
        ("where are retries counted", "retry_count = 3", 2),
        ("where are retries counted", "self.maxRetries = x", 1),
        ("getUserById", "def get_user(id):", 3),
        ("the index", "begin", 0),
        ("in", "x in y", 1),
        ("größe messen", "def messe_größe():", 1),
        ("?!", "anything", 0),
        ("a.b(c)", "a.b(c)", 0),
    ],
)
def test_words_are_found_with_other_endings_and_in_names(question: str, line: str, count: int) -> None:
    assert Words(question).count(line) == count


def test_each_line_says_where_the_first_word_begins() -> None:
    (line,) = Words("token").lines_of("x = 1\nthe token\n", 5, "")
    assert (line.number, line.column, line.text) == (6, 5, "the token")


def test_a_question_of_stop_words_alone_is_looked_for_as_it_is() -> None:
    (line,) = Words("where is it").lines_of("x = 1\nwhere x\n", 1, "")
    assert line.number == 2
