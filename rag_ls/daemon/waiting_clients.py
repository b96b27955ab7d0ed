"""Clients that connect while the engine is still starting: they wait, and are told that it lives."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time

from rag_ls.daemon.channel import ALIVE, ALIVE_EVERY_S

_NO_DESCRIPTOR_S = 0.1


class WaitingClients:
    """Accepts clients in a thread of its own until the engine takes them over."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._clients: list[socket.socket] = []
        self._wake_in, self._wake_out = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="waiting clients", daemon=True)
        self._thread.start()

    def take(self) -> list[socket.socket]:
        """The clients that wait; no more are accepted here."""
        self._wake_in.close()
        self._thread.join()
        return self._clients

    def _run(self) -> None:
        told_at = time.monotonic()
        with self._wake_out:
            while True:
                within_s = max(0.0, told_at + ALIVE_EVERY_S - time.monotonic())
                ready, _, _ = select.select([self._listener, self._wake_out], [], [], within_s)
                if self._wake_out in ready:
                    return
                if ready:
                    self._accept()
                if time.monotonic() - told_at >= ALIVE_EVERY_S:
                    told_at = time.monotonic()
                    for client in self._clients:
                        # A client may have left; serving it will tell.
                        with contextlib.suppress(OSError):
                            client.sendall(ALIVE)

    def _accept(self) -> None:
        try:
            self._clients.append(self._listener.accept()[0])
        except OSError:
            # No file descriptor is left: the client stays in the queue, so `select` would return at once.
            time.sleep(_NO_DESCRIPTOR_S)
