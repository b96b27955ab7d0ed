"""Calls that may hang."""

from __future__ import annotations

import threading

import pytest

from rag_ls.util.deadlines import within


def test_a_call_that_hangs_is_waited_for_no_longer_than_said() -> None:
    hangs = threading.Event()
    with pytest.raises(TimeoutError):
        within(0.05, hangs.wait)
    hangs.set()
    assert within(5, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 // 0)
