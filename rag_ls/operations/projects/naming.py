"""Finds the projects that a request names."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from rag_ls.config import ALL, CONFIG, PUBLISHED, KnownProject, MemoryHomes, Settings, called, names_of, root_of_path
from rag_ls.engine import Client, ProjectSession, PublishedCode
from rag_ls.errors import (
    AccessRefused,
    InvalidRequest,
    NotFound,
    PathOutsideProject,
    ProjectUnavailable,
    StoreUnavailable,
)
from rag_ls.project import Project, check_can_be_read, find_marked_root
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.repositories import is_repository_top
from rag_ls.util.text import nearest, nearest_text

_log = logging.getLogger(__name__)

F = TypeVar("F")

_MAX_NAMED = 20
_WILD = lazy_pattern(r"[*?\[{!]")


class Projects:
    """Finds the projects that an operation means: the client's open ones, and known ones that it names."""

    def __init__(self, client: Client, *, or_none: bool = False) -> None:
        """`or_none`: if no project is open, use the project without a folder, which sees the user's memories."""
        self._client = client
        self._or_none = or_none

    def all(self) -> list[ProjectSession]:
        """The client's usable projects. Raises `ProjectUnavailable` where there is none."""
        known = self._client.projects()
        if not known and self._client.asks_all and (views := self._open_all(self._client.known_projects())):
            return views
        if not known:
            if self._or_none:
                return [self._client.open_scratch(aside=True)]
            if self._client.asks_all:
                raise ProjectUnavailable("there is no project; `rag-ls index` in a project's folder makes it known")
            raise self._client.why_none or ProjectUnavailable(
                "no project is open; open a folder, or name one: project = its path"
            )
        projects = [view for view in known if not view.project.is_lost]
        if not projects:
            root = known[0].project.root
            check_can_be_read(root)
            raise ProjectUnavailable(f"{root} is gone: it was deleted, moved or unmounted; open it where it is now")
        return projects

    def all_and_named(self) -> list[ProjectSession]:
        """As `all`, with the projects that were opened because a question named them."""
        named = [view for view in self._client.all_projects() if not view.project.is_lost]
        return named or self.all()

    def first(self) -> ProjectSession:
        """The one that was opened first. Raises `ProjectUnavailable`, and `InvalidRequest` where any of several is meant."""
        views = self.all()
        if len(views) > 1 and not self._client.projects():
            names = ", ".join(sorted(view.project.name for view in views))
            raise InvalidRequest(f"which project is meant is not clear: name one of {names}")
        return views[0]

    def find_first(self, find: Callable[[ProjectSession], F]) -> tuple[ProjectSession, F]:
        """The first project in which something is found, with it. Raises the last one's `NotFound`."""
        *others, last = self.all()
        for view in others:
            with suppress(NotFound):
                return view, find(view)
        return last, find(last)

    def find_one(self, wanted: str | Sequence[str]) -> ProjectSession:
        """The project with this name or root, else the first one. Raises `NotFound` and `InvalidRequest`."""
        return self.find(wanted)[0] if any(wanted) else self.first()

    def find(self, wanted: str | Sequence[str]) -> list[ProjectSession]:
        """The projects with these roots or names, every known one for `all`, or the open ones if none is named.

        Opens a known project that is not open yet, for this and later questions that name it. Raises `NotFound`.
        """
        names = [name.strip() for name in ([wanted] if isinstance(wanted, str) else wanted) if name.strip()]
        if not names:
            return self.all()
        known = self._client.known_projects()
        if ALL in (name.lower() for name in names):
            if self._client.strange_folder is not None:
                raise AccessRefused(f"not all projects are asked: {self._client.why_limited}")
            return self._open_every(known)
        found = [view for name in names for view in self._find_called(name, known)]
        return list({view.project.root: view for view in found}.values())

    def find_with_published(self, wanted: Sequence[str]) -> tuple[list[ProjectSession], list[PublishedCode], list[str]]:
        """As `find`, and for names that no project has here, those that the team published on its server.

        `published:NAME` means the published one even if a project here has the name. The third list says which names
        mean nothing now because the server does not answer.

        Raises `StoreUnavailable` where none of them means anything now, `NotFound`, and `InvalidRequest` for a name that
        several published projects may have.
        """
        views: dict[Path, ProjectSession] = {}
        published: dict[str, PublishedCode] = {}
        problems: list[str] = []
        for name in [name.strip() for name in wanted if name.strip()] or [""]:
            unknown: NotFound | None = None
            try:
                if not name.startswith(PUBLISHED):
                    views |= {view.project.root: view for view in self.find(name)}
                    continue
            except NotFound as error:
                unknown = error
            try:
                code = self._find_published(name.removeprefix(PUBLISHED), unknown)
                published[code.name] = code
            except StoreUnavailable as error:
                problems.append(str(error))
        if problems and not views and not published:
            raise StoreUnavailable("; ".join(problems), "published code")
        return list(views.values()), list(published.values()), problems

    def published_names(self) -> list[str]:
        """The names of the projects that the team published. Raises `StoreUnavailable`."""
        return self._client.engine.published.names() if self._client.sees_all else []

    @property
    def memory_homes(self) -> MemoryHomes:
        """The homes of the projects' memories in the user's data."""
        return self._client.engine.memory_homes

    @property
    def user_settings(self) -> Settings:
        """The user's settings, for what is in no project."""
        return self._client.load_settings().settings

    def _find_published(self, name: str, unknown_here: NotFound | None = None) -> PublishedCode:
        """The published project of a name.

        Raises `NotFound`, after `unknown_here` if a project here could be meant, and `StoreUnavailable`.
        """
        said = f"{unknown_here}; " if unknown_here else ""
        try:
            found = self._client.engine.published.find_called(name) if self._client.sees_all else None
            names = [] if found else self.published_names()
        except StoreUnavailable as problem:
            told = f"{said}what the team published cannot be told: {problem}"
            raise StoreUnavailable(told, problem.store) from problem
        if found is not None:
            return found
        if not names and unknown_here is not None:
            raise unknown_here
        more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
        known = f"published are {', '.join(names[:_MAX_NAMED])}{more}" if names else "nothing is published on store.url"
        raise NotFound(f"{said or f'no published project is called {name!r}; '}{known}")

    def find_candidates(self, path: str, wanted: str | Sequence[str]) -> list[ProjectSession]:
        """The projects of which `find_holding` chooses one; all that are named, if no path is given."""
        return [self.find_holding(path, wanted)] if Path(path).is_absolute() else self.find(wanted)

    def find_roots_below(self, glob: str) -> tuple[str, ...]:
        """The root of the known project that an absolute path or glob leads into; none for globs that may mean any project."""
        plain = _WILD.split(glob.strip(), maxsplit=1)[0]
        is_one = Path(plain).is_absolute() and "," not in glob
        holder = self._find_innermost(plain) if is_one else None
        return (str(holder.project.root),) if holder is not None else ()

    def note_elsewhere(self, sessions: Sequence[ProjectSession]) -> str:
        """A note that names the one project that answers, where the client has others open; empty where it is one of those."""
        (only, *others) = sessions or (None,)
        is_own = only is None or only.project.root in {view.project.root for view in self._client.projects()}
        return "" if is_own or others or only is None else f"paths are below {only.project.root}"

    def find_holding(self, path: str, wanted: str | Sequence[str] = "") -> ProjectSession:
        """The project that holds a path; the first one if the path does not decide."""
        if path and Path(path).is_absolute() and (holder := self._find_innermost(path)):
            return holder
        for view in self.find(wanted) if path else ():
            with suppress(PathOutsideProject):
                if view.store.document(view.relative(path)) is not None:
                    return view
        return self.find_one(wanted)

    def _find_innermost(self, path: str) -> ProjectSession | None:
        """The innermost known project around an absolute path, opened if another work tree or clone is meant; None for none."""
        holder = self._client.project_of(path)
        # A checkout that is left out is itself among what is skipped.
        with_skipped = not is_repository_top(Path(path))
        if holder is not None and holder.store.files_at(holder.relative(path), with_skipped=with_skipped, at_most=1):
            return holder
        top = find_marked_root(Path(path))
        if top is None or (holder is not None and holder.project.root == top):
            return holder
        meant = next((item for item in self._client.known_projects() if item.root == top), None)
        return self._open_known(meant) if meant is not None else holder

    def _find_called(self, name: str, known: list[KnownProject]) -> list[ProjectSession]:
        """The projects of one name or root: names in the user's settings come first, then open projects."""
        usable = [view for view in self._client.all_projects() if not view.project.is_lost]
        found = called(known, name)
        if not any((item.source, item.name) == (CONFIG, name) for item in found):
            root = root_of_path(name)
            if chosen := [view for view in usable if view.project.root == root or view.project.name == name]:
                return chosen
        if not found:
            open_names = [view.project.name for view in usable]
            names = ", ".join(dict.fromkeys([*open_names, *(item.name for item in known)])) or names_of(known)
            near = nearest_text(nearest(name, [*open_names, *(item.name for item in known)]))
            unread = self._client.engine.registry.find_problem()
            raise NotFound(
                f"no open project and no other known one is called {name!r}; {near}known are {names} (`rag-ls project list`)"
                f"{unread and f'; others may be, but {unread}'}{self._client.why_limited and f'; {self._client.why_limited}'}"
            )
        return [self._open_known(item) for item in found]

    def _open_every(self, known: list[KnownProject]) -> list[ProjectSession]:
        """All projects that can be opened; the others are logged and left out."""
        chosen = {view.project.root: view for view in self._client.projects() if not view.project.is_lost}
        others = self._open_all(item for item in known if item.root not in chosen)
        return [*chosen.values(), *others] or self.all()

    def _open_all(self, known: Iterable[KnownProject]) -> list[ProjectSession]:
        """Those that can be opened; the others are logged and left out."""
        views: dict[Path, ProjectSession] = {}
        for item in known:
            try:
                if not item.is_missing:
                    views[item.root] = self._open_known(item)
            except (ProjectUnavailable, StoreUnavailable) as error:
                _log.warning("%s", error)
        return list(views.values())

    def _open_known(self, known: KnownProject) -> ProjectSession:
        is_new = all(view.project.root != known.root for view in self._client.all_projects())
        view = self._client.open_project(Project(known.root), aside=True)
        if is_new and view.settings.index.on_open:
            view.keep_indexed()
        return view
