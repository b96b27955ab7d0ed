"""The engine's HTTP server: started by the settings, by the command line, or when a command asks for it."""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rag_ls.config.engine_settings import HttpSettings
from rag_ls.config.values import describe_settings
from rag_ls.engine.engine import Engine
from rag_ls.errors import HttpUnavailable, InvalidRequest
from rag_ls.locations import user_data_folder
from rag_ls.project import make_private_folder

if TYPE_CHECKING:
    from rag_ls.http.server import HttpServer

_log = logging.getLogger(__name__)

# An engine that makes way for this one may still hold the port for a moment.
_TRIES, _TRY_AGAIN_S = 10, 1.0


class HttpHost:
    """Serves one engine over HTTP, at one address at most. Safe from several threads. Imports nothing until it starts."""

    def __init__(self, engine: Engine, settings: HttpSettings) -> None:
        self._engine = engine
        self._settings = settings
        self._lock = threading.Lock()
        self._server: HttpServer | None = None
        self._starting = False
        self.is_asked_for = False
        """Whether a command asked for HTTP: an engine that takes over would not serve it."""
        self._stopped = threading.Event()

    @property
    def is_on(self) -> bool:
        """Whether HTTP is served, or will be in a moment."""
        return self._starting or (self._server is not None and self._server.is_alive)

    def start(self, asked: Mapping[str, Any] | None = None) -> str:
        """Serve HTTP unless that is done already; `asked` overrides the settings' address and TLS. Returns the URL.

        Raises `HttpUnavailable`, also if HTTP is served at another address than the one that is asked for.
        """
        from rag_ls.http.server import HttpServer
        from rag_ls.http.tokens import TokenFile

        wanted = settings_as_asked(self._settings, asked or {})
        with self._lock:
            if self._server is not None and self._server.is_alive:
                if _way(wanted) != _way(self._settings):
                    raise HttpUnavailable(
                        f"the engine serves HTTP at {self._server.url} already, not as asked; `rag-ls stop` ends it, then "
                        "start it anew"
                    )
                self.is_asked_for |= asked is not None
                return self._server.url
            folder = user_data_folder()
            try:
                make_private_folder(folder)
            except OSError as error:
                raise HttpUnavailable(f"{folder} cannot be made ({error}); set RAG_LS_HOME") from error
            server = HttpServer(self._engine, wanted, TokenFile(folder))
            server.start()
            self._server, self._settings = server, wanted
            self.is_asked_for |= asked is not None
            return server.url

    def start_in_background(self) -> None:
        """Serve as the settings say; what is wrong goes to the log, and the engine goes on."""
        self._starting = True
        threading.Thread(target=self._try_to_start, name="http start", daemon=True).start()

    def stop(self) -> None:
        """End the server, if there is one."""
        self._stopped.set()
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.stop()

    def _try_to_start(self) -> None:
        try:
            for left in reversed(range(_TRIES)):
                try:
                    self.start()
                    return
                except HttpUnavailable as error:
                    _log.log(logging.INFO if left else logging.ERROR, "no HTTP: %s", error)
                if self._stopped.wait(_TRY_AGAIN_S):
                    return
        finally:
            self._starting = False


def settings_as_asked(settings: HttpSettings, asked: Mapping[str, Any]) -> HttpSettings:
    """The settings with what the options of a command ask for."""
    changes = {key: value for key, value in asked.items() if f"http.{key}" in _with_option() and value}
    return dataclasses.replace(settings, **changes)


def _with_option() -> frozenset[str]:
    """The settings that an option of the shell sets for one run."""
    return frozenset(info.key for info in describe_settings() if info.option)


def _way(settings: HttpSettings) -> tuple[object, ...]:
    """The address, certificate and proxy by which HTTP is served."""
    from rag_ls.http.address import parse_address

    try:
        address: object = parse_address(settings.address)
    except InvalidRequest:
        address = settings.address
    return address, settings.cert, settings.key, settings.behind_proxy
