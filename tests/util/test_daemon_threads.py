import threading

import pytest

from rag_ls.util.threads import run_in_daemon_thread, within
from tests.support import PATIENCE_S


def test_a_future_gives_what_the_work_returns() -> None:
    assert run_in_daemon_thread(lambda: threading.current_thread().name, "aside").result(PATIENCE_S) == "aside"


def test_a_future_raises_what_the_work_raises() -> None:
    def fail() -> None:
        raise ValueError("no such place")

    with pytest.raises(ValueError, match="no such place"):
        run_in_daemon_thread(fail, "aside").result(PATIENCE_S)


def test_no_exit_waits_for_the_thread_and_nobody_cancels_its_work() -> None:
    go = threading.Event()
    future = run_in_daemon_thread(lambda: go.wait(PATIENCE_S), "aside")
    (thread,) = [each for each in threading.enumerate() if each.name == "aside"]
    assert thread.daemon
    assert not future.cancel()
    go.set()
    assert future.result(PATIENCE_S)
    thread.join(PATIENCE_S)


def test_a_call_that_hangs_is_waited_for_no_longer_than_said() -> None:
    hangs = threading.Event()
    with pytest.raises(TimeoutError):
        within(0.05, hangs.wait)
    hangs.set()
    assert within(5, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 // 0)
