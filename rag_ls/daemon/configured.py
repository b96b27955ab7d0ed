"""Indexes the projects that the user's settings list before a client opens them."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from rag_ls.config.known_projects import off_branch
from rag_ls.config.loading import load_settings
from rag_ls.config.settings import Settings
from rag_ls.engine.engine import Engine
from rag_ls.errors import RagLsError
from rag_ls.indexing import Phase
from rag_ls.project import Project
from rag_ls.storage import index_summary

_log = logging.getLogger(__name__)

_LOOK_S = 0.5
# The process that started the engine is about to ask it something.
_FIRST_S = 2.0


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

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

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
