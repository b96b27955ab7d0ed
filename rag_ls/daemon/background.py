"""The work of an engine beside its clients' questions: serving HTTP, and indexing the projects that the settings list."""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_ls.config import HttpSettings, Settings, describe_settings, load_settings, off_branch
from rag_ls.engine import Engine
from rag_ls.errors import HttpUnavailable, RagLsError
from rag_ls.indexing import Phase
from rag_ls.locations import user_data_folder
from rag_ls.project import Project, make_private_folder
from rag_ls.storage import index_summary

if TYPE_CHECKING:
    from rag_ls.http import HttpServer

_log = logging.getLogger(__name__)

# An engine that makes way for this one may still hold the port for a moment.
_TRIES, _TRY_AGAIN_S = 10, 1.0
_WAY = ("address", "cert", "key", "behind_proxy")
"""The settings that say how HTTP is served."""

_LOOK_S = 0.5
# The process that started the engine is about to ask it something.
_FIRST_S = 2.0


class HttpHost:
    """Serves one engine over HTTP, at one address at most, as the settings, the command line or a command asks.

    Safe from several threads. Imports nothing until it starts.
    """

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
        from rag_ls.http import HttpServer, TokenFile

        wanted = settings_as_asked(self._settings, asked or {})
        with self._lock:
            if self._server is not None and self._server.is_alive:
                if any(getattr(wanted, name) != getattr(self._settings, name) for name in _WAY):
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


# --- projects of the settings


class ConfiguredProjects:
    """Indexes the listed projects in the background, one after the other; questions go first (see `OpenProject`)."""

    def __init__(self, engine: Engine, *, first_s: float = _FIRST_S) -> None:
        self._engine = engine
        self._first_s = first_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="configured projects", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop early; the next client that opens an unfinished project continues it."""
        self._stop.set()

    def _run(self) -> None:
        if self._stop.wait(self._first_s):
            return
        for entry in load_settings(last_good=self._engine.last_good).settings.projects:
            for root in entry.roots:
                if self._stop.is_set():
                    return
                try:
                    self._index(Project(Path(root)), entry.name)
                except (RagLsError, OSError) as error:
                    _log.warning("%s is not indexed: %s", root, error)

    def _index(self, project: Project, name: str) -> None:
        held = index_summary(project)
        if not project.root.is_dir() or (held is not None and held.is_complete(self._engine.models.count_awaited)):
            return
        settings = self._settings(project)
        if not settings.index.on_open or off_branch(settings.index.branch, project.root):
            return
        _log.info("indexing %s", project.root)
        shared = self._engine.acquire(project, lambda: self._settings(project))
        try:
            self._engine.registry.note_opened(project.root, name=name, from_config=True)
            shared.indexing.index_tree()
            embeddings = bool(self._engine.models.configured_id)
            while not self._stop.is_set() and not shared.is_lost:
                is_done = shared.indexing.wait_until_idle(_LOOK_S, embeddings=embeddings)
                if is_done or shared.indexing.progress.phase is Phase.CANCELLED:
                    return
        finally:
            self._engine.release(shared)

    def _settings(self, project: Project) -> Settings:
        return load_settings(project, last_good=self._engine.last_good).settings
