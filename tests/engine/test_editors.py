"""Questions wait a moment for what editors said before them."""

from __future__ import annotations

import threading
import time

import pytest

from rag_ls.engine.workers import Editors
from tests.support import PATIENCE_S


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
