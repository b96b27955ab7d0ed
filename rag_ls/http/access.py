"""What a caller over HTTP may do: by its token's access, and with files of its projects alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rag_ls.engine.client import Client
from rag_ls.errors import AccessRefused, InvalidRequest, PathOutsideProject
from rag_ls.http.tokens import Access
from rag_ls.operations import Operation
from rag_ls.operations.fields import arguments_of


def needed_access(operation: Operation) -> Access:
    """The least access of a token that may call an operation."""
    if operation.manages:
        return Access.ADMIN
    return Access.WRITE if operation.effects.writes else Access.READ


def check_access(access: Access, operation: Operation) -> None:
    """Raise `AccessRefused` if a token with this access may not call the operation."""
    if not access.includes(needed_access(operation)):
        raise AccessRefused("this token does not allow that")


def check_paths(operation: Operation, request: object, client: Client) -> None:
    """Check that every path in a parsed request lies in a project that the client sees.

    Raises `PathOutsideProject`, and `InvalidRequest` for a relative path where it would not be a project's.
    """
    for name, (_, declared) in arguments_of(operation.request).items():
        value = getattr(request, name)
        if declared.is_path and isinstance(value, str) and value.strip():
            _check_path(operation, name, value.strip(), client)


def _check_path(operation: Operation, name: str, value: str, client: Client) -> None:
    is_plain = os.sep not in value and "/" not in value and value not in ("..", "~")
    if "\0" in value or value.startswith("~"):
        raise InvalidRequest(f"{operation.name}: {name} = {value!r} is no path here; give one in a project")
    roots = [os.path.realpath(item.root) for item in client.known_projects()]
    if os.path.isabs(value):
        if not _is_in(value, roots):
            raise PathOutsideProject(f"{operation.name}: {name} is in no project that this token sees")
        return
    if operation.manages and not _is_of_project(operation, name, is_plain=is_plain):
        raise InvalidRequest(f"{operation.name}: {name} = {value!r}: give an absolute path in a project")
    if ".." in Path(value).parts or not all(_is_in(os.path.join(root, value), roots) for root in roots):
        raise PathOutsideProject(f"{operation.name}: {name} = {value!r} leads out of the project")


def _is_of_project(operation: Operation, name: str, *, is_plain: bool) -> bool:
    """Whether a relative path of an operation that manages files is taken from a project's root, not from ours."""
    if operation.name == "restore_backup":
        return is_plain
    return operation.name == "rag_setup" and name != "project_root"


def _is_in(path: str, roots: list[str]) -> bool:
    real = os.path.realpath(path)
    return any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


def arguments_for_http(arguments: object) -> dict[str, Any]:
    """The arguments of an operation. Raises `InvalidRequest` unless they are one JSON object."""
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise InvalidRequest("the body must be one JSON object of arguments")
    return arguments
