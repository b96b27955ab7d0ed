"""The threads that answer: shared out fairly, and never lost; things that threads open once; the wait for editors."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from rag_ls.engine.workers import Editors, OpenedOnce, Workers
from rag_ls.errors import ProjectUnavailable
from tests.support import PATIENCE_S, until


@pytest.fixture
def workers() -> Iterator[Workers]:
    """Two threads, one of them at most for each client."""
    workers = Workers(threads=2, per_client=1)
    yield workers
    workers.close()


def test_what_the_work_returns_or_raises_reaches_the_client(workers: Workers) -> None:
    assert workers.submit("a", "ask", lambda: 7).result(PATIENCE_S) == 7
    with pytest.raises(ZeroDivisionError):
        workers.submit("a", "ask", lambda: 1 // 0).result(PATIENCE_S)


def test_a_client_that_floods_keeps_nobody_else_waiting(workers: Workers) -> None:
    release, order = threading.Event(), []
    blocked = workers.submit("flood", "ask", lambda: release.wait(PATIENCE_S))
    flood = [workers.submit("flood", "ask", lambda number=number: order.append(number)) for number in range(100)]
    assert workers.submit("quiet", "ask", lambda: order.append("quiet") or len(order)).result(PATIENCE_S) == 1
    release.set()
    assert blocked.result(PATIENCE_S)
    flood[-1].result(PATIENCE_S)
    assert order == ["quiet", *range(100)]


def test_a_quick_question_waits_for_no_slow_one_while_threads_are_free() -> None:
    workers, release = Workers(threads=4, per_client=2), threading.Event()
    # One thread that is idle again.
    workers.submit("a", "ask", lambda: None).result(PATIENCE_S)
    assert until(lambda: not workers.busy)
    slow = workers.submit("a", "ask", lambda: release.wait(PATIENCE_S))
    assert workers.submit("b", "ask", lambda: 7).result(PATIENCE_S) == 7
    release.set()
    assert slow.result(PATIENCE_S)
    workers.close()


def test_clients_take_turns() -> None:
    workers, release, order = Workers(threads=1, per_client=1), threading.Event(), []
    workers.submit("first", "ask", lambda: release.wait(PATIENCE_S))
    tasks = [workers.submit(client, "ask", lambda client=client: order.append(client)) for client in "aaabbc"]
    release.set()
    for task in tasks:
        task.result(PATIENCE_S)
    assert order == ["a", "b", "c", "a", "b", "a"]
    workers.close()


def test_what_a_client_that_left_still_waited_for_is_dropped(workers: Workers) -> None:
    started, release = threading.Event(), threading.Event()
    running = workers.submit("gone", "ask", lambda: started.set() or release.wait(PATIENCE_S))
    assert started.wait(PATIENCE_S)
    waiting = workers.submit("gone", "ask", lambda: 1)
    workers.forget("gone")
    release.set()
    assert running.result(PATIENCE_S)
    with pytest.raises(CancelledError):
        waiting.result(PATIENCE_S)


def test_it_is_busy_only_while_somebody_waits(workers: Workers) -> None:
    assert not workers.busy
    release = threading.Event()
    task = workers.submit("a", "ask", lambda: release.wait(PATIENCE_S))
    assert workers.busy
    release.set()
    task.result(PATIENCE_S)
    workers.submit("b", "ask", lambda: None).result(PATIENCE_S)
    workers.close()
    assert not workers.busy


def test_who_waits_for_the_workers_is_woken_when_the_last_one_is_done(workers: Workers) -> None:
    assert workers.wait_until_idle(0)
    release = threading.Event()
    workers.submit("a", "ask", lambda: release.wait(PATIENCE_S))
    assert not workers.wait_until_idle(0.01)
    waiting = threading.Timer(0.1, release.set)
    waiting.start()
    assert workers.wait_until_idle(PATIENCE_S)
    assert not workers.busy
    waiting.join()


def test_a_closed_pool_takes_nothing_more(workers: Workers) -> None:
    workers.close()
    with pytest.raises(ProjectUnavailable, match="the engine is closing"):
        workers.submit("a", "ask", lambda: 1)


def test_the_workers_are_busy_also_while_a_thread_takes_a_task() -> None:
    workers, answers = Workers(1), list[bool]()
    asking = threading.Thread(target=lambda: answers.append(workers.busy))
    may_end = threading.Event()
    with workers._wake:
        asking.start()
        asking.join(0.2)
        future = workers.submit("client", "ask", lambda: may_end.wait(PATIENCE_S))
    asking.join()
    may_end.set()
    future.result()
    workers.close()
    assert answers == [True]


def test_what_many_want_at_once_is_opened_once() -> None:
    opened: list[str] = []
    things = OpenedOnce[str, object](lambda key: opened.append(key) or object())
    with ThreadPoolExecutor(8) as threads:
        got = list(threads.map(things.get, "aaaaaaaa"))
    assert opened == ["a"]
    assert set(got) == {things.get("a")}
    assert things.items() == [("a", got[0])]


def test_one_that_opens_slowly_holds_up_no_other() -> None:
    begun, may_go_on = threading.Event(), threading.Event()

    def open_one(key: str) -> str:
        if key == "slow":
            begun.set()
            may_go_on.wait()
        return key.upper()

    things = OpenedOnce(open_one)
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(things.get, "slow")
        begun.wait()
        assert things.get("quick") == "QUICK"
        assert things.items() == [("quick", "QUICK")]
        may_go_on.set()
        assert slow.result() == "SLOW"


def test_one_that_cannot_be_opened_is_tried_again() -> None:
    answers = iter([OSError("no"), "there"])

    def open_one(_: str) -> str:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    things = OpenedOnce(open_one)
    with pytest.raises(OSError, match="no"):
        things.get("a")
    assert things.get("a") == "there"


def test_all_that_is_taken_is_forgotten_and_what_is_being_opened_is_among_it() -> None:
    begun, may_go_on = threading.Event(), threading.Event()

    def open_one(key: str) -> str:
        begun.set()
        may_go_on.wait()
        return key

    things = OpenedOnce(open_one)
    with ThreadPoolExecutor(2) as threads:
        threads.submit(things.get, "a")
        begun.wait()
        taking = threads.submit(things.take_all)
        may_go_on.set()
        assert taking.result() == ["a"]
    assert things.items() == []


def test_a_question_waits_until_every_editor_was_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    editors, unread = Editors(), threading.Event()
    unread.set()
    editors.join(lambda: False)
    editors.join(unread.is_set)
    monkeypatch.setattr("rag_ls.engine.workers._DRAIN_S", PATIENCE_S)

    def take_in() -> None:
        # A step of another editor ends no wait.
        editors.note_step()
        unread.clear()
        editors.note_step()

    timer = threading.Timer(0.01, take_in)
    timer.start()
    assert editors.drain()
    assert not unread.is_set()


def test_it_does_not_wait_for_an_editor_that_never_stops_or_for_one_that_left() -> None:
    editors = Editors()

    def never_stops() -> bool:
        return True

    editors.join(never_stops)
    assert not editors.drain()
    editors.leave(never_stops)
    started = time.monotonic()
    assert editors.drain()
    assert time.monotonic() - started < 10
