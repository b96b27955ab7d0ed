"""A listening socket that limits the number of connections, silent ones included."""

from __future__ import annotations

import socket
from typing import Any


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
