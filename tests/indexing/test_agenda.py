"""What waits for the documents thread, in which order queued files are read, and when the tree is compared again."""

from __future__ import annotations

import threading
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.indexing.agenda import Comparison, ReadingOrder
from rag_ls.indexing.inbox import Buffer, Inbox
from rag_ls.indexing.progress import Wake

ONE, OTHER = ("editor", "a.py"), ("editor", "b.py")
LONG_S = 60.0


@pytest.fixture
def inbox() -> Inbox:
    """An inbox whose `a.py` was typed in, taken, put off, and typed in again."""
    inbox = Inbox(Wake())
    inbox.put_buffer("editor", Buffer("a.py", "first"))
    assert inbox.take_typed() == (ONE, Buffer("a.py", "first"))
    inbox.delay(ONE, LONG_S)
    inbox.done(["a.py"])
    inbox.put_buffer("editor", Buffer("a.py", "second"))
    return inbox


def test_what_is_put_off_waits_and_holds_up_no_other(inbox: Inbox) -> None:
    assert not inbox.has_typed
    assert inbox.take_typed() is None
    assert LONG_S - 10 < (inbox.due_in_s or 0) <= LONG_S
    assert inbox.paths() == {"a.py"}
    inbox.put_buffer("editor", Buffer("b.py", "x"))
    assert inbox.take_typed() == (OTHER, Buffer("b.py", "x"))


def test_a_question_has_it_taken_at_once_in_its_latest_text(inbox: Inbox) -> None:
    inbox.put_buffer("editor", Buffer("a.py", "third"))
    inbox.end_delays()
    assert inbox.has_typed
    assert inbox.take_typed() == (ONE, Buffer("a.py", "third"))


def test_so_do_saving_and_closing_it(inbox: Inbox) -> None:
    inbox.put_files(["a.py"])
    assert inbox.take_typed() == (ONE, Buffer("a.py", "second"))
    inbox.delay(ONE, LONG_S)
    inbox.close_buffer("editor", "a.py")
    assert inbox.take_typed() == (ONE, None)


def test_a_text_that_is_taken_while_somebody_asks_for_the_next_one_leaves_none() -> None:
    class TakenMeanwhile:
        """A lock that is free only after the documents thread has taken what waited."""

        def __enter__(self) -> None:
            if not taken:
                taken.append(True)
                assert inbox.take_typed() is not None

        def __exit__(self, *_: object) -> None:
            pass

        def notify_all(self) -> None:
            pass

    taken = [True]
    wake = Wake()
    wake.condition = TakenMeanwhile()
    inbox = Inbox(wake)
    inbox.put_buffer("editor", Buffer("a.py", "x"))
    taken.clear()
    assert inbox.due_in_s is None
    assert taken


def test_nobody_finds_an_inbox_empty_while_it_is_being_changed() -> None:
    wake, answers = Wake(), list[bool]()
    inbox = Inbox(wake)
    asking = threading.Thread(target=lambda: answers.append(inbox.is_empty))
    with wake.condition:
        asking.start()
        asking.join(0.2)
        inbox.put_files(["a.py"])
    asking.join()
    assert answers == [False]


def test_a_document_that_is_closed_meanwhile_is_not_put_off() -> None:
    inbox = Inbox(Wake())
    inbox.put_buffer("editor", Buffer("a.py", "x"))
    inbox.take_typed()
    inbox.close_buffer("editor", "a.py")
    inbox.delay(ONE, LONG_S)
    assert inbox.take_typed() == (ONE, None)
    assert inbox.due_in_s is None


def test_a_file_whose_reading_takes_long_rests_and_hinders_nothing() -> None:
    inbox = Inbox(Wake())
    inbox.note_read("dear.py", 100.0)
    inbox.put_files(["dear.py", "other.py"])
    assert inbox.take_files() == ["other.py"]
    inbox.done(["other.py"])
    assert (inbox.is_empty, inbox.has_files, inbox.paths()) == (True, False, frozenset())
    assert 50 < (inbox.next_in_s or 0) <= 60
    assert inbox.unread_note == "dear.py has changed again and is read in 60 s"


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


def test_a_comparison_that_took_long_is_not_old_for_long(compared: Comparison) -> None:
    compared._took_s = 30.0
    # Whoever asks where nothing is watched waits for no comparison, for as long as those are expensive.
    compared._done_at = (compared._done_at or 0) - 60
    assert not compared.is_old


def test_no_answer_waits_for_a_sweep(compared: Comparison) -> None:
    compared.begin()
    assert not compared.is_awaited
