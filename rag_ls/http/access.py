"""The rights of a caller over HTTP: its token's access, and only files of its own projects."""

from __future__ import annotations

import os
from pathlib import Path

from rag_ls.engine.client import Client
from rag_ls.errors import AccessRefused, InvalidRequest, PathOutsideProject
from rag_ls.http.tokens import Access
from rag_ls.operations import OPERATIONS, Operation
from rag_ls.operations.fields import Argument, arguments_of
from rag_ls.project import find_marked_root
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

# Programs and agents give no special meaning to files with such names.
_OUR_FILES = lazy_pattern(r"(?i)(?=.{1,255}\Z)[\w-]*memories[\w-]*\.(json|jsonl|md)")


def find_needed_access(operation: Operation) -> Access:
    """The least access of a token that may call an operation."""
    if operation.manages:
        return Access.ADMIN
    return Access.WRITE if operation.effects.writes else Access.READ


def check_access(access: Access, operation: Operation) -> None:
    """Raise `AccessRefused` if a token with this access may not call the operation."""
    if not access.includes(needed := find_needed_access(operation)):
        raise AccessRefused(
            f"{operation.name} needs a token with the scope {needed}, and this one has {access}: "
            f"`rag-ls token add NAME --scope {needed}` makes one"
        )


def check_paths(operation: Operation, request: object, client: Client) -> None:
    """Check that every path in a parsed request lies in a project that the client sees, and may be read over HTTP.

    Raises `PathOutsideProject`, `AccessRefused`, and `InvalidRequest` for a relative path that does not start at a project's root.
    """
    for name, (_, declared) in arguments_of(operation.request).items():
        value = getattr(request, name)
        if (declared.shell_alone or declared.local_alone) and value:
            raise AccessRefused(f"{operation.name}: {name} writes over files, which is done at this machine alone")
        if declared.is_path and isinstance(value, str) and value.strip():
            _check_path(operation, name, declared, value.strip(), client)


def _check_path(operation: Operation, name: str, declared: Argument, value: str, client: Client) -> None:
    is_plain = os.sep not in value and "/" not in value and value not in ("..", "~")
    if "\0" in value or value.startswith("~"):
        raise InvalidRequest(f"{operation.name}: {name} = {value!r} is no path here; give one in a project")
    roots = [os.path.realpath(item.root) for item in client.known_projects()]
    if os.path.isabs(value):
        if not _is_in(value, roots):
            raise PathOutsideProject(f"{operation.name}: {name} is in no project that this token sees")
        if declared.is_root:
            _check_root(operation, name, value, roots)
        elif operation.manages:
            _check_file(operation, name, value, roots, is_written=declared.is_written)
        return
    if operation.manages and not _is_of_project(operation, name, is_plain=is_plain):
        raise InvalidRequest(f"{operation.name}: {name} = {value!r}: give an absolute path in a project")
    if ".." in Path(value).parts or not all(_is_in(os.path.join(root, value), roots) for root in roots):
        raise PathOutsideProject(f"{operation.name}: {name} = {value!r} leads out of the project")


def _check_root(operation: Operation, name: str, value: str, roots: list[str]) -> None:
    """Refuse a folder in a project that would be a project of its own: nothing becomes one over HTTP."""
    found = find_marked_root(Path(os.path.realpath(value)))
    if found is None or str(found) not in roots:
        raise PathOutsideProject(f"{operation.name}: {name} is in no project that this token sees")


def _check_file(operation: Operation, name: str, value: str, roots: list[str], *, is_written: bool) -> None:
    """Refuse files that rag-ls would not make or show: in a folder that begins with a dot, through a link, of other kinds."""
    said, real = f"{operation.name}: {name} = {value!r}", os.path.realpath(value)
    if real != os.path.normpath(value):
        raise PathOutsideProject(f"{said} leads through a link")
    root = max((root for root in roots if _is_in(real, [root])), key=len)
    if any(part.startswith(".") for part in Path(os.path.relpath(real, root)).parts):
        raise PathOutsideProject(f"{said}: what begins with a dot is left alone over HTTP")
    if is_written and not _OUR_FILES.fullmatch(os.path.basename(real)):
        raise InvalidRequest(
            f"{said}: over HTTP memories are written to files called memories.json, memories.jsonl or memories.md, with "
            "letters and digits around that word"
        )
    if is_written and os.path.lexists(real):
        raise InvalidRequest(f"{said} is there already: nothing is overwritten over HTTP, give another name")


def _is_of_project(operation: Operation, name: str, *, is_plain: bool) -> bool:
    """Whether a relative path of an operation that manages files starts at a project's root, not in the engine's folder."""
    if operation.name == "restore_backup":
        return is_plain
    return operation.name == "rag_setup" and name != "project_root"


def _is_in(path: str, roots: list[str]) -> bool:
    real = os.path.realpath(path)
    return any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


API = "/api/"


@dataclass(frozen=True, slots=True)
class OperationRoute:
    """One address of an operation. Arguments come as a JSON body, or in the query of a GET and DELETE."""

    method: str
    path: str
    operation: Operation

    @property
    def path_argument(self) -> str:
        """The argument that stands in the path; empty for none."""
        return self.path.partition("{")[2].partition("}")[0]


_OTHERS = (
    ("POST", "/index", "push"),
    ("GET", "/collections", "get_collections"),
    ("POST", "/collections", "new_collection"),
    ("POST", "/search", "search"),
    ("GET", "/status", "engine_status"),
    ("GET", "/memories", "list_memories"),
    ("POST", "/memories", "store_memory"),
    ("POST", "/memories/search", "search_memory"),
    ("GET", "/memories/{id}", "get_memory"),
    ("PATCH", "/memories/{id}", "update_memory"),
    ("DELETE", "/memories/{id}", "delete_memory"),
)


def operation_routes() -> list[OperationRoute]:
    """All addresses of operations."""
    named = [OperationRoute(method, path, OPERATIONS.find(name)) for method, path, name in _OTHERS]
    return [*named, *(OperationRoute("POST", f"{API}{operation.name}", operation) for operation in OPERATIONS)]
