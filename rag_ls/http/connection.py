"""Limits connections: those that are too many are closed at once, those that send no whole request after a while."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# uvicorn waits for a request's head and body without a limit.
REQUEST_S = 30.0


class PatientProtocol(H11Protocol):
    """uvicorn's protocol with a time limit within which a request must have come. A class of its own is how uvicorn takes one."""

    def connection_made(self, transport: Any) -> None:
        """Called when a client has connected."""
        super().connection_made(transport)
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called when the connection has ended."""
        self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Called when a part of a request has come."""
        super().data_received(data)
        if not self._waits:
            self._timer.cancel()

    def send_400_response(self, msg: str) -> None:
        """Called for bytes that are no HTTP: a request that runs is told that its client left, and answers no more."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:  # An answer was begun, or was said to be the last.
            self.transport.close()

    def on_response_complete(self) -> None:
        """Called when the answer was sent: the next request may begin."""
        super().on_response_complete()
        self._timer.cancel()
        self._start_timer()

    @property
    def _waits(self) -> bool:
        """Whether a request has not come yet, or not whole."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(REQUEST_S, self._close_if_waiting)

    def _close_if_waiting(self) -> None:
        if self._waits:
            self.transport.close()

    _timer: asyncio.TimerHandle


class LimitedListening(socket.socket):
    """Closes each further connection at once. A class of its own is how asyncio takes one; of its loop's thread alone.

    uvicorn's own limit counts requests: idle connections, and those that have begun TLS alone, are not held to it.
    """

    def __init__(self, family: int, kind: int, protocol: int, at_most: int) -> None:
        super().__init__(family, kind, protocol)
        self._at_most = at_most
        self._open: list[socket.socket] = []

    def accept(self) -> tuple[socket.socket, Any]:
        """As a socket does. Raises `ConnectionAbortedError` for a connection that is too many, which is closed."""
        connection, address = super().accept()
        if len(self._open) >= self._at_most:
            self._open = [each for each in self._open if each.fileno() >= 0]
        if len(self._open) >= self._at_most:
            connection.close()
            raise ConnectionAbortedError("too many connections")
        self._open.append(connection)
        return connection, address
