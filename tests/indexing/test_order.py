"""In which order queued files are read."""

from __future__ import annotations

import threading
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from rag_ls.indexing.order import ReadingOrder

paths = st.lists(st.sampled_from([f"f{number}" for number in range(12)]), unique=True)


@given(queued=paths, asked=paths, taken=st.integers(0, 12))
def test_each_queued_file_comes_once_whatever_is_asked_about(queued: list[str], asked: list[str], taken: int) -> None:
    order = ReadingOrder()
    files = order.of(queued)
    former = list(islice(files, taken))
    order.put_first(asked)
    rest = list(files)
    assert sorted([*former, *rest]) == sorted(queued)
    first = [path for path in asked if path in queued and path not in former]
    assert rest == [*first, *(path for path in queued if path not in former and path not in first)]


def test_the_latest_question_goes_before_former_ones() -> None:
    order = ReadingOrder()
    order.put_first(["b", "c"])
    order.put_first(["e", "c"])
    assert list(order.of("abcde")) == ["e", "c", "b", "a", "d"]


def test_what_was_asked_about_stays_first_when_reading_was_interrupted() -> None:
    order = ReadingOrder()
    order.put_first(["d", "c"])
    assert next(order.of("abcd")) == "d"
    assert list(order.of("abcd")) == ["d", "c", "a", "b"]
    assert list(order.of("ab")) == ["a", "b"]


def test_what_is_queued_again_while_reading_comes_again_and_first_where_it_was_asked_about() -> None:
    order = ReadingOrder()
    order.put_first(["a"])
    files = order.of("abc")
    assert [next(files), next(files)] == ["a", "b"]
    order.add("abd")
    assert list(files) == ["a", "c", "b", "d"]


def test_a_choice_that_somebody_is_about_to_make_is_waited_for() -> None:
    order, chosen = ReadingOrder(), threading.Event()

    def choose() -> None:
        with order.choosing():
            chosen.wait()
            order.put_first(["b"])

    order.wait_until_chosen(0.0)
    choosing = threading.Thread(target=choose)
    choosing.start()
    order.wait_until_chosen(0.001)
    chosen.set()
    choosing.join()
    order.wait_until_chosen(60.0)
    assert list(order.of("ab")) == ["b", "a"]
