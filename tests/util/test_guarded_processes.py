"""Functions in processes that may die: the call ends and says why, the next one works."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from rag_ls.util.guarded_processes import GuardedProcesses, Limits, NoProcess, ProcessEnded

_SMALL = Limits(cpu_s=0.5, memory_bytes=50_000_000)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[GuardedProcesses]:
    """Two of them, which import this module."""
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    made = GuardedProcesses(2, rest_s=60)
    yield made
    made.close()


def double(number: int) -> int:
    return 2 * number


def refuse(word: str) -> None:
    raise ValueError(word)


def crash() -> None:
    ctypes.string_at(0)


def loop() -> None:
    while True:
        pass


def swell() -> None:
    held = []
    while True:
        held.append(bytes(1_000_000) + b"x")


def process_id() -> int:
    return os.getpid()


def stop_oneself() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def swell_a_little() -> int:
    # Objects of this size are kept by the interpreter's own allocator.
    _HELD.extend(str(number) for number in range(2_000_000))
    return os.getpid()


_HELD: list[str] = []


def test_a_call_returns_what_the_function_does_and_raises_what_it_raises(processes: GuardedProcesses) -> None:
    assert processes.call(double, 21) == 42
    with pytest.raises(ValueError, match="no such word"):
        processes.call(refuse, "no such word")
    assert processes.call(double, 4) == 8


@pytest.mark.parametrize(
    ("function", "reason"), [(crash, "crashed"), (loop, "more than 0.5 s"), (swell, "more than 50 MB")]
)
def test_a_call_that_breaks_its_process_says_how_and_the_next_works(
    processes: GuardedProcesses, function: Callable[[], None], reason: str
) -> None:
    with pytest.raises(ProcessEnded, match=reason) as raised:
        processes.call(function, limits=_SMALL)
    assert raised.value.by_call
    assert processes.call(double, 21) == 42


@pytest.mark.slow
def test_a_process_that_somebody_else_stops_or_ends_is_not_blamed_on_the_call(processes: GuardedProcesses) -> None:
    with pytest.raises(ProcessEnded, match="did not answer") as raised:
        processes.call(stop_oneself, limits=Limits(wall_s=0.5))
    assert not raised.value.by_call
    process = processes.call(process_id)
    threading.Timer(0.3, os.kill, (process, signal.SIGKILL)).start()
    with pytest.raises(ProcessEnded) as raised:
        processes.call(loop, limits=Limits(cpu_s=60))
    assert not raised.value.by_call


def test_a_process_that_was_ended_while_it_rested_is_replaced(processes: GuardedProcesses) -> None:
    process = processes.call(process_id)
    os.kill(process, signal.SIGKILL)
    psutil.Process(process).wait(timeout=30)
    assert processes.call(process_id) != process


@pytest.mark.slow
def test_a_process_that_has_grown_ends_after_its_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    processes = GuardedProcesses(1, grown_bytes=90_000_000)
    try:
        kept = processes.call(process_id)
        assert processes.call(process_id) == kept
        assert processes.call(swell_a_little, limits=Limits(cpu_s=60)) == kept
        assert processes.call(process_id) != kept
    finally:
        processes.close()


def test_calls_of_many_threads_share_the_processes(processes: GuardedProcesses) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(lambda _: processes.call(process_id), range(40)))
    assert 1 <= len(found) <= 2


def test_a_process_ends_when_it_rests_and_the_next_call_starts_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    processes = GuardedProcesses(1, rest_s=0.1)
    process = processes.call(process_id)
    psutil.Process(process).wait(timeout=30)
    assert processes.call(process_id) != process
    processes.close()


def test_closing_ends_running_calls(processes: GuardedProcesses) -> None:
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(processes.call, loop, limits=Limits(cpu_s=600))
        while not any(process.limits for process in processes._processes):
            time.sleep(0.01)
        processes.close()
        with pytest.raises(NoProcess):
            running.result(timeout=30)
    with pytest.raises(NoProcess):
        processes.call(double, 1)


def test_where_none_can_be_started_it_is_not_the_call_that_failed(
    processes: GuardedProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("sys.executable", "/no/such/python")
        with pytest.raises(NoProcess, match="/no/such/python"):
            processes.call(double, 21)
    assert processes.call(double, 21) == 42


def test_processes_end_with_the_one_that_started_them(processes: GuardedProcesses) -> None:
    process = processes.call(process_id)
    # What the end of this process does to its pipes.
    for each in processes._processes:
        assert each.popen.stdin is not None
        each.popen.stdin.close()
    psutil.Process(process).wait(timeout=30)
