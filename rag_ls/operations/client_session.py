"""One client's session with a surface, whether in the client's own process or over the engine's socket."""

from __future__ import annotations

import itertools
import os
import shlex
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from rag_ls.config import Settings
from rag_ls.engine import Client, ProjectSession
from rag_ls.errors import AccessRefused, NotConfirmed, NotIndexed, PathOutsideProject
from rag_ls.indexing import Patterns, list_files
from rag_ls.operations.code.search import AGENTS_BUDGET_TOKENS
from rag_ls.operations.fields import Json, arguments_of
from rag_ls.operations.operation import Opens, Operation, Report
from rag_ls.operations.operations import OPERATIONS, Guard, Operations, allow_all
from rag_ls.project import (
    Project,
    check_is_folder,
    check_is_path,
    check_may_become_project,
    find_marked_root,
    find_project,
)
from rag_ls.storage import index_summary

# Each surface's limits of answering, as `Operations` takes them.
_TERMS: dict[str, dict[str, Any]] = {
    "lsp": {},
    "mcp": {"wait_for_model_s": 1.0, "budget_tokens": AGENTS_BUDGET_TOKENS},
    "cli": {"wait_for_model_s": 20.0},
    # Each request stands alone.
    "http": {"wait_for_model_s": 1.0, "keeps_place": False},
}


class ClientSession:
    """One client of an engine: the folders that it works in, its settings, toolsets and operations."""

    def __init__(self, client: Client, guard: Guard | None = None) -> None:
        """`guard` looks at each request before it is run, and raises what the client is told instead.

        Without one, an agent's are held to `check_agents_request`, and all others are run.
        """
        if guard is None:
            guard = partial(check_agents_request, client=client) if client.about.surface == "mcp" else allow_all
        self.client = client
        self.operations = Operations(client, guard=guard, **_TERMS[client.about.surface])

    @property
    def settings(self) -> Settings:
        """The settings of the project that the client opened first, else the user's."""
        view = next(iter(self.client.projects()), None)
        return view.settings if view is not None else self.client.load_settings().settings

    @property
    def toolsets(self) -> tuple[str, ...]:
        """The toolsets that the settings offer to agents."""
        return self.settings.mcp.toolsets

    def warnings(self) -> list[str]:
        """The problems of the settings of the project that the client works in, or of the user's."""
        view = next(iter(self.client.projects()), None)
        return [str(problem) for problem in self.client.load_settings(view.project.folder if view else None).problems]

    def work_in(self, folder: Path) -> ProjectSession:
        """Open the project around a folder for a client that stays there; keep it indexed if the settings say so.

        Raises `ProjectUnavailable`, and `NotIndexed` for a folder that is no project; later questions about code repeat
        that error.
        """
        try:
            view = self.client.open(folder)
        except NotIndexed as error:
            self.client.why_none = error
            raise
        if view.settings.index.on_open:
            view.keep_indexed()
        return view

    def run_in(self, folders: Iterable[str], name: str, arguments: object, report: Report) -> Json:
        """Open the projects around some folders, and run one operation of a shell there. `force` among its arguments insists.

        Raises the operation's errors.
        """
        operation = OPERATIONS.find(name)
        force = isinstance(arguments, dict) and arguments.get("force") is True
        for folder in folders:
            if not force:
                self.check_first_index(folder, operation)
            enter = partial(self.enter, folder, operation, force=force)
            self.client.engine.workers.submit(self.client, "open", enter).result()
        return self.operations.run(operation.name, arguments, report)

    def enter(self, folder: str, operation: Operation, *, force: bool = False) -> None:
        """Open the project around a folder for one operation. `operation.opens` says whether a folder may become one.

        With `force`, a user insists on home or the like.

        Raises `ProjectUnavailable`, `InvalidRequest` for a file where a folder may become a project, and `NotIndexed`
        where the operation needs a project.
        """
        if operation.opens is not Opens.EXISTING:
            check_is_folder(folder)
        try:
            if operation.opens is Opens.EXISTING:
                self.client.open_existing(folder)
            else:
                self.client.open(folder, on_purpose=force and operation.opens is Opens.ON_PURPOSE)
        except NotIndexed as error:
            self.client.why_none = error
            if operation.needs_code:
                raise

    def check_first_index(self, folder: str, operation: Operation) -> None:
        """Refuse a folder that should be made a project only by `force`. It may list many files: no engine thread does it.

        Raises `ProjectUnavailable`, `NotIndexed` for home or the like, and `NotConfirmed` for a very large tree.
        """
        if operation.opens is Opens.ON_PURPOSE:
            check_is_folder(folder)
            project = find_project(folder)
            check_may_become_project(project.root)
            check_size(project, self.client.load_settings(project).settings)


def check_agents_request(operation: Operation, request: object, client: Client) -> None:
    """Check that a parsed request of an agent makes no folder a project and publishes nothing: texts may have told it to.

    Raises `AccessRefused`, and `PathOutsideProject` for a folder of no known project.
    """
    if operation.tool is not None and operation.tool.toolset == "collections" and client.strange_folder is not None:
        # Texts belong to projects by name, and any folder can have a name.
        raise AccessRefused(f"{operation.name} is not done: {client.why_limited}")
    for name, (_, declared) in arguments_of(operation.request).items():
        value = getattr(request, name)
        if declared.shell_alone and value:
            raise AccessRefused(f"{operation.name}: {name} is for the user alone, at the shell")
        if declared.is_root and isinstance(value, str) and os.path.isabs(value.strip()):
            _check_root(operation, name, value.strip(), client)


def _check_root(operation: Operation, name: str, value: str, client: Client) -> None:
    check_is_path(value)
    folder = Path(os.path.realpath(value))
    root = str(find_marked_root(folder) or folder)
    own = [str(view.project.root) for view in client.projects()]
    if root not in own and root not in [os.path.realpath(item.root) for item in client.known_projects()]:
        if client.why_limited:
            raise AccessRefused(f"{operation.name}: {name} = {value!r} is not asked: {client.why_limited}")
        raise PathOutsideProject(
            f"{operation.name}: {name} = {value!r} is in no known project; only the user makes it one, at the shell: "
            f"`rag-ls rules setup --project {shlex.quote(value)}`"
        )


MAX_UNASKED_FILES = 100_000
"""A larger tree is indexed only if the user insists: it may be more than one project."""
_MAX_SHOWN_FOLDERS = 5


def check_size(project: Project, settings: Settings) -> None:
    """Raise `NotConfirmed`, which names the largest folders, for a very large tree that has no index yet."""
    held = index_summary(project)
    if held is not None and held.documents:
        return
    files = list_files(project.root, Patterns.of(settings.index))
    first = itertools.islice(files, MAX_UNASKED_FILES + 1)
    # By the first two folders of each path.
    folders = Counter("/".join(path.split("/")[:-1][:2]) or "." for path in first)
    if folders.total() <= MAX_UNASKED_FILES:
        return
    largest = ", ".join(f"{folder} ({count:,})" for folder, count in folders.most_common(_MAX_SHOWN_FOLDERS))
    raise NotConfirmed(
        f"{project.root} holds more than {MAX_UNASKED_FILES:,} files. The largest folders so far are {largest}: "
        "list in .ragignore what is not worth finding, or index all of it with `rag-ls index --force`"
    )
