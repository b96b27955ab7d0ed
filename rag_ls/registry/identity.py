"""Tells whose memories a project's are: by what stays when its folder is cleaned, moved, cloned, or a work tree."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from rag_ls.project import host_and_path
from rag_ls.util.git_files import first_entry_of, origin_of, work_tree_around


@dataclass(frozen=True, slots=True)
class Identity:
    """What a project is known by. Empty strings without git."""

    root: str
    inside: str = ""
    """The root's path inside its work tree; empty for the work tree itself."""
    common: str = ""
    """git's folder, which all work trees of a repository share."""
    remote: str = ""
    """`host/path` of the remote `origin`, or the path of a repository of this machine that it names."""
    first: str = ""
    """A print of the oldest entry of git's log."""
    number: str = ""
    """Device and inode of git's folder, which a move within a disk keeps."""


def identity_of(root: Path) -> Identity:
    """The identity of the project at a root."""
    tree = work_tree_around(root)
    if tree is None:
        return Identity(str(root))
    inside = "" if root == tree.top else root.relative_to(tree.top).as_posix()
    remote = _remote(origin_of(tree.common), tree.common)
    return Identity(str(root), inside, str(tree.common), remote, first_entry_of(tree.common), _number(tree.common))


def _remote(address: str, common: Path) -> str:
    if not address:
        return ""
    if found := host_and_path(address):
        return "/".join(found)
    path = address.removeprefix("file://")
    if "://" in path or (":" in path.partition("/")[0] and not os.path.isabs(path)):
        return ""
    # A repository of this machine: all that were cloned of it are one project, and it is too.
    place = os.path.realpath(common.parent / os.path.expanduser(path))
    tree = work_tree_around(Path(place)) if os.path.lexists(os.path.join(place, ".git")) else None
    return str(tree.common) if tree else place


def _number(folder: Path) -> str:
    try:
        found = os.stat(folder)
    except OSError:
        return ""
    return f"{found.st_dev}:{found.st_ino}"
