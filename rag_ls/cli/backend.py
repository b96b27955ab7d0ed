"""Runs a verb's operation on the running engine, or else on an engine in this process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from rag_ls.cli.progress import Show
from rag_ls.cli.terminal import print_notes
from rag_ls.cli.verbs import VERBS
from rag_ls.daemon import EngineLost, Mode, call, find_engine
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.util.text import nearest, nearest_text

if TYPE_CHECKING:
    from rag_ls.operations import ClientSession

Json = dict[str, Any]


def ask(
    arguments: SimpleNamespace,
    operation: str = "",
    values: Json | None = None,
    show: Show | None = None,
    *,
    folder: str = "",
    in_project: bool | None = None,
    in_several: bool = False,
) -> Json:
    """Run one operation, by default the verb's with its options, on the project around `folder` (or that `--project` names).

    If not `in_project`, by default that of the verb, only the projects that the operation itself names are opened. With
    `in_several`, a name may stand for several projects, as in the settings it does for all roots of an entry.

    Raises the operation's errors.
    """
    verb = VERBS[arguments.verb]
    opens = verb["in_project"] if in_project is None else in_project
    project = folder or (arguments.project if opens else "")
    is_path = not project or bool(folder) or os.path.exists(project) or os.sep in project
    folders = [project] if is_path else find_roots(project)
    if len(folders) > 1 and not in_several:
        named = f"--project {arguments.project}"
        raise InvalidRequest(f"{named}: several projects are called so; give one of {', '.join(folders)}")
    wanted = question_of(arguments) if values is None else values
    return backend_of(arguments).run(
        operation or verb["operation"], [os.path.abspath(each) for each in folders if each], wanted, show
    )


def question_of(arguments: SimpleNamespace) -> Json:
    """The options of a verb that are arguments of its operation."""
    return {name: getattr(arguments, name) for name in VERBS[arguments.verb]["asks"]}


def backend_of(arguments: SimpleNamespace) -> Backend:
    """The backend of the command that `arguments` are of: one, however many operations its verb runs."""
    if not hasattr(arguments, "backend"):
        arguments.backend = Backend(Mode.of(arguments))
    backend: Backend = arguments.backend
    return backend


class Backend:
    """Runs the operations of one command: on the running engine, or else on an engine in this process."""

    def __init__(self, mode: Mode) -> None:
        self._mode = mode
        self._is_alone = False
        self._told: set[str] = set()
        self._session: ClientSession | None = None

    def run(self, operation: str, folders: Sequence[str], values: Json, show: Show | None) -> Json:
        """Run one operation on folders of projects (none: on those that it names). Raises the operation's errors."""
        found = None if self._is_alone else find_engine("cli", self._mode)
        # If no engine can be had, the verb's next operation does not try again.
        self._is_alone = found is None
        if found is not None:
            try:
                folder, *beside = folders or [""]
                return call(found, operation, folder, values, show, self._warn, beside)
            except EngineLost as error:
                print_notes(f"{error}; going on without it")
        return self._run_here(operation, folders, values, show)

    def _warn(self, warning: str) -> None:
        """Print a warning, unless it was printed before."""
        if warning not in self._told:
            self._told.add(warning)
            print_notes(warning)

    def _run_here(self, operation: str, folders: Sequence[str], values: Json, show: Show | None) -> Json:
        from rag_ls.engine import local_client
        from rag_ls.indexing import Progress
        from rag_ls.operations import ClientSession, make_progress

        def report(name: str, progress: Progress) -> None:
            if show is not None:
                show(make_progress(name, progress))

        if self._session is None:
            self._session = ClientSession(local_client("cli"))
        result = self._session.run_in(folders, operation, values, report)
        for warning in self._session.warnings():
            self._warn(warning)
        return result

    def close(self) -> None:
        """Close the engine in this process, if there is one: it has kept what it read for all operations of the command."""
        if self._session is not None:
            self._session.client.close()
            self._session = None


def find_roots(name: str) -> list[str]:
    """Return the roots of the projects that are known by a name. Raises `NotFound`."""
    # Imported here, because most commands are about the present folder.
    from rag_ls.config import PROJECTS_FILE, Registry, called, list_known_projects, load_settings
    from rag_ls.locations import user_data_folder

    registry = Registry(user_data_folder() / PROJECTS_FILE)
    known = list_known_projects(load_settings().settings.projects, registry.projects())
    if found := called(known, name):
        return sorted({str(item.root) for item in found})
    near = nearest_text(nearest(name, [item.name for item in known]))
    unread = f"; others may be known, but {problem}" if (problem := registry.find_problem()) else ""
    raise NotFound(
        f"--project {name}: there is no such folder, and no known project has that name; {near}see `rag-ls project list`{unread}"
    )
