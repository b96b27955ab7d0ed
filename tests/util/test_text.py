"""Text as answers hold it."""

from __future__ import annotations

import pytest

from rag_ls.util.text import count_of


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [(0, "file", "0 files"), (1, "file", "1 file"), (2000, "memory", "2,000 memories"), (1, "memory", "1 memory")],
)
def test_a_count_stands_with_its_noun(number: int, noun: str, said: str) -> None:
    assert count_of(number, noun) == said
