"""The threads that answer: shared out fairly, and never lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError

import pytest

from rag_ls.engine.workers import Workers
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
