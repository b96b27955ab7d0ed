"""The engine: owns the models, the projects, the user's memories and the threads that answer. Clients share it."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rag_ls.config import FOLDER as HOMES_FOLDER
from rag_ls.config import (
    PROJECTS_FILE,
    LastGood,
    MemoryHomes,
    Registry,
    Settings,
    load_settings,
    logs,
    users_trusted_folders,
)
from rag_ls.embedding import HostedModel, ModelHost
from rag_ls.engine.collections import FOLDER as COLLECTIONS_FOLDER
from rag_ls.engine.collections import Collections, open_kept
from rag_ls.engine.events import Events, IndexComplete, IndexProgressed
from rag_ls.engine.maintenance import Maintenance
from rag_ls.engine.memory_folder import STATE_FILE, MemoryFolder
from rag_ls.engine.open_memories import close_unused
from rag_ls.engine.open_project import OpenProject
from rag_ls.engine.published import PublishedProjects
from rag_ls.engine.workers import Editors, OpenedOnce, Workers
from rag_ls.errors import RagLsError, StoreUnavailable
from rag_ls.indexing import ChangeSources, Cutters, Phase, Progress
from rag_ls.locations import user_data_folder
from rag_ls.memory import embed_missing
from rag_ls.project import Project
from rag_ls.storage import Connections, MemoryStore, SharedVectors, UnusableVectors, open_shared_vectors
from rag_ls.util.files import raise_handle_limit
from rag_ls.util.processes import give_back_memory, share_one_arena
from rag_ls.util.records import dataclass, field
from rag_ls.util.threads import Counts

_log = logging.getLogger(__name__)

# After indexing this many files or chunks, giving memory back to the system pays.
_MIN_BULK = 50
_TRIM_EVERY_S = 60.0
_LEAVE_S = 2.0
# Each connection holds up to three files. Half of all handles stay for sockets, processes and locks.
_HANDLES_A_CONNECTION = 6


@dataclass(frozen=True, slots=True)
class About:
    """Describes a client, for `status` and events."""

    surface: str
    """`lsp`, `mcp`, `cli` or `http`."""
    name: str = ""
    pid: int | None = None
    connected_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __str__(self) -> str:
        return f"{self.surface} {self.name}".strip()


@dataclass(slots=True)
class _Held:
    """An open project, its number of clients, and since when it has none."""

    project: OpenProject
    users: int = 0
    idle_since: float = 0.0


class Engine:
    """Does the work for any number of clients (see `client.Client`). Safe from several threads."""

    def __init__(self, *, editor: Mapping[str, Any] | None = None) -> None:
        """`editor` holds the settings of the engine's one editor, if the engine is not shared."""
        share_one_arena()
        self.connections = Connections(raise_handle_limit() // _HANDLES_A_CONNECTION)
        """The open connections to databases, few enough for this process's limit on files."""
        self.change_sources = ChangeSources()
        """The watchers of the projects' files."""
        self._lock = threading.RLock()
        self._released = threading.Condition(self._lock)
        self._projects: dict[Path, _Held] = {}
        self._gates: dict[Path, threading.Lock] = {}
        self._global_memories = OpenedOnce(self._open_memories)
        settings = load_settings(editor=editor).settings
        if problem := logs.configure(settings.log):
            _log.warning("%s", problem)
        self.counts = Counts()
        """The work of the models and the caches, counted for `/metrics`."""
        self.models = ModelHost(settings.embedding, counts=self.counts)
        self.cutters = Cutters()
        """The processes that parse documents."""
        self.settings = settings
        """The user's settings as they were at the start, which count for all clients."""
        self.shared_vectors = _shared_vectors(settings)
        """The vectors that a team shares, if the settings name a store."""
        self.published = PublishedProjects(settings.store, self.models, self.counts)
        """The code that a team published on that store."""
        threads = max(4, min(16, 2 * (os.cpu_count() or 1)))
        self.workers = Workers(threads, per_client=threads // 2)
        self._started = time.monotonic()
        self.address = ""
        """The address at which clients of other processes reach the engine; empty if it is not shared."""
        self.log_file = settings.log.file
        self._clients: dict[object, About] = {}
        self.last_good = LastGood()
        """The contents of settings files when they could last be read."""
        self._trim_wanted = False
        self._trimmed_at = time.monotonic()
        self.events = Events()
        self.editors = Editors()
        self._global_folder = MemoryFolder(
            self.events, None, user_data_folder() / STATE_FILE, lambda place: None, self.exchange_global_files
        )
        self.registry = Registry(user_data_folder() / PROJECTS_FILE)
        """The projects that clients opened."""
        self.memory_homes = MemoryHomes(user_data_folder() / HOMES_FOLDER, users_trusted_folders())
        """The folders in which the memories of projects live."""
        self.collections = Collections(user_data_folder() / COLLECTIONS_FOLDER, settings, self.connections)
        """The texts that programs pushed."""
        self.maintenance = Maintenance(self)

    @property
    def uptime_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def acquire(self, folder: Project, load_settings: Callable[[], Settings], *, scratch: bool = False) -> OpenProject:
        """Give one more client the project, opening it if needed. This alone indexes nothing. See `OpenProject`.

        Raises `ProjectUnavailable` or `StoreUnavailable`.
        """
        with self._lock:
            gate = self._gates.setdefault(folder.root, threading.Lock())
        # One gate per project: opening may take long (slow disk, another process's lock), and others must not wait.
        with gate:
            if (known := self._take_open(folder.root)) is not None:
                return known
            self.maintenance.follow(folder.root)
            project = OpenProject(folder, load_settings, self, scratch=scratch)
            project.indexing.listen(lambda progress: self._note_progress(project, progress))
            with self._lock:
                self._projects[folder.root] = _Held(project, users=1)
            return project

    def _take_open(self, root: Path) -> OpenProject | None:
        """Count one more client for an open project; None where it is not open, or lost."""
        with self._lock:
            held = self._projects.get(root)
            if held is None:
                return None
            held.users += 1
        if not held.project.is_lost:
            return held.project
        self._drop_project(root, held)
        return None

    def release(self, project: OpenProject, *, close: bool = False) -> None:
        """Count one client less for a project. The project stays open for the next client, unless `close`."""
        with self._lock:
            held = self._projects.get(project.root)
            if held is None or held.project is not project:
                return
            held.users -= 1
            if held.users:
                return
            self._released.notify_all()
            held.idle_since = time.monotonic()
            if not project.indexing.outlasts_clients:
                project.indexing.pause()
            if close:
                del self._projects[project.root]
        if close:
            project.close()

    @property
    def works_alone(self) -> bool:
        """Whether work goes on for which no client waits."""
        return any(not users and project.indexing.outlasts_clients for project, users in self.projects())

    def projects(self) -> list[tuple[OpenProject, int]]:
        """The open projects, each with its number of clients."""
        with self._lock:
            return [(held.project, held.users) for held in self._projects.values()]

    def close_unused(self, root: Path) -> bool:
        """Close a project if no client has it open; whether it is closed now.

        A client whose process just ended may still be leaving, so this waits for up to `_LEAVE_S` seconds.
        """
        with self._released:
            self._released.wait_for(lambda: (held := self._projects.get(root)) is None or not held.users, _LEAVE_S)
            held = self._projects.get(root)
            if held is not None and held.users:
                return False
            self._projects.pop(root, None)
        if held is not None:
            held.project.close()
        return True

    def close_idle(self, idle_s: float) -> None:
        """Close the projects that had no client for `idle_s` seconds, and those whose folder is gone."""
        with self._lock:
            projects = list(self._projects.items())
        for root, held in projects:
            # Outside the lock, because looking at a folder may take long.
            if held.project.is_lost:
                self._drop_project(root, held)
        with self._lock:
            now = time.monotonic()
            for held in self._projects.values():
                if not held.users and held.project.indexing.is_asked:
                    if held.project.indexing.outlasts_clients:
                        held.idle_since = now
                    else:
                        held.project.indexing.pause()
            idle = [
                (root, held)
                for root, held in self._projects.items()
                if held.users == 0 and now - held.idle_since >= idle_s
            ]
            for root, _ in idle:
                del self._projects[root]
        for root, held in idle:
            _log.info("closing %s", root)
            held.project.close()

    def join(self, client: object, about: About) -> None:
        with self._lock:
            self._clients[client] = about
        _log.info("%r came", str(about))

    def leave(self, client: object) -> None:
        """Remove a client, and drop its waiting questions."""
        self.workers.forget(client)
        with self._lock:
            about = self._clients.pop(client, None)
        if about is not None:
            _log.info("%r left", str(about))

    def clients(self) -> list[About]:
        """The connected clients, the longest connected first."""
        with self._lock:
            return list(self._clients.values())

    def global_memories(self) -> MemoryStore:
        """The user's memories, opened when they are first used. Raises `StoreUnavailable`."""
        return self._global_memories.get(user_data_folder())

    def open_projects(self) -> list[OpenProject]:
        return [project for project, _ in self.projects()]

    def known_roots(self) -> list[Path]:
        """The roots of this user's projects, those opened last first."""
        return [Path(item.root) for item in reversed(self.registry.projects())]

    def exchange_global_files(self) -> None:
        """Keep the user's memories and their files the same, if the user's settings name a folder for them."""
        if folder := self.settings.memory.global_files:
            self._global_folder.exchange(self.global_memories(), Path(folder).expanduser(), ".")

    def embed_global_memories(self) -> None:
        """Embed a few of the user's memories that have no vectors yet."""
        if self.models.is_off:
            return
        for _, memories in self._global_memories.items():
            if not close_unused(memories) and (model := self._find_rested_model()) is not None:
                embed_missing(memories, model)

    def embed_collections(self) -> None:
        """Embed a few chunks of the opened collections that have no vectors yet."""
        if self.models.is_off or not self.collections.has_open:
            return
        if (model := self._find_rested_model()) is not None:
            self.collections.embed_missing(model)

    def _find_rested_model(self) -> HostedModel | None:
        """The configured model, if it is ready and did not fail shortly ago."""
        model = self.models.get(self.models.configured().id)
        return None if model is None or model.has_failed else model

    def close(self) -> None:
        """Stop everything; unfinished work stays queued in the projects."""
        self.maintenance.stop()
        with self._lock:
            projects, self._projects = [held.project for held in self._projects.values()], {}
        for project in projects:
            project.indexing.begin_stop()
        # A running batch may take a second; ending its process ends this wait.
        self.models.close()
        self.cutters.close()
        self.workers.close()
        for project in projects:
            project.close()
        self.exchange_global_files()
        self._global_folder.close()
        for memories in self._global_memories.take_all():
            memories.close()
        self.collections.close()
        self.published.close()
        if self.shared_vectors is not None:
            self.shared_vectors.close()

    def _open_memories(self, folder: Path) -> MemoryStore:
        return open_kept(folder, "global memories", self.settings, self.connections)

    def _drop_project(self, root: Path, held: _Held) -> None:
        """Close a lost project in a thread of its own: its running batch may take seconds."""
        with self._lock:
            if self._projects.get(root) is held:
                del self._projects[root]
        _log.info("closing %s, which is gone or damaged", root)
        threading.Thread(target=held.project.close, name="closing", daemon=True).start()

    def _note_progress(self, project: OpenProject, progress: Progress) -> None:
        root = project.root
        self.events.tell(IndexProgressed(root, progress.phase.value, progress.done, progress.total))
        if progress.total >= _MIN_BULK:
            self._trim_wanted = True
        if progress.phase is Phase.IDLE and not project.is_closed:
            self.events.tell(IndexComplete(root))
            threading.Thread(target=self._maintain_project, args=(project,), name="maintenance", daemon=True).start()

    def _maintain_project(self, project: OpenProject) -> None:
        # Embedding needs this memory again. Trimming it after each edit would double the time of embedding the edit.
        if self._trim_wanted or time.monotonic() - self._trimmed_at >= _TRIM_EVERY_S:
            self._trim_wanted, self._trimmed_at = False, time.monotonic()
            give_back_memory()
        try:
            project.maintain()
        except (RagLsError, OSError) as error:
            _log.warning("maintenance of %s failed: %s", project.root, error)


def _shared_vectors(settings: Settings) -> SharedVectors | None:
    try:
        return open_shared_vectors(settings.store)
    except StoreUnavailable as error:
        # The status of each project tells the reason.
        return UnusableVectors(error)
