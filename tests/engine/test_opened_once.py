"""Opening things once each, slow ones beside quick ones."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from rag_ls.engine.workers import OpenedOnce


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
