"""The projects that an operation is about."""

from __future__ import annotations

from pathlib import Path

from rag_ls.client import Client
from rag_ls.errors import NotFound, ProjectUnavailable
from rag_ls.workspace import OpenProject


class Projects:
    """A client's open projects, as operations name them."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def all(self) -> list[OpenProject]:
        """Those that can be used. Raises `ProjectUnavailable` where there is none."""
        known = self._client.projects()
        if not known:
            raise ProjectUnavailable("no project is open; open a folder, or give --project")
        projects = [opened for opened in known if not opened.hosted.is_lost]
        if not projects:
            root = known[0].project.root
            raise ProjectUnavailable(f"{root} is gone: it was deleted, moved or unmounted; open it where it is now")
        return projects

    def first(self) -> OpenProject:
        """The one that was opened first. Raises `ProjectUnavailable`."""
        return self.all()[0]

    def named(self, wanted: str) -> list[OpenProject]:
        """The one with this root or name, or all where none is named. Raises `NotFound`."""
        projects = self.all()
        if not wanted.strip():
            return projects
        chosen = [opened for opened in projects if wanted.strip() in (opened.project.name, str(opened.project.root))]
        if not chosen:
            names = ", ".join(str(opened.project.root) for opened in projects)
            raise NotFound(f"no open project is called {wanted!r}; open are {names}")
        return chosen

    def holding(self, path: str, wanted: str = "") -> OpenProject:
        """The project that a path lies in; the first one for a path that does not say."""
        if path and Path(path).is_absolute() and (holder := self._client.project_of(path)):
            return holder
        projects = self.named(wanted)
        for opened in projects:
            if path and opened.store.document(path) is not None:
                return opened
        return projects[0]
