"""Records that compute something."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_ls.model import Coverage

count = st.integers(0, 10**7)


@given(documents=count, queued=count, chunks=count, pending=count)
def test_a_tier_is_at_a_hundred_percent_only_where_nothing_is_left(
    documents: int, queued: int, chunks: int, pending: int
) -> None:
    coverage = Coverage.of(documents=documents, queued=queued, chunks=chunks, pending=pending)
    assert 0 <= coverage.vectors <= coverage.words <= 100
    assert (coverage.words == 100) == (queued == 0)
    assert (coverage.vectors == 100) == (queued == 0 and pending == 0)


def test_vectors_count_for_the_share_of_the_files_that_is_read() -> None:
    assert Coverage.of(documents=50, queued=50, chunks=10, pending=5) == Coverage(50, 25)
