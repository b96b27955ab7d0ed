"""The thread that exchanges the memories of open projects with those that a team shares on a server."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection
from typing import TYPE_CHECKING

from rag_ls.config.engine_settings import StoreSettings
from rag_ls.engine.events import MemoryChange, MemoryChanged
from rag_ls.engine.open_project import OpenProject
from rag_ls.errors import RagLsError
from rag_ls.memory import utc_now
from rag_ls.memory.team import TeamMemories
from rag_ls.project import NO_REMOTE, is_known_to_others, shared_name
from rag_ls.storage import open_shared_memories
from rag_ls.util.text import utc_stamp

if TYPE_CHECKING:
    from rag_ls.engine.engine import Engine

_log = logging.getLogger(__name__)

_LOOK_S = 1.0
# The server is asked this often for others' changes; this user's changes are sent within `_LOOK_S`.
_ASK_EVERY_S = 10.0
# A server that failed is asked again after this time.
_RETRY_S = 30.0

NOT_TRUSTED = "any folder can name the team's remote; `rag-ls trust` says that this one is a clone of yours"


class _Team:
    """One project's exchange."""

    def __init__(self, memories: TeamMemories) -> None:
        self.memories = memories
        self.seen: tuple[int, str, int] | None = None
        self.due_at = 0.0


class MemoryExchange:
    """Exchanges memories as long as it runs. Nothing waits for it: every project answers from its own memories."""

    def __init__(self, engine: Engine, settings: StoreSettings) -> None:
        self._engine = engine
        self._settings = settings
        self._teams: dict[OpenProject, _Team | None] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="team memories", daemon=True)
        if settings.url and "memories" in settings.share:
            self._thread.start()

    def stop(self) -> None:
        """End the thread, after a last exchange if one is under way."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(5)
        if not self._thread.is_alive():
            self._forget_all_but(())

    def _run(self) -> None:
        while not self._stop.wait(_LOOK_S):
            projects = self._engine.open_projects()
            self._forget_all_but(projects)
            for project in projects:
                try:
                    self._look_at(project)
                except (RagLsError, OSError) as error:
                    self._note_failure(project, str(error))
                except Exception:
                    _log.exception("the memories of %s were not exchanged", project.root)
                    self._note_failure(project, "it failed, see the log")

    def _look_at(self, project: OpenProject) -> None:
        team = self._team_of(project)
        if team is None or project.is_closed:
            return
        store = project.memories.store()
        is_failing = bool(project.memories.team_problem)
        if time.monotonic() < team.due_at and (is_failing or store.vectors.newest() == team.seen):
            return
        done = team.memories.exchange(store, utc_stamp(utc_now()))
        team.seen, team.due_at = store.vectors.newest(), time.monotonic() + _ASK_EVERY_S
        project.memories.team_problem = ""
        if done.taken:
            _log.info("%s: %d memories came from %s", project.root, done.taken, team.memories.shared.place)
            self._engine.events.tell(MemoryChanged(MemoryChange.CHANGED, "team", project.root))

    def _forget_all_but(self, projects: Collection[OpenProject]) -> None:
        """Close the exchanges of projects that were closed: opened again, each may have other memories, or another name."""
        for project in [each for each in self._teams if each not in projects]:
            if team := self._teams.pop(project):
                team.memories.shared.close()

    def _team_of(self, project: OpenProject) -> _Team | None:
        if project not in self._teams:
            name = shared_name(project.root)
            self._teams[project] = None
            if not is_known_to_others(name):
                project.memories.team_problem = NO_REMOTE
            elif (memories := open_shared_memories(self._settings, name)) is not None:
                self._teams[project] = _Team(TeamMemories(memories))
        team = self._teams[project]
        if team is not None and not self._engine.memory_homes.trusts(project.folder):
            # Any folder can name the team's remote.
            project.memories.team_problem = NOT_TRUSTED
            return None
        return team

    def _note_failure(self, project: OpenProject, problem: str) -> None:
        if problem != project.memories.team_problem:
            _log.warning("memories are not shared: %s", problem)
        project.memories.team_problem = problem
        if team := self._teams.get(project):
            team.due_at = time.monotonic() + _RETRY_S
