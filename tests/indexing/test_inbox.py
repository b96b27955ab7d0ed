"""What waits for the documents thread, and what of it may be taken."""

from __future__ import annotations

import threading

import pytest

from rag_ls.indexing.inbox import Buffer, Inbox

ONE, OTHER = ("editor", "a.py"), ("editor", "b.py")
LONG_S = 60.0


@pytest.fixture
def inbox() -> Inbox:
    """An inbox whose `a.py` was typed in, taken, put off, and typed in again."""
    inbox = Inbox(threading.Condition())
    inbox.put_buffer("editor", Buffer("a.py", "first"))
    assert inbox.take_typed() == (ONE, Buffer("a.py", "first"))
    inbox.put_off(ONE, LONG_S)
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
    inbox.hurry()
    assert inbox.has_typed
    assert inbox.take_typed() == (ONE, Buffer("a.py", "third"))


def test_so_do_saving_and_closing_it(inbox: Inbox) -> None:
    inbox.put_files(["a.py"])
    assert inbox.take_typed() == (ONE, Buffer("a.py", "second"))
    inbox.put_off(ONE, LONG_S)
    inbox.close_buffer("editor", "a.py")
    assert inbox.take_typed() == (ONE, None)


def test_a_document_that_is_closed_meanwhile_is_not_put_off() -> None:
    inbox = Inbox(threading.Condition())
    inbox.put_buffer("editor", Buffer("a.py", "x"))
    inbox.take_typed()
    inbox.close_buffer("editor", "a.py")
    inbox.put_off(ONE, LONG_S)
    assert inbox.take_typed() == (ONE, None)
    assert inbox.due_in_s is None
