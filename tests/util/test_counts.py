"""Counting by name."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from rag_ls.util.threads import Counts


def test_a_name_that_was_never_counted_is_zero() -> None:
    assert Counts()["texts"] == 0


def test_nothing_is_lost_between_threads() -> None:
    counts = Counts()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: counts.add("texts", 2), range(1000)))
    assert counts["texts"] == 2000
