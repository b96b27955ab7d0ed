"""When the tree is compared with the index again."""

from __future__ import annotations

import pytest

from rag_ls.indexing.comparison import Comparison


@pytest.fixture
def compared() -> Comparison:
    """A tree that was compared just now, in no time."""
    comparison = Comparison(sweep_s=0.0)
    comparison.begin()
    comparison.finish(done=True)
    return comparison


def test_nothing_is_due_that_nobody_asked_for(compared: Comparison) -> None:
    assert compared.due_in_s() is None
    compared.sweep_s = 600.0
    assert 590 < (compared.due_in_s() or 0) <= 600


def test_a_check_that_was_asked_for_comes_soon(compared: Comparison) -> None:
    compared.check_soon()
    assert 0 < (compared.due_in_s() or 0) <= 2


def test_a_comparison_that_took_long_puts_the_next_check_off_for_seconds_not_minutes(compared: Comparison) -> None:
    compared.check_soon()
    compared._took_s = 4.0
    assert 10 < (compared.due_in_s() or 0) <= 20
    compared._took_s = 30.0
    assert 110 < (compared.due_in_s() or 0) <= 120
    # Whoever asks where nothing is watched waits for no comparison either, for as long as those are expensive.
    compared._done_at = (compared._done_at or 0) - 60
    assert not compared.is_old


def test_a_check_that_comes_true_is_not_asked_for_any_more(compared: Comparison) -> None:
    compared.check_soon()
    compared.begin()
    assert not compared.is_awaited
    compared.finish(done=True)
    assert compared.due_in_s() is None
