"""The folders that an agent may ask of: those of its own project and of projects that its user made known."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from rag_ls.engine.client import Client
from rag_ls.errors import AccessRefused, PathOutsideProject
from rag_ls.operations.fields import arguments_of
from rag_ls.operations.operation import Operation
from rag_ls.project import check_is_path, find_marked_root


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
