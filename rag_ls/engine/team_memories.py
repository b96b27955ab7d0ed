"""The thread that exchanges the memories of open projects with those that a team shares on a server."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Sequence
from typing import Protocol

from rag_ls.config import StoreSettings
from rag_ls.engine.events import Event, MemoryChange, MemoryChanged
from rag_ls.engine.shared_project import SharedProject
from rag_ls.errors import RagLsError
from rag_ls.memory import utc_now
from rag_ls.memory.team import TeamMemories
from rag_ls.project import NO_REMOTE, is_known_to_others, shared_name
from rag_ls.storage import open_shared_memories
from rag_ls.util.text import utc_stamp

_log = logging.getLogger(__name__)

_LOOK_S = 1.0
# Others' changes are asked for this often; own ones are given within `_LOOK_S`.
_ASK_EVERY_S = 10.0
# A server that failed is asked again after so long.
_RETRY_S = 30.0


class ExchangingEngine(Protocol):
    """The engine as the exchange uses it."""

    def open_projects(self) -> Sequence[SharedProject]:
        """The projects whose memories are exchanged."""
        ...

    def tell(self, event: Event) -> None:
        """Something happened."""


class _Team:
    """One project's exchange."""

    def __init__(self, memories: TeamMemories) -> None:
        self.memories = memories
        self.seen: tuple[int, str, int] | None = None
        self.due_at = 0.0


class MemoryExchange:
    """Exchanges memories as long as it runs. Nothing waits for it: every project answers from its own memories."""

    def __init__(self, engine: ExchangingEngine, settings: StoreSettings) -> None:
        self._engine = engine
        self._settings = settings
        self._teams: dict[SharedProject, _Team | None] = {}
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
            for shared in projects:
                try:
                    self._look_at(shared)
                except (RagLsError, OSError) as error:
                    self._failed(shared, str(error))
                except Exception:
                    _log.exception("the memories of %s were not exchanged", shared.project.root)
                    self._failed(shared, "it failed, see the log")

    def _look_at(self, shared: SharedProject) -> None:
        team = self._team_of(shared)
        if team is None or shared.is_closed:
            return
        store = shared.memories()
        is_failing = bool(shared.team_problem)
        if time.monotonic() < team.due_at and (is_failing or store.newest() == team.seen):
            return
        done = team.memories.exchange(store, utc_stamp(utc_now()))
        team.seen, team.due_at = store.newest(), time.monotonic() + _ASK_EVERY_S
        shared.team_problem = ""
        if done.taken:
            _log.info("%s: %d memories came from %s", shared.project.root, done.taken, team.memories.shared.place)
            self._engine.tell(MemoryChanged(MemoryChange.CHANGED, "team", shared.project.root))

    def _forget_all_but(self, projects: Collection[SharedProject]) -> None:
        """Close the exchanges of projects that were closed: opened again, each may have other memories, or another name."""
        for shared in [each for each in self._teams if each not in projects]:
            if team := self._teams.pop(shared):
                team.memories.shared.close()

    def _team_of(self, shared: SharedProject) -> _Team | None:
        if shared not in self._teams:
            name = shared_name(shared.project.root)
            self._teams[shared] = None
            if not is_known_to_others(name):
                shared.team_problem = NO_REMOTE
            elif (memories := open_shared_memories(self._settings, name)) is not None:
                self._teams[shared] = _Team(TeamMemories(memories))
        return self._teams[shared]

    def _failed(self, shared: SharedProject, problem: str) -> None:
        if problem != shared.team_problem:
            _log.warning("memories are not shared: %s", problem)
        shared.team_problem = problem
        if team := self._teams.get(shared):
            team.due_at = time.monotonic() + _RETRY_S
