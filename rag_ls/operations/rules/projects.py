"""Finds the project that a question about rules is for."""

from __future__ import annotations

import time
from pathlib import Path

from rag_ls.engine import Client, ProjectSession
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.operations.projects.naming import Projects
from rag_ls.project import Project, check_may_become_project, find_marked_root
from rag_ls.rules import read_decisions


class RuleProjects:
    """The projects of one client, as the operations on rules name them: by root, else the one that was named last."""

    def __init__(self, client: Client, projects: Projects, *, keeps_place: bool) -> None:
        """A client that does not `keeps_place` names the project each time."""
        self._client = client
        self._keeps_place = keeps_place
        self._projects = projects
        self._root: Path | None = None
        self._index_began: dict[Path, float] = {}

    def current(self, path: str = "") -> ProjectSession:
        """The project that a path is in, else the one that was named last, else the first one."""
        if path and Path(path).is_absolute():
            return self._projects.find_holding(path)
        named = [view for view in self._projects.all() if view.project.root == self._root]
        return named[0] if named else self._projects.first()

    def all(self) -> list[ProjectSession]:
        """The project that was named last, else all that a question means."""
        named = [view for view in self._projects.all() if view.project.root == self._root]
        return named or self._projects.all()

    def find_set_up(self, project_root: str) -> ProjectSession:
        """As `open_root`. Raises `NotFound` for a project that was never set up."""
        view = self.open_root(project_root)
        if read_decisions(view.project.root) is None:
            raise NotFound(f"{view.project.root} was never set up; call rag_setup with this project_root first")
        return view

    def open_root(self, project_root: str) -> ProjectSession:
        """The project of a folder, opened if it is not open yet; without one, the current project."""
        if not project_root.strip():
            return self.current()
        root = Path(project_root.strip())
        if not root.is_absolute():
            raise InvalidRequest(f"project_root = {project_root!r} is no absolute path")
        if not root.is_dir():
            raise InvalidRequest(
                f"project_root = {project_root!r} is no folder; give the folder of an existing project"
            )
        project = Project(find_marked_root(root.resolve()) or root.resolve())
        check_may_become_project(project.root)
        view = self._client.open_project(project, aside=not self._keeps_place)
        if self._keeps_place:
            self._root = view.project.root
        return view

    def note_index_began(self, view: ProjectSession) -> None:
        """Note that a project's index is made anew from now on."""
        self._index_began[view.project.root] = time.monotonic()

    def seconds_of_index(self, view: ProjectSession) -> float:
        """The time since a project's index began to be made anew."""
        return time.monotonic() - self._index_began[view.project.root]
