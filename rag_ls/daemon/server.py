"""Accepts clients of the engine: checks them, decides how long the engine stays, and ends it."""

from __future__ import annotations

import contextlib
import functools
import hmac
import logging
import os
import re
import selectors
import socket
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from rag_ls import __version__
from rag_ls.config import DaemonSettings
from rag_ls.daemon import connecting, connections
from rag_ls.daemon.background import HttpHost
from rag_ls.daemon.channel import GREETING_S, MAX_GREETING_BYTES, PROTOCOL_VERSION, Channel, EngineLost, Json
from rag_ls.daemon.connecting import Listening
from rag_ls.engine import Engine
from rag_ls.errors import HttpUnavailable
from rag_ls.util.files import describe_no_handles, has_free_handles
from rag_ls.util.records import dataclass

_log = logging.getLogger(__name__)

_LOOK_S = 30.0
# The log says at most this often that no client can be accepted.
_COMPLAIN_EVERY_S = 60.0
# The time that pending answers may take when the engine is told to stop.
_FINISH_S = 5.0
_CLOSE_DOOR_S = 2.0
_NO_DESCRIPTOR_S = 0.1
# A client needs four, its requests open files too, and others come at the same moment.
_SPARE_HANDLES = 16


@dataclass(frozen=True, slots=True)
class Patience:
    """The seconds for which an unused engine, or an unused project, is kept."""

    engine_s: float
    project_s: float


class Succession(NamedTuple):
    """The signs that another engine is to take this one's place, and the way to let it."""

    make_way: Callable[[], None]
    """Lets another engine begin."""
    has_other_settings: Callable[[], bool]
    has_other_code: Callable[[], bool]
    is_reachable: Callable[[], bool]
    """Whether clients still find this engine."""


