"""Callers at the engine: each has a client with the projects that its token may see."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rag_ls.engine.client import Client
from rag_ls.engine.engine import About, Engine
from rag_ls.errors import NotFound
from rag_ls.http.tokens import Token
from rag_ls.operations import ClientSession
from rag_ls.project import Project
from rag_ls.registry.catalogue import called


class CallerSession:
    """One caller's client of the engine."""

    def __init__(self, engine: Engine, token: Token, project: str = "", surface: str = "http") -> None:
        """With a `project` (a name or root), it sees that one alone. Raises `NotFound` if the token does not see it."""
        self.token = token
        self.project = project
        only = self._roots(engine, token, project) if project else token.projects or None
        about = About(surface, token.name if surface == "http" else f"{token.name} (http)")
        self.client = Client(engine, about=about, only=only, asks_all=not project)
        self.session = ClientSession(self.client)
        self.used_at = time.monotonic()

    def open(self) -> None:
        """Open the project, if it is for one. Raises `ProjectUnavailable` and `StoreUnavailable`."""
        for known in self.client.known_projects() if self.project else ():
            if known.is_missing:
                continue
            view = self.client.open_project(Project(known.root))
            if view.settings.index.on_open:
                view.keep_indexed()

    def close(self) -> None:
        """Leave the engine."""
        self.client.close()

    @staticmethod
    def _roots(engine: Engine, token: Token, project: str) -> list[str]:
        looking = Client(engine, about=About("http"), only=token.projects or None)
        try:
            roots = [str(item.root) for item in called(looking.known_projects(), project)]
        finally:
            looking.close()
        if not roots:
            raise NotFound(f"there is no project {project!r} for this token; list_repos names those there are")
        return roots


class SessionPool:
    """The sessions of callers that hold none themselves (REST, stateless MCP): one for each token and project.

    Safe from several threads.
    """

    def __init__(
        self, engine: Engine, idle_s: float, clock: Callable[[], float] = time.monotonic, surface: str = "http"
    ) -> None:
        self._engine = engine
        self._idle_s = idle_s
        self._clock = clock
        self._surface = surface
        self._lock = threading.Lock()
        self._sessions: dict[tuple[str, str], CallerSession] = {}

    def of(self, token: Token, project: str) -> CallerSession:
        """The session, made at its first use. May take a moment. Raises `NotFound`."""
        key = (token.id, project)
        with self._lock:
            found = self._sessions.get(key)
            if found is None:
                found = self._sessions[key] = CallerSession(self._engine, token, project, self._surface)
                found.open()
            found.used_at = self._clock()
            return found

    def close_unused(self, is_in_force: Callable[[Token], bool]) -> None:
        """Close the sessions that nobody used for long, and those whose token counts no longer."""
        now = self._clock()
        with self._lock:
            ended = [
                key
                for key, session in self._sessions.items()
                if now - session.used_at > self._idle_s or not is_in_force(session.token)
            ]
            sessions = [self._sessions.pop(key) for key in ended]
        for session in sessions:
            session.close()

    def close(self) -> None:
        """Close all."""
        with self._lock:
            sessions = list(self._sessions.values())
            self._sessions.clear()
        for session in sessions:
            session.close()
