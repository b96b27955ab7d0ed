"""Runs a verb's operation on the running engine, or else on an engine in this process."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from rag_ls.cli.progress import Show
from rag_ls.cli.terminal import harmless
from rag_ls.daemon.calls import call
from rag_ls.daemon.channel import EngineLost
from rag_ls.daemon.find import Mode, find_engine
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.util.nearest import nearest, nearest_text

Json = dict[str, Any]


def ask(
    arguments: argparse.Namespace,
    operation: str,
    values: Json,
    show: Show | None = None,
    *,
    folder: str = "",
    in_project: bool = True,
) -> Json:
    """Run one operation on the project around `folder` (by default, the one that `--project` names).

    Without `in_project`, only the projects that the operation itself names are opened.

    Raises the operation's errors.
    """
    project = ""
    if in_project:
        project = os.path.abspath(folder or _folder_of(arguments, arguments.project))
    warn = vars(arguments).setdefault("warnings", _Warnings()).tell
    mode = Mode.of(arguments)
    if vars(arguments).get("looks_again") and mode is Mode.AUTO:
        mode = Mode.MANUAL
    found = None if vars(arguments).get("is_alone") else find_engine("cli", mode)
    # If no engine can be had, the verb's next operation does not try again.
    arguments.is_alone = found is None
    if found is not None:
        try:
            return call(found, operation, project, values, show, warn)
        except EngineLost as error:
            print(f"rag-ls: {error}; going on without it", file=sys.stderr)
    return _alone(arguments, operation, project, values, show)


@contextmanager
def keeping_engine(arguments: argparse.Namespace) -> Iterator[None]:
    """Have all questions of a verb answered by one engine if they are answered in this process: it knows what it has read."""
    with ExitStack() as arguments.engine:
        yield


def _folder_of(arguments: argparse.Namespace, project: str) -> str:
    """The folder that `--project` means: a path, else the root of the project with that name. Raises `NotFound`."""
    if os.path.exists(project) or os.sep in project:
        return project
    answer = ask(arguments, "list_repos", {"here_alone": True}, in_project=False)
    known = answer["repos"]
    roots = sorted({repo["root"] for repo in known if repo["name"] == project})
    if len(roots) == 1:
        return str(roots[0])
    if roots:
        raise InvalidRequest(f"--project {project}: several projects are called so; give one of {', '.join(roots)}")
    near = nearest_text(nearest(project, [repo["name"] for repo in known]))
    unread = "".join(f"\nrag-ls: {problem}" for problem in answer.get("problems", ()))
    raise NotFound(
        f"--project {project}: there is no such folder, and no known project has that name; {near}see list_repos{unread}"
    )


class _Warnings:
    """Prints each warning once, however many operations a verb runs."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def tell(self, warning: str) -> None:
        """Print it, unless it was printed before."""
        if warning not in self._told:
            self._told.add(warning)
            print(f"rag-ls: {harmless(warning)}", file=sys.stderr)


def _alone(arguments: argparse.Namespace, operation: str, project: str, values: Json, show: Show | None) -> Json:
    from rag_ls.engine.client import local_client
    from rag_ls.indexing import Progress
    from rag_ls.operations import ClientSession, operation_named
    from rag_ls.operations.engine.progress import make_progress

    def report(name: str, progress: Progress) -> None:
        if show is not None:
            show(make_progress(name, progress))

    with ExitStack() as passing:
        session: ClientSession | None = vars(arguments).get("session")
        if session is None:
            session = ClientSession(local_client("cli"))
            kept: ExitStack | None = vars(arguments).get("engine")
            (kept or passing).callback(session.client.close)
            arguments.session = session if kept is not None else None
        if project:
            force = values.get("force") is True
            if not force:
                session.check_first_index(project, operation_named(operation))
            session.enter(project, operation_named(operation), force=force)
        result = session.operations.run(operation, values, report)
        for warning in session.warnings():
            arguments.warnings.tell(warning)
        return result
