"""Runs a verb's operation on the running engine, or else on an engine in this process."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from rag_ls.cli.progress import Show
from rag_ls.daemon.calls import call
from rag_ls.daemon.channel import EngineLost
from rag_ls.daemon.find import Mode, find_engine

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
    project = os.path.abspath(folder or arguments.project) if in_project else ""
    found = find_engine("cli", Mode.of(arguments))
    if found is not None:
        try:
            return call(found, operation, project, values, show)
        except EngineLost as error:
            print(f"rag-ls: {error}; going on without it", file=sys.stderr)
    return _alone(operation, project, values, show)


def _alone(operation: str, project: str, values: Json, show: Show | None) -> Json:
    from rag_ls.engine.client import local_client
    from rag_ls.indexing import Progress
    from rag_ls.operations import ClientSession, operation_named
    from rag_ls.operations.records_of import progress_json

    def report(name: str, progress: Progress) -> None:
        if show is not None:
            show(progress_json(name, progress))

    session = ClientSession(local_client("cli"))
    try:
        if project:
            session.enter(project, operation_named(operation), force=values.get("force") is True)
        return session.operations.run(operation, values, report)
    finally:
        session.client.close()
