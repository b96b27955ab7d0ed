"""The words of a question in a text, and how close together."""

from __future__ import annotations

import pytest

from rag_ls.retrieval.asked import AskedTerms
from rag_ls.search.closeness import WordFinder
from rag_ls.storage import stem


def _finder(*words: str, **weights: float) -> WordFinder:
    return WordFinder(AskedTerms({stem(word): weights.get(word, 1.0) for word in words}), words)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("headers['Retry-After'] = wait", 1.0), ("max_retries_after = 3", 1.0), ("maxRetriesAfter", 1.0), ("MAX_RETRY_AFTER", 1.0),
        ("the retrying client comes after", 1.0), ("entry hereafter", 0.0), ("raftering", 0.0), ("retry", 0.5), ("", 0.0),
    ],
)  # fmt: skip
def test_a_word_is_found_at_the_beginning_of_words_and_parts_of_names(text: str, share: float) -> None:
    assert _finder("retry", "after").find(text).whole == share


def test_a_rare_word_counts_more() -> None:
    assert _finder("throttle", "request", throttle=3.0).find("throttled").whole == 0.75


def test_words_in_few_lines_are_closer_than_words_that_are_far_apart() -> None:
    near, far = "wait = 1\n" * 9 + "retry\nafter\n", "retry\n" + "wait = 1\n" * 9 + "after\n"
    finder = _finder("retry", "after")
    assert (finder.find(near).close, finder.find(near).whole) == (1.0, 1.0)
    assert (finder.find(far).close, finder.find(far).whole) == (0.5, 1.0)


def test_words_that_are_not_weighed_do_not_count() -> None:
    assert WordFinder(AskedTerms({}), ["retry"]).find("retry").whole == 0.0
