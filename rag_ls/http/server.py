"""The HTTP server: listens, runs in a thread of the engine's process, and ends cleanly."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
import threading
import time
from typing import Any

import h11
import uvicorn
from mcp.server.lowlevel import Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from rag_ls.config import HttpSettings
from rag_ls.engine import Engine
from rag_ls.errors import HttpUnavailable, InvalidRequest
from rag_ls.http.app import MakeServer, make_application
from rag_ls.http.exchange import Address, parse_address
from rag_ls.http.sessions import CallerSession, find_needed_access
from rag_ls.http.tokens import TokenFile
from rag_ls.mcp import create_server
from rag_ls.operations import OPERATIONS, Operations

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
        if not self._is_waiting:
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
    def _is_waiting(self) -> bool:
        """Whether a request has not come yet, or not whole."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(REQUEST_S, self._close_if_waiting)

    def _close_if_waiting(self) -> None:
        if self._is_waiting:
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


_log = logging.getLogger(__name__)

_MAX_BACKLOG_CONNECTIONS = 1024
_START_S, _LOOK_S = 30.0, 0.01
_FINISH_S = 3
_END_S = 10.0
# More connections than this, or than half of the files that may be open, are closed at once: the engine needs files of its own.
_MAX_CONNECTIONS = 2000


def mcp_server(caller: CallerSession) -> Server[Any]:
    """The MCP server of one session: the tools that the settings offer and the token allows."""

    async def operations() -> Operations:
        return caller.session.operations

    allowed = {item.name for item in OPERATIONS if caller.token.access.includes(find_needed_access(item))}
    return create_server(operations, caller.session.toolsets, allowed, caller.slot)


class HttpServer:
    """One engine over HTTP."""

    def __init__(
        self, engine: Engine, settings: HttpSettings, tokens: TokenFile, make_server: MakeServer = mcp_server
    ) -> None:
        """Raises `HttpUnavailable` for an address that must not be served as the settings say."""
        self._settings = settings
        self._address = _check_address(settings)
        self._engine = engine
        self._tokens = tokens
        self._make_server = make_server
        self._thread: threading.Thread | None = None
        self._server: uvicorn.Server | None = None

    @property
    def url(self) -> str:
        """The address of the page."""
        return self._address.url(is_secure=bool(self._settings.cert))

    def start(self) -> None:
        """Listen, and serve in a thread. Raises `HttpUnavailable`."""
        at_most = min(_MAX_CONNECTIONS, _raise_file_limit(2 * _MAX_CONNECTIONS) // 2)
        listening = _open_listener(self._address, at_most)
        self._address = Address(self._address.host, listening.getsockname()[1])
        try:
            config = self._make_config()
        except HttpUnavailable:
            listening.close()
            raise
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._run_server, args=(self._server, listening), name="http", daemon=True
        )
        self._thread.start()
        deadline = time.monotonic() + _START_S
        while not self._server.started and self._thread.is_alive() and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
        if not self._server.started:
            raise HttpUnavailable(f"{self._address} is not served: the server did not start; its log says why")
        _log.info("HTTP at %s", self.url)

    @property
    def is_alive(self) -> bool:
        """Whether it serves, or begins to."""
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        """Finish the running requests, for a moment, and end."""
        if self._server is None or self._thread is None:
            return
        self._server.should_exit = True
        self._thread.join(_FINISH_S + 2)
        self._server.force_exit = True
        self._thread.join(_END_S)

    def _run_server(self, server: uvicorn.Server, listening: socket.socket) -> None:
        try:
            asyncio.run(server.serve(sockets=[listening]))
        except (Exception, SystemExit):
            _log.exception("HTTP ended")
        finally:
            listening.close()

    def _make_config(self) -> uvicorn.Config:
        settings = self._settings
        is_secure = bool(settings.cert)
        application = make_application(
            self._engine, self._tokens, self._address, settings, self._make_server, is_secure=is_secure
        )
        config = uvicorn.Config(
            application, http=PatientProtocol, ws="none", lifespan="on", log_config=None, log_level="warning",
            access_log=False, server_header=False, proxy_headers=False,
            timeout_graceful_shutdown=_FINISH_S, backlog=_MAX_BACKLOG_CONNECTIONS, ssl_certfile=settings.cert or None,
            ssl_keyfile=settings.key or None,
        )  # fmt: skip
        try:
            config.load()
        except (OSError, ssl.SSLError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise HttpUnavailable(
                f"the certificate {settings.cert!r} with the key {settings.key!r} cannot be used ({reason}): "
                "give --cert and --key files in PEM format that belong together"
            ) from error
        return config


def _check_address(settings: HttpSettings) -> Address:
    try:
        address = parse_address(settings.address)
    except InvalidRequest as error:
        raise HttpUnavailable(f"http.address: {error}") from error
    if bool(settings.cert) != bool(settings.key):
        raise HttpUnavailable("TLS needs both --cert and --key")
    if not (address.is_loopback or settings.cert or settings.behind_proxy):
        raise HttpUnavailable(
            f"{address} can be reached from other machines, where tokens and code would travel in the clear: give --cert "
            "and --key, or --behind-proxy if a proxy in front does TLS"
        )
    return address


def _open_listener(address: Address, at_most: int) -> socket.socket:
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = LimitedListening(family, kind, protocol, at_most)
    except OSError as error:
        raise HttpUnavailable(f"{address} cannot be listened on ({error.strerror}): give another address") from error
    try:
        # Take a port on which old connections still time out, but none on which another program listens.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(_MAX_BACKLOG_CONNECTIONS)
    except OSError as error:
        listening.close()
        why = "another program listens there" if error.errno == errno.EADDRINUSE else error.strerror
        raise HttpUnavailable(
            f"{address} cannot be listened on ({why}): give another with `rag-ls serve --http HOST:PORT`, or as http.address"
        ) from error
    return listening


def _raise_file_limit(count: int) -> int:
    """Raise the process's limit of open files, since each connection is one; returns how many of `count` it may open."""
    try:
        import resource
    except ImportError:
        return count
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted
