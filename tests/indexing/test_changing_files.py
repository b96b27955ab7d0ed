"""How often a file that keeps changing is read."""

from __future__ import annotations

from rag_ls.indexing.agenda import Inbox
from rag_ls.indexing.inbox import ChangingFiles
from rag_ls.indexing.progress import Wake


def test_a_file_that_keeps_changing_rests_twice_as_long_each_time() -> None:
    changing, now, waits = ChangingFiles(), 100.0, []
    for _ in range(10):
        now += 0.5
        changing.note_read("a.py", 0.5, now)
        waits.append(changing.due_in_s("a.py", now))
        now += waits[-1]
    assert waits == [0, 0, 0, 0, 5, 10, 20, 40, 60, 60]
    assert changing.describe(["a.py", "b.py"], now - 1).startswith(
        "a.py keeps changing, so it is read every 60 s at most"
    )
    # Once it has been left alone, it is read at once.
    now += 1000
    changing.note_read("a.py", 1.0, now)
    assert changing.due_in_s("a.py", now) == 0


def test_a_file_that_costs_much_soon_rests_twice_its_cost() -> None:
    changing, now = ChangingFiles(), 100.0
    for _ in range(2):
        changing.note_read("a.py", 8.0, now)
        now += 8.5
    assert changing.due_in_s("a.py", now - 8.5) == 16


def test_a_file_that_is_saved_now_and_then_never_rests() -> None:
    changing = ChangingFiles()
    for number in range(20):
        changing.note_read("a.py", 0.05, 100.0 + 10 * number)
        assert changing.due_in_s("a.py", 100.0 + 10 * number) == 0


def test_a_resting_file_hinders_nothing_and_a_question_ends_its_rest_where_it_is_quickly_read() -> None:
    inbox = Inbox(Wake())
    for _ in range(5):
        inbox.note_read("cheap.py", 0.01)
        inbox.note_read("dear.py", 100.0)
    inbox.put_files(["cheap.py", "dear.py", "other.py"])
    assert inbox.take_files() == ["other.py"]
    inbox.done(["other.py"])
    assert (inbox.is_empty, inbox.has_files, inbox.paths()) == (True, False, frozenset())
    assert 0 < (inbox.next_in_s or 0) <= 5
    assert inbox.unread_note.startswith("cheap.py and 1 more keep")
    inbox.end_rests()
    assert inbox.take_files() == ["cheap.py"]
