"""One client of an engine: an editor window, an agent or a shell command.

A client owns its settings, the projects that it opened, its unsaved documents and its session's memories.
"""

from __future__ import annotations

import functools
import logging
import os
import shlex
import shutil
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from rag_ls import memory
from rag_ls.config import (
    CONFIG,
    KnownProject,
    Loaded,
    Problem,
    Settings,
    called,
    entry_of,
    list_known_projects,
    load_settings,
)
from rag_ls.engine.engine import About, Engine
from rag_ls.engine.requests import SearchRequest
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import (
    AccessRefused,
    NotFound,
    NotIndexed,
    PathOutsideProject,
    ProjectUnavailable,
    ScopeRefused,
    StoreUnavailable,
)
from rag_ls.memory import make_read_only
from rag_ls.model import Scope, SearchAnswer
from rag_ls.project import Project, check_may_become_project, existing_project, find_project
from rag_ls.storage import MemoryStore, open_memories
from rag_ls.util.text import fold

_log = logging.getLogger(__name__)


class Client:
    """The interface that a surface (LSP, MCP, CLI) uses. Safe from several threads."""

    def __init__(
        self,
        engine: Engine,
        *,
        editor: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        about: About,
        now: memory.Clock = memory.utc_now,
        alone: bool = False,
        only: Collection[str] | None = None,
        asks_all: bool = False,
        is_agent: bool = False,
    ) -> None:
        """`editor` holds the settings that the editor sent, `environment` the client's own variables.

        A client that is `alone` with its engine closes it when it leaves. `only` names the projects (by name or root)
        that the client sees, with their memories and those of its session; None for all. A client that `asks_all` means
        all projects that it sees where a question names none. Texts may have talked one that `is_agent` into something:
        in a folder that the user does not trust, it sees that alone and changes no global memories; in no folder, it sees
        the projects that the user trusts or lists in the settings.
        """
        self.engine = engine
        self._editor = editor
        self._environment = environment
        self._now = now
        self._alone = alone
        self._only = None if only is None else tuple(only)
        self._is_agent = is_agent
        self._own: frozenset[Path] = frozenset()
        """The roots of the projects around the folders that the client named, none of those that it only asked of."""
        self.asks_all = asks_all
        self.about = about
        self._lock = threading.RLock()
        self._sessions: dict[Path, ProjectSession] = {}
        # Opened for one question that named them; the client works in other projects.
        self._aside: set[Path] = set()
        self._scratch: Path | None = None
        self.why_none: NotIndexed | None = None
        """The reason why no project is open, if the folder that the client named is no project."""
        self._session_memories: MemoryStore | None = None
        self._closed = False
        engine.join(self, about)

    def load_settings(self, project: Project | None = None) -> Loaded:
        """The settings in force, with their problems."""
        with self._lock:
            folders = list(self._sessions)
        return load_settings(
            project,
            environment=self._environment,
            editor=self._editor,
            last_good=self.engine.last_good,
            folders=folders,
        )

    def problems(self) -> list[Problem]:
        """The present problems of the open projects' settings, without duplicates."""
        with self._lock:
            projects: list[Project | None] = [session.project.folder for session in self._sessions.values()]
        found = [problem for project in projects or [None] for problem in self.load_settings(project).problems]
        return list(dict.fromkeys(found))

    def open(self, folder: str | os.PathLike[str], *, on_purpose: bool = False) -> ProjectSession:
        """Open the project around a folder, if it is not open yet. This alone indexes nothing.

        Raises `ProjectUnavailable`, and `NotIndexed` for home and the like, unless the user asks for them `on_purpose`.
        """
        project = find_project(folder)
        if not on_purpose:
            check_may_become_project(project.root)
        self._own |= {project.root}
        return self.open_project(project)

    def open_existing(self, folder: str | os.PathLike[str]) -> ProjectSession:
        """As `open`, for reading only: it does not make a folder into a project. Raises `NotIndexed`."""
        project = find_project(folder)
        if all(project.root != known.root for known in self.known_projects()):
            project = existing_project(folder)
        return self.open_project(project)

    def open_project(self, project: Project, *, aside: bool = False) -> ProjectSession:
        """As `open`, for a known project root. A project opened `aside` answers only when a question names it."""
        self._check_seen(project.root)
        with self._lock:
            if self._closed:
                raise ProjectUnavailable(f"{project.root} is not opened for a client that left")
            session = self._sessions.get(project.root)
            if not aside:
                self._aside.discard(project.root)
            if session is not None:
                self._reopen_lost(session)
            else:
                load_settings = functools.partial(self._settings_of, project)
                scratch = project.root == self._scratch
                opened = self.engine.acquire(project, self._settings_for_all(project), scratch=scratch)
                if self._editor and not self._alone:
                    opened.use_settings(load_settings)
                session = ProjectSession(
                    opened,
                    load_settings,
                    self._user_memories,
                    self._now,
                    scratch=scratch,
                    sees_all=lambda: self.sees_all,
                )
                self._sessions[project.root] = session
                if aside:
                    self._aside.add(project.root)
                if not scratch:
                    self._note_opened(session)
            return session

    def _note_opened(self, session: ProjectSession) -> None:
        """Record the project in the registry, so that it can be named from now on."""
        entry = entry_of(session.settings.projects, session.project.root)
        name = entry.name if entry else ""
        self.engine.registry.note_opened(session.project.root, name=name, from_config=entry is not None)

    def open_scratch(self, *, aside: bool = False) -> ProjectSession:
        """Open a project without a folder, for an editor without one. It holds only unsaved and guest documents."""
        with self._lock:
            if self._scratch is None:
                self._scratch = Path(tempfile.mkdtemp(prefix="rag-ls-")).resolve()
            session = self.open_project(Project(self._scratch), aside=aside)
        if not session.indexing.scanned:
            # Scan the empty tree, so that its index counts as complete.
            session.keep_indexed()
        return session

    def close_project(self, root: Path) -> None:
        """Close one project for this client."""
        self._close_sessions(lambda: [root])

    def close_aside(self, root: Path | None = None) -> None:
        """Close the projects that are open aside, or this one of them; a question that names one opens it again."""
        self._close_sessions(lambda: [each for each in self._aside if root in (None, each)])

    def projects(self) -> list[ProjectSession]:
        """The projects that this client opened, in that order, without those that are open aside."""
        return [session for session in self.all_projects() if session.project.root not in self._aside]

    def all_projects(self) -> list[ProjectSession]:
        """As `projects`, with those that are open aside."""
        with self._lock:
            for session in self._sessions.values():
                self._reopen_lost(session)
            sessions = list(self._sessions.values())
        # A folder may be trusted no longer.
        return [each for each in sessions if self._is_seen(each.project.root)] if self.why_limited else sessions

    def known_projects(self) -> list[KnownProject]:
        """The projects that can be named: those of the settings, and those that were opened before, if the client sees
        them."""
        entries = self.load_settings().settings.projects
        known = list_known_projects(entries, self.engine.registry.projects())
        if self.why_limited:
            return [item for item in known if (item.root in self._own if self._own else self._is_chosen(item))]
        if self._only is None:
            return known
        seen = {item.root: item for name in self._only for item in called(known, name)}
        return list(seen.values())

    @property
    def why_limited(self) -> str:
        """The reason why an agent may not see all, with the remedy; empty for one that may, and for other clients."""
        if self.strange_folder is not None:
            line = f"rag-ls trust {shlex.quote(str(self.strange_folder))}"
            return (
                f"{fold(str(self.strange_folder))} is not trusted, so an agent there may ask of this project alone, and change no "
                f"global memories; the user may trust it, at the shell: `{fold(line)}`"
            )
        if self._is_agent and not self._own:
            return (
                "an agent outside of any project may ask of projects that the user trusts or lists in the settings alone; the "
                "user starts it in the project's folder, or trusts that, at the shell: `rag-ls trust FOLDER`"
            )
        return ""

    @property
    def strange_folder(self) -> Path | None:
        """The folder of an agent that the user does not trust; None for none, and for other clients."""
        own = sorted(self._own) if self._is_agent else ()
        return next((root for root in own if not self.engine.memory_homes.trusts(Project(root))), None)

    def _is_chosen(self, item: KnownProject) -> bool:
        """Whether the user listed a project in the settings, or trusts it."""
        return item.source == CONFIG or self.engine.memory_homes.trusts(Project(item.root))

    @property
    def sees_all(self) -> bool:
        """Whether the client sees all projects, and the user's memories."""
        return self._only is None and not self.why_limited

    @property
    def project_ids(self) -> tuple[str, ...] | None:
        """The project ids of collections that the client sees; None for all."""
        if self.sees_all:
            return None
        return tuple(dict.fromkeys(item.name for item in self.known_projects()))

    def _check_seen(self, root: Path) -> None:
        if self._is_seen(root):
            return
        if self.why_limited:
            raise AccessRefused(f"{root} is not asked: {self.why_limited}")
        if self._only is not None:
            names = ", ".join(item.name for item in self.known_projects()) or "none"
            raise NotFound(f"there is no project {root} for this token; it sees {names}")

    def _is_seen(self, root: Path) -> bool:
        return (
            self.sees_all
            or root in self._own | {self._scratch}
            or any(root == item.root for item in self.known_projects())
        )

    def is_scratch(self, root: Path) -> bool:
        """Whether `root` belongs to the project without a folder."""
        return root == self._scratch

    def project_of(self, path: str | os.PathLike[str]) -> ProjectSession | None:
        """The open project that a file belongs to, the innermost of several, or None."""
        holders = []
        for session in self.projects():
            try:
                session.project.folder.relative(Path(os.path.abspath(path)))
            except PathOutsideProject:
                continue
            holders.append(session)
        return max(holders, key=lambda session: len(str(session.project.root)), default=None)

    def search(
        self, request: SearchRequest, *, wait_for_model_s: float = 0.0
    ) -> list[tuple[ProjectSession, SearchAnswer]]:
        """Ask every open project."""
        return [(session, session.search(request, wait_for_model_s=wait_for_model_s)) for session in self.projects()]

    def apply_editor_settings(self, editor: Mapping[str, Any]) -> Loaded:
        """Apply new settings from the editor. Settings that shape the index (chunking, embedding) count from the next
        start."""
        with self._lock:
            self._editor = editor
            loaded = self.load_settings()
            for session in self.all_projects():
                session.reload_settings()
                session.project.use_settings(functools.partial(self._settings_of, session.project.folder))
        return loaded

    def close(self) -> None:
        """Leave the engine; unfinished work stays queued in the projects."""
        self.engine.leave(self)
        if self._alone:
            # Close the engine first: ending its models ends the wait for a running batch.
            self.engine.close()
        self._closed = True
        self._close_sessions(lambda: self._sessions)
        with self._lock:
            if self._session_memories is not None:
                self._session_memories.close()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _reopen_lost(self, session: ProjectSession) -> None:
        """Reopen a project whose folder or index was replaced, deleted or damaged, if that is possible."""
        former = session.project
        if not former.is_lost:
            return
        try:
            scratch = former.root == self._scratch
            project = self.engine.acquire(former.folder, self._settings_for_all(former.folder), scratch=scratch)
        except (ProjectUnavailable, StoreUnavailable) as error:
            _log.info("%s", error)
            return
        session.move_to(project)
        session.indexing.index_tree()

    def _close_sessions(self, choose_roots: Callable[[], Iterable[Path]]) -> None:
        """Close the sessions of these roots, which are chosen under the lock."""
        with self._lock:
            sessions = [self._sessions.pop(root) for root in [*choose_roots()] if root in self._sessions]
            self._aside.difference_update(session.project.root for session in sessions)
        # Without the lock: closing a project calls listeners, which take locks of their own.
        for session in sessions:
            session.close()
            if self._editor and not self._alone:
                # This editor's settings no longer apply.
                session.project.use_settings(self._settings_for_all(session.project.folder))
            self.engine.release(session.project, close=self._alone or session.project.root == self._scratch)

    def _settings_for_all(self, project: Project) -> Callable[[], Settings]:
        """The settings for indexing: a client that is alone uses its own, a shared engine those of no client."""
        if self._alone:
            return functools.partial(self._settings_of, project)
        return lambda: load_settings(project, last_good=self.engine.last_good).settings

    def _settings_of(self, project: Project) -> Settings:
        loaded = self.load_settings(project)
        for problem in loaded.problems:
            # The client's surface shows it to the user.
            _log.info("%s", problem)
        return loaded.settings

    def _user_memories(self, scope: Scope) -> MemoryStore:
        if scope is Scope.GLOBAL:
            if self._only is not None:
                raise ScopeRefused(
                    "memories of scope global are not for a client of single projects; use scope project or session",
                    "global memories",
                )
            store = self.engine.global_memories()
            return make_read_only(store, self.why_limited) if self.strange_folder is not None else store
        with self._lock:
            if self._session_memories is None:
                self._session_memories = open_memories(None, Scope.SESSION, self.load_settings().settings)
            return self._session_memories


def local_client(surface: str = "cli", *, editor: Mapping[str, Any] | None = None) -> Client:
    """A client with its own engine, in this process."""
    about = About(surface, pid=os.getpid())
    return Client(Engine(editor=editor), editor=editor, about=about, alone=True, is_agent=surface == "mcp")
