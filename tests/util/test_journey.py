"""The bar of an index shows one journey, from the first file to the last embedding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.util.journey import Journey, duration


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> _Clock:
    """A clock that stands still."""
    return _Clock()


def _step(phase: str, done: int, total: int) -> dict[str, object]:
    return {"phase": phase, "done": done, "total": total}


def test_reading_is_the_small_first_part_and_embedding_the_rest(clock: _Clock) -> None:
    journey = Journey(now=clock)
    assert journey.at(_step("scanning", 0, 0)).done == 0
    assert journey.at(_step("reading", 62, 62)).done == pytest.approx(0.08)
    assert journey.at(_step("embedding", 50, 100)).done == pytest.approx(0.54)
    assert journey.at(_step("embedding", 100, 100)).done == pytest.approx(1.0)


def test_where_nothing_is_embedded_reading_is_all_of_it(clock: _Clock) -> None:
    journey = Journey(embeds=False, now=clock)
    journey.at(_step("reading", 0, 100))
    clock.now = 5.0
    progress = journey.at(_step("reading", 50, 100))
    assert (progress.done, progress.left_s) == (0.5, 5.0)


def test_the_time_left_follows_the_speed_of_embedding_alone(clock: _Clock) -> None:
    journey = Journey(now=clock)
    journey.at(_step("reading", 0, 10))
    clock.now = 100.0
    assert journey.at(_step("reading", 10, 10)).left_s is None
    assert journey.at(_step("embedding", 0, 100)).left_s is None
    clock.now = 110.0
    assert journey.at(_step("embedding", 50, 100)).left_s == pytest.approx(10.0)
    clock.now = 112.0
    assert journey.at(_step("embedding", 50, 100)).left_s == pytest.approx(8.0)


@given(
    st.lists(
        st.tuples(st.sampled_from(["scanning", "reading", "embedding", "idle"]), st.integers(0, 50), st.integers(0, 50))
    )
)
def test_it_never_goes_back_and_ends_at_the_end(steps: list[tuple[str, int, int]]) -> None:
    clock = _Clock()
    journey, before = Journey(now=clock), 0.0
    for phase, done, more in steps:
        clock.now += 0.7
        progress = journey.at(_step(phase, done, done + more))
        assert before <= progress.done <= 1.0
        assert progress.left_s is None or progress.left_s >= 0
        before = progress.done


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.2, "1 s"), (41.4, "41 s"), (95, "2 min"), (3599, "1 h 0 min"), (4200, "1 h 10 min")]
)
def test_a_time_left_is_told_roughly(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown
