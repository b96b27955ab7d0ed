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


def check_paths(operation: Operation, arguments: object, client: Client) -> None:
    """Check that every path that an operation is given lies in a project that the client sees.

    Raises `PathOutsideProject`, and `InvalidRequest` for a relative path where it would not be a project's.
    """
    if not isinstance(arguments, dict):
        return
    for name, (_, declared) in arguments_of(operation.request).items():
        value = arguments.get(name)
        if declared.is_path and isinstance(value, str) and value.strip():
            _check_path(operation, name, value.strip(), client)


def _check_path(operation: Operation, name: str, value: str, client: Client) -> None:
    is_plain = os.sep not in value and "/" not in value and value not in ("..", "~")
    if "\0" in value or value.startswith("~"):
        raise InvalidRequest(f"{operation.name}: {name} = {value!r} is no path here; give one in a project")
    if not os.path.isabs(value):
        if operation.manages and not (is_plain and operation.name == "restore_backup"):
            raise InvalidRequest(f"{operation.name}: {name} = {value!r}: give an absolute path in a project")
        if ".." in Path(value).parts:
            raise PathOutsideProject(f"{operation.name}: {name} = {value!r} leads out of the project")
        return
    real = Path(os.path.realpath(value))
    roots = [Path(os.path.realpath(item.root)) for item in client.known_projects()]
    if not any(real == root or root in real.parents for root in roots):
        raise PathOutsideProject(f"{operation.name}: {name} is in no project that this token sees")


def arguments_for_http(arguments: object) -> dict[str, Any]:
    """The arguments of an operation. Raises `InvalidRequest` unless they are one JSON object."""
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise InvalidRequest("the body must be one JSON object of arguments")
    return arguments
