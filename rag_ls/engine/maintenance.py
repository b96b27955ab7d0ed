"""Periodic work of an engine: applies changed settings, embeds and consolidates memories, unloads models that are not needed."""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rag_ls.config import find_trusted_folders_file
from rag_ls.engine.events import SettingsChanged
from rag_ls.engine.open_project import OpenProject
from rag_ls.errors import RagLsError
from rag_ls.locations import user_config_file
from rag_ls.memory import utc_now
from rag_ls.project import CONFIG_FILE
from rag_ls.util.paths import file_stamp

if TYPE_CHECKING:
    from rag_ls.engine.engine import Engine

_log = logging.getLogger(__name__)

# A settings file takes effect within two seconds.
_LOOK_S = 0.8
_IDLE_MODEL_S = 300.0
_CONSOLIDATE_EVERY_S = 60.0
_TELL_AGAIN_S = 3600.0

_Stamp = tuple[int, int]


class Maintenance:
    """A thread that maintains an engine's projects."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._stamps: dict[Path, _Stamp] = {file: file_stamp(file) for file in _user_files()}
        self._told_at: dict[str, float] = {}
        self._thread = threading.Thread(target=self._run, name="maintenance", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread after its current step."""
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(_LOOK_S * 5)

    def follow(self, root: Path) -> None:
        """Watch a project's settings file from now on; call this just before reading it."""
        self._was_written(root / CONFIG_FILE)

    def _run(self) -> None:
        with self._engine.connections.unnoticed():
            self._work_until_stopped()

    def _work_until_stopped(self) -> None:
        consolidated = time.monotonic()
        while not self._stop.wait(_LOOK_S):
            self._run_safely(self._follow_settings)
            if self._engine.workers.busy:
                continue
            self._run_safely(self._engine.exchange_global_files)
            self._run_safely(self._engine.embed_global_memories)
            self._run_safely(self._engine.embed_collections)
            for project in self._engine.open_projects():
                self._run_safely(functools.partial(_look_after, project))
            # The former model, if the settings have changed it.
            self._run_safely(functools.partial(self._engine.models.unload_idle, _IDLE_MODEL_S))
            if time.monotonic() - consolidated >= _CONSOLIDATE_EVERY_S:
                consolidated = time.monotonic()
                for project in self._engine.open_projects():
                    self._run_safely(functools.partial(_consolidate_memories, project))

    def _run_safely(self, work: Callable[[], None]) -> None:
        """Run `work` and log its errors, so that one failure does not end maintenance."""
        try:
            work()
        except (RagLsError, OSError) as error:
            self._log_failure(f"{type(error).__name__}: {error}")
        except Exception:
            _log.exception("maintenance failed")

    def _log_failure(self, failure: str) -> None:
        """Log a failure once an hour: a model that is not there fails at every look."""
        now = time.monotonic()
        self._told_at = {each: at for each, at in self._told_at.items() if now - at < _TELL_AGAIN_S}
        if failure not in self._told_at:
            self._told_at[failure] = now
            _log.warning("%s", failure)

    def _follow_settings(self) -> None:
        # Look at each file, so that the next look does not take it for changed again.
        users = [file for file in _user_files() if self._was_written(file)]
        changed = [
            project
            for project in self._engine.open_projects()
            if self._was_written(project.root / CONFIG_FILE) or users
        ]
        for project in changed:
            self._run_safely(project.settings_changed)
        if changed or users:
            self._engine.events.tell(SettingsChanged())

    def _was_written(self, file: Path) -> bool:
        """Whether a file changed since the last look; False at the first look."""
        stamp = file_stamp(file)
        with self._lock:
            former = self._stamps.setdefault(file, stamp)
            self._stamps[file] = stamp
        return stamp != former


def _user_files() -> tuple[Path, ...]:
    """The user's files that say which settings are in force."""
    return user_config_file(), find_trusted_folders_file()


def _look_after(project: OpenProject) -> None:
    if not project.close_unused():
        project.memories.embed()
        project.memories.exchange()


def _consolidate_memories(project: OpenProject) -> None:
    if not project.close_unused():
        project.memories.consolidate_if_wanted(utc_now)
