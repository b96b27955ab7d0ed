"""Questions wait a moment for what editors said before them."""

from __future__ import annotations

import threading
import time

from rag_ls.engine.editors import Editors


def test_a_question_waits_until_every_editor_was_heard() -> None:
    editors, unread = Editors(), threading.Event()
    unread.set()
    editors.join(lambda: False)
    editors.join(unread.is_set)
    timer = threading.Timer(0.01, unread.clear)
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