class EngineServer:
    """Accepts clients in the calling thread, and serves each in its own thread."""

    def __init__(
        self,
        engine: Engine,
        listening: Listening,
        patience: Patience,
        succession: Succession,
        *,
        http: HttpHost,
        is_by_hand: bool = False,
        max_connections: int = DaemonSettings().max_connections,
    ) -> None:
        """An engine that serves `http` does not end for want of clients. One that a person started, `is_by_hand`, is started by
        no client again, so it does not end for new code.
        """
        self._engine = engine
        self._listening = listening
        self._patience = patience
        self._succession = succession
        self._http = http
        self._is_by_hand = is_by_hand
        self._max_connections = max_connections
        self._is_told_of_code = False
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_in.setblocking(False)
        self._channels: set[Channel] = set()
        self._change = threading.Condition()
        self.is_stopping = False
        self._leaving = False
        self._door_closed = threading.Event()
        self._alone_since = time.monotonic()
        self._complains_at = 0.0
        self._tidying = threading.Thread()

    def run(self) -> None:
        """Serve clients until `stop`, or until none came for long, or until another engine takes over and all left."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._listening.socket, selectors.EVENT_READ)
            selector.register(self._wake_out, selectors.EVENT_READ)
            look_s = min(_LOOK_S, self._patience.engine_s, self._patience.project_s) or 0.1
            while not self._is_over():
                for key, _ in selector.select(look_s):
                    if key.fileobj is self._wake_out:
                        self._wake_out.recv(1024)
                        if self._leaving:
                            self._close_door(selector)
                    elif not self._leaving:
                        self._accept()
                self._tidy_up()
                self._end_if_replaced()
                if not self._leaving and not self._succession.is_reachable():
                    _log.warning("the socket is gone: making way for an engine that can be found")
                    self._leaving = True
                    self._close_door(selector)
        self._finish()

    def _tidy_up(self) -> None:
        """Close unused projects in a separate thread, because a folder on a drive that hangs may block."""
        if not self._tidying.is_alive():
            work = functools.partial(self._engine.close_idle, self._patience.project_s)
            self._tidying = threading.Thread(target=work, name="tidying", daemon=True)
            self._tidying.start()

    def _end_if_replaced(self) -> None:
        if self.is_stopping or not self._succession.has_other_code():
            return
        if self._is_by_hand or self._http.is_asked_for:
            if not self._is_told_of_code:
                self._is_told_of_code = True
                _log.warning("rag-ls was installed anew: start this engine again, as you started it")
        elif self._channels or not self._http.is_on:
            # A connected client starts the next engine, which serves HTTP if the settings say so.
            _log.warning("rag-ls was installed anew: ending, so that an engine of the new code takes over")
            self.stop()

    def stop(self) -> None:
        """End soon. May be called from a signal handler."""
        self.is_stopping = True
        self._wake()

    def _is_over(self) -> bool:
        if self.is_stopping:
            return True
        with self._change:
            if self._channels or self._http.is_on or self._engine.works_alone:
                self._alone_since = time.monotonic()
                return False
        return self._leaving or time.monotonic() - self._alone_since >= self._patience.engine_s

    def _accept(self) -> None:
        try:
            connection, _ = self._listening.socket.accept()
        except OSError as error:
            # The process has no file descriptor left, or the client has gone again.
            if time.monotonic() >= self._complains_at:
                self._complains_at = time.monotonic() + _COMPLAIN_EVERY_S
                _log.warning("a client could not be accepted: %s", error)
            # The client stays in the queue, so `select` would return at once; nothing tells when a descriptor is freed.
            time.sleep(_NO_DESCRIPTOR_S)
            return
        threading.Thread(target=self._serve, args=(connection,), name="client", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        channel = Channel(connection)
        # Before the client is told that it may stay: an engine that makes way ends when no client is left.
        with self._change:
            self._channels.add(channel)
        try:
            hello = self._greet(channel)
            if hello is not None:
                connections.serve(self._engine, channel, hello)
        except (OSError, EngineLost) as error:
            _log.info("a client left: %s", error)
        except Exception:
            _log.exception("a client's session failed")
        finally:
            with self._change:
                self._channels.discard(channel)
                self._change.notify_all()
            channel.hang_up()
            self._wake()

    def _greet(self, channel: Channel) -> Json | None:
        """The greeting of an accepted client; None for any other."""
        channel.socket.settimeout(GREETING_S)
        if not self._may_enter(channel.socket):
            _log.warning("a process of another user was turned away")
            return None
        hello = channel.receive(MAX_GREETING_BYTES)
        if hello is None or not hmac.compare_digest(str(hello.get("token", "")), self._listening.token):
            return None
        refusal = self._refusal(hello)
        if refusal is not None:
            channel.send({"ok": False, **refusal})
            return None
        if hello.get("surface") == "stop":
            channel.send({"ok": True, "pid": os.getpid()})
            self.stop()
            return None
        if hello.get("surface") == "http":
            channel.send(self._http_answer(hello.get("http")))
            return None
        channel.send({"ok": True, "pid": os.getpid(), "version": __version__})
        channel.socket.settimeout(None)
        return hello

    def _http_answer(self, asked: object) -> Json:
        """Serve HTTP for a command that asks for it."""
        try:
            url = self._http.start(asked if isinstance(asked, dict) else None)
        except HttpUnavailable as error:
            return {"ok": False, "reason": "http", "message": str(error)}
        except Exception as error:
            _log.exception("HTTP failed")
            return {"ok": False, "reason": "http", "message": f"HTTP failed: {type(error).__name__}: {error}"}
        return {"ok": True, "pid": os.getpid(), "url": url}

    def _refusal(self, hello: Json) -> Json | None:
        if hello.get("surface") == "stop":
            return None
        self._end_if_replaced()
        if self._leaving or self.is_stopping:
            return {"reason": "leaving", "message": "the engine is about to end"}
        if hello.get("rag_ls") != PROTOCOL_VERSION or hello.get("surface") not in (*connections.SURFACES, "http"):
            message = f"the running engine is rag-ls {__version__} and does not understand this one; run `rag-ls stop`"
            return {"reason": "protocol", "message": message}
        if as_numbers(str(hello.get("version", ""))) > as_numbers(__version__):
            return self._leave_to(f"rag-ls {hello['version']}, which is newer")
        if self._succession.has_other_settings():
            return self._leave_to("an engine with the settings that the user's file names now")
        if len(self._channels) > self._max_connections:
            message = (
                f"the engine serves {self._max_connections:,} clients, the most that daemon.max_connections allows"
            )
            return {"reason": "full", "message": message}
        if not has_free_handles(_SPARE_HANDLES):
            return {"reason": "handles", "message": describe_no_handles("the engine")}
        return None

    def _leave_to(self, other: str) -> Json:
        _log.warning("making way for %s; the clients that are in stay until they leave", other)
        self._leaving = True
        self._wake()
        # Release the lock before answering: the refused client may start the next engine at once.
        self._door_closed.wait(_CLOSE_DOOR_S)
        return {"reason": "leaving", "message": "the engine makes way for another"}

    def _may_enter(self, connection: socket.socket) -> bool:
        if self._listening.token:
            return True
        user = connecting.peer_user(connection)
        return user is None or user in (os.getuid(), 0)

    def _close_door(self, selector: selectors.BaseSelector) -> None:
        """Accept no more clients, so that another engine can; connected clients stay."""
        if self._listening.socket.fileno() >= 0:
            selector.unregister(self._listening.socket)
            self._listening.socket.close()
            # The next engine needs the port.
            threading.Thread(target=self._http.stop, name="http stop", daemon=True).start()
            self._succession.make_way()
        self._door_closed.set()

    def _finish(self) -> None:
        """Let pending answers arrive, then disconnect all clients."""
        # Done first: a client that waits in the queue then starts the next engine.
        self._listening.socket.close()
        self._engine.workers.wait_until_idle(_FINISH_S)
        self._http.stop()
        with self._change:
            channels = list(self._channels)
        for channel in channels:
            with contextlib.suppress(OSError):
                channel.socket.shutdown(socket.SHUT_RDWR)
        with self._change:
            self._change.wait_for(lambda: not self._channels, _FINISH_S)

    def _wake(self) -> None:
        with contextlib.suppress(OSError):
            self._wake_in.send(b".")


def as_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, in order, for comparing."""
    return tuple(int(re.match(r"\d*", part)[0] or 0) for part in version.split("."))  # type: ignore[index]
