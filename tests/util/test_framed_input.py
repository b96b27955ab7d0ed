"""Whether a stream of messages holds something that was not handled yet."""

from __future__ import annotations

import io
import socket
import threading

from rag_ls.util.json_rpc import FramedInput, ReplayedInput, framed
from tests.support import until


def test_a_message_is_unread_from_its_arrival_until_the_next_one_is_asked_for() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, ours.makefile("rb") as source:
        messages = FramedInput(ReplayedInput(b"", source))
        assert messages.has_unread(), "nothing was asked for yet"
        go_on, bodies = threading.Semaphore(0), []

        def read() -> None:
            while messages.readline():
                messages.readline()
                bodies.append(messages.read(2))
                go_on.acquire()

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        assert until(lambda: not messages.has_unread())
        theirs.sendall(framed(b"{}"))
        assert messages.has_unread()
        assert until(lambda: bodies == [b"{}"])
        assert messages.has_unread(), "its handler has not returned"
        go_on.release()
        assert until(lambda: not messages.has_unread())
        theirs.close()
        reader.join(20)
        assert not reader.is_alive()


def test_what_has_ended_has_nothing_to_say() -> None:
    messages = FramedInput(ReplayedInput(b"", io.BufferedReader(io.BytesIO())))
    assert messages.readline() == b""
    assert not messages.has_unread()
