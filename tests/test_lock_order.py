"""The check of the order in which threads take locks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lock_order import check_locks


@pytest.fixture
def faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """Reads the faults that were found since."""
    monkeypatch.setattr(threading, "Lock", threading.Lock)
    monkeypatch.setattr(threading, "RLock", threading.RLock)
    file = tmp_path / "faults"
    check_locks(str(file))
    return lambda: file.read_text() if file.exists() else ""


def _lock_of(room: str, kind: str = "Lock()", line: int = 1) -> Any:
    """A lock that a module of this room makes at this line."""
    code = compile("\n" * (line - 1) + f"lock = threading.{kind}", "<room>", "exec")
    names = {"threading": threading, "__name__": f"rag_ls.{room}"}
    exec(code, names)
    return names["lock"]


def test_locks_may_be_taken_downward(faults: Callable[[], str]) -> None:
    with _lock_of("engine.client"), _lock_of("indexing.wake", "Condition()"), _lock_of("storage.sqlite.database"):
        pass
    assert not faults()


def test_a_lock_of_a_higher_room_is_a_fault(faults: Callable[[], str]) -> None:
    with _lock_of("storage.sqlite.database"), _lock_of("engine.client"):
        pass
    assert "engine.client:1 was waited for while storage.sqlite.database:1 was held" in faults()
    assert "test_a_lock_of_a_higher_room_is_a_fault" in faults()


def test_a_condition_has_the_rank_of_who_makes_it(faults: Callable[[], str]) -> None:
    with _lock_of("util.counts"), _lock_of("indexing.wake", "Condition()"):
        pass
    assert "indexing.wake:1 was waited for while util.counts:1 was held" in faults()


def test_two_orders_within_a_room_are_a_fault_though_a_third_lock_lies_between(faults: Callable[[], str]) -> None:
    first, second, third = (_lock_of("storage.vectors", line=line) for line in (1, 2, 3))
    for one, other in ((first, second), (second, third)):
        with one, other:
            pass
    assert not faults()
    with third, first:
        pass
    assert "storage.vectors:1 was waited for while storage.vectors:3 was held" in faults()


def test_two_locks_that_one_line_makes_have_no_order(faults: Callable[[], str]) -> None:
    with _lock_of("storage.vectors"), _lock_of("storage.vectors"):
        pass
    assert "storage.vectors:1 was waited for while storage.vectors:1 was held" in faults()


def test_trying_a_lock_without_waiting_is_no_fault(faults: Callable[[], str]) -> None:
    upper = _lock_of("engine.client")
    with _lock_of("storage.sqlite.database"):
        assert upper.acquire(blocking=False)
        upper.release()
    assert not faults()


def test_a_reentrant_lock_may_be_taken_again_under_others(faults: Callable[[], str]) -> None:
    client, lower = _lock_of("engine.client", "RLock()"), _lock_of("storage.sqlite.database")
    with client, lower, client:
        pass
    assert not faults()


def test_waiting_on_a_condition_while_another_lock_is_held_is_a_fault(faults: Callable[[], str]) -> None:
    wake = _lock_of("indexing.wake", "Condition()")
    with wake, wake:
        wake.wait(0)
    assert not faults()
    with _lock_of("engine.client"), wake:
        wake.wait(0)
    assert "indexing.wake:1 was waited for while engine.client:1 was held" in faults()


def test_a_waiting_thread_is_woken(faults: Callable[[], str]) -> None:
    wake, arrived = _lock_of("indexing.wake", "Condition()"), []

    def put() -> None:
        with wake:
            arrived.append(True)
            wake.notify_all()

    with wake:
        thread = threading.Thread(target=put)
        thread.start()
        assert wake.wait_for(lambda: arrived, 20)
    thread.join()
    assert not faults()


def test_locks_of_others_are_those_of_threading(faults: Callable[[], str]) -> None:
    assert type(threading.Lock()) is type(threading.Event()._cond._lock)  # type: ignore[attr-defined]
    assert type(threading.Lock()).__module__ == "_thread"
