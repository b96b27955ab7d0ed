"""One client's part of a project view: its settings, its editing session, and its way of writing paths."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rag_ls.config import Settings
from rag_ls.engine.shared_project import SharedProject
from rag_ls.project import is_guest
from rag_ls.storage import DISK


class ViewContext:
    """A shared project together with the client that asks about it. Safe from several threads."""

    def __init__(self, shared: SharedProject, load_settings: Callable[[], Settings], *, scratch: bool = False) -> None:
        """`scratch` marks a project without a folder, whose data is deleted when it is closed."""
        self.shared = shared
        self.session = DISK
        """The editing session that holds the client's unsaved documents; `DISK` while it has none."""
        self.is_scratch = scratch
        self._load_settings = load_settings
        self._settings, self._settings_version = load_settings(), shared.settings_version

    @property
    def settings(self) -> Settings:
        """The settings in force for this client, read again when the project's file changes."""
        version = self.shared.settings_version
        if version != self._settings_version:
            self._settings, self._settings_version = self._load_settings(), version
        return self._settings

    def reload_settings(self) -> None:
        """Read the settings again."""
        self._settings = self._load_settings()

    def relative(self, path: str) -> str:
        """The path of a document inside the project. Raises `PathOutsideProject`."""
        is_uri = is_guest(path) and not Path(path).is_absolute()
        if is_uri or self.shared.indexing.is_open(self.session, path):
            return path
        return self.shared.project.relative(path)
