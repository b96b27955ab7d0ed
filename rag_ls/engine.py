"""The one facade: owns the models, the open projects and the memories that belong to no project."""

from __future__ import annotations

import functools
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag_ls import config, logs, memory
from rag_ls.config import Loaded, Settings
from rag_ls.embedding import ModelHost
from rag_ls.errors import MemoriesUnavailable, PathOutsideProject
from rag_ls.indexing import Progress
from rag_ls.indexing.progress import Phase
from rag_ls.model import Hit, Scope, SearchAnswer, SearchStats
from rag_ls.project import Project, find_project, make_private_folder, user_data_folder
from rag_ls.requests import SearchRequest
from rag_ls.storage import MEMORIES_FILE, MemoryStore
from rag_ls.workspace import OpenProject

_log = logging.getLogger(__name__)


class Engine:
    """Does all the work, for any number of projects. Safe from several threads."""

    def __init__(self, *, editor: Mapping[str, Any] | None = None, now: memory.Clock = memory.utc_now) -> None:
        """`editor` holds the settings that the editor sent."""
        self._editor = editor
        self._now = now
        self._lock = threading.RLock()
        self._projects: dict[Path, OpenProject] = {}
        self._scratch: Path | None = None
        self._memories: dict[Scope, MemoryStore] = {}
        settings = self.load_settings().settings
        if problem := logs.configure(settings.log):
            _log.warning("%s", problem)
        self._models = ModelHost(settings.embedding)

    def load_settings(self, project: Project | None = None) -> Loaded:
        """The settings in force, with what is wrong with them."""
        return config.load(project, editor=self._editor)

    def open(self, folder: str | os.PathLike[str]) -> OpenProject:
        """The open project around a folder, opened when it is not yet; nothing is indexed by that alone.

        Raises `ProjectUnavailable`.
        """
        return self.open_project(find_project(folder))

    def open_project(self, project: Project) -> OpenProject:
        """As `open`, for a project whose root is known."""
        with self._lock:
            if project.root not in self._projects:
                load_settings = functools.partial(self._settings_of, project)
                scratch = project.root == self._scratch
                opened = OpenProject(
                    project, load_settings, self._models, self._user_memories, self._now, scratch=scratch
                )
                opened.indexing.listen(lambda progress: self._upkeep(opened, progress))
                self._projects[project.root] = opened
            return self._projects[project.root]

    def open_scratch(self) -> OpenProject:
        """A project of no folder, for an editor that opened none: it holds unsaved and guest documents alone."""
        with self._lock:
            if self._scratch is None:
                self._scratch = Path(tempfile.mkdtemp(prefix="rag-ls-")).resolve()
            return self.open_project(Project(self._scratch))

    def close_project(self, root: Path) -> None:
        """Close one project."""
        with self._lock:
            opened = self._projects.pop(root, None)
        if opened is not None:
            opened.close()

    def projects(self) -> list[OpenProject]:
        """The open projects, in the order in which they were opened."""
        with self._lock:
            return list(self._projects.values())

    def project_of(self, path: str | os.PathLike[str]) -> OpenProject | None:
        """The open project that a file belongs to, the innermost of several, or None."""
        holders = []
        for opened in self.projects():
            try:
                opened.project.relative(Path(os.path.abspath(path)))
            except PathOutsideProject:
                continue
            holders.append(opened)
        return max(holders, key=lambda opened: len(str(opened.project.root)), default=None)

    def search(
        self, request: SearchRequest, *, wait_for_model_s: float = 0.0
    ) -> list[tuple[OpenProject, SearchAnswer]]:
        """Ask every open project."""
        return [(opened, opened.search(request, wait_for_model_s=wait_for_model_s)) for opened in self.projects()]

    def apply_editor_settings(self, editor: Mapping[str, Any]) -> Loaded:
        """Take new settings from the editor. What an index is made with (index, chunking, embedding) counts from the next start."""
        with self._lock:
            self._editor = editor
            loaded = self.load_settings()
            for opened in self.projects():
                opened.settings = self._settings_of(opened.project)
        return loaded

    def close(self) -> None:
        """Stop everything; what is left to do stays queued in the projects."""
        with self._lock:
            projects, self._projects = list(self._projects.values()), {}
        for opened in projects:
            opened.indexing.begin_stop()
        # A batch in hand may take a second: ending its process ends the wait for it.
        self._models.close()
        for opened in projects:
            opened.close()
        for store in self._memories.values():
            store.close()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _settings_of(self, project: Project) -> Settings:
        loaded = self.load_settings(project)
        for problem in loaded.problems:
            _log.warning("%s", problem)
        return loaded.settings

    def _user_memories(self, scope: Scope) -> MemoryStore:
        with self._lock:
            if scope not in self._memories:
                path = None
                if scope is Scope.GLOBAL:
                    folder = user_data_folder()
                    try:
                        make_private_folder(folder)
                    except OSError as error:
                        raise MemoriesUnavailable(f"{folder} cannot be made ({error}); set RAG_LS_HOME") from error
                    path = folder / MEMORIES_FILE
                self._memories[scope] = MemoryStore(path, scope)
            return self._memories[scope]

    def _upkeep(self, opened: OpenProject, progress: Progress) -> None:
        if progress.phase is Phase.IDLE:
            threading.Thread(target=opened.maintain, name="upkeep", daemon=True).start()


def merged(query: str, answers: list[SearchAnswer], k: int) -> SearchAnswer:
    """Answers of several projects as one, best hits first, each hit once."""
    best: dict[str, Hit] = {}
    for hit in sorted((hit for answer in answers for hit in answer.hits), key=lambda hit: -hit.score):
        best.setdefault(hit.item.id, hit)
    hits = list(best.values())[:k]
    stats = [answer.stats for answer in answers]
    return SearchAnswer(
        query,
        tuple(hits),
        SearchStats(
            took_ms=round(sum(item.took_ms for item in stats), 1),
            dense=bool(stats) and all(item.dense for item in stats),
            candidates=sum(item.candidates for item in stats),
            complete=all(item.complete for item in stats),
            pending_documents=sum(item.pending_documents for item in stats),
            pending_embeddings=sum(item.pending_embeddings for item in stats),
            note=next((item.note for item in stats if item.note), ""),
        ),
    )
