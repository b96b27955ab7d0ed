"""Connections that send no request are closed after a while, those that send no HTTP at once."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

# A request's head is small, but uvicorn waits for it without a limit.
HEAD_S = 20.0


class PatientProtocol(H11Protocol):
    """uvicorn's protocol with a time limit for a request's head. A class of its own is how uvicorn takes one."""

    def connection_made(self, transport: Any) -> None:
        """Called when a client has connected."""
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(HEAD_S, self._close_if_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called when the connection has ended."""
        self._head_timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Called when a part of a request has come."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            return
        self._head_timer.cancel()

    def send_400_response(self, msg: str) -> None:
        """Called for bytes that are no HTTP: a request that runs is told that its client left, and answers no more."""
        if self.cycle is None or self.cycle.response_complete:
            super().send_400_response(msg)
            return
        self.cycle.disconnected = True
        self.cycle.message_event.set()
        if self.cycle.response_started:
            self.transport.close()
        else:
            super().send_400_response(msg)

    def on_response_complete(self) -> None:
        """Called when the answer was sent: the next request may begin."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._head_timer.cancel()
            self._head_timer = self.loop.call_later(HEAD_S, self._close_if_silent)

    def _close_if_silent(self) -> None:
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if not is_answering and not self.transport.is_closing():
            self.transport.close()

    _head_timer: asyncio.TimerHandle
