"""Repositories inside a project: finds those that are read with it, and the reason where one is not."""

from __future__ import annotations

import os
from pathlib import Path

from rag_ls.util.git import GitSilent, ask_git
from rag_ls.util.repositories import DOT_GIT, entries_of, find_repository, is_repository_top

OTHER_REPOSITORY = "other repository"
OTHER_CHECKOUT = "other checkout"
MISSING_SUBMODULE = "submodule without its files"
LEFT_OUT_SUBMODULE = "submodule"
UNREADABLE_FOLDER = "unreadable folder"
NOT_CHECKED_OUT = "not checked out"
"""The reason for what a sparse checkout leaves out."""
LINK_MODE = b"160000 "
"""The beginning of a submodule's entry in git's index."""
_MODULES, _WORK_TREES = "modules", "worktrees"


def why_folder_is_left_out(folder: Path) -> str:
    """The reason why a folder that a listing names as one file is not read; empty where it is an ordinary folder."""
    try:
        is_empty = not os.listdir(folder)
    except OSError:
        return UNREADABLE_FOLDER
    if not is_repository_top(folder):
        # Files that git ignores stay when a submodule is given up.
        return MISSING_SUBMODULE if is_empty or is_submodule(folder.parent, folder.name) else ""
    if (folder / DOT_GIT).is_dir():
        return OTHER_REPOSITORY
    if is_linked_work_tree(folder):
        return OTHER_CHECKOUT
    repository = find_repository(folder)
    lies_in_modules = repository is not None and _MODULES in repository.folder.parts
    return LEFT_OUT_SUBMODULE if lies_in_modules else OTHER_REPOSITORY


def is_sparse(root: Path) -> bool:
    """Whether git has only some of a work tree's files checked out."""
    repository = find_repository(root)
    if repository is None or repository.fault:
        return False
    files = (repository.common / "config", repository.folder / "config.worktree")
    values = [entry.value for file in files for entry in entries_of(file) if entry.key == "core.sparsecheckout"]
    return bool(values) and values[-1].lower() in ("true", "yes", "on", "1")


def is_not_checked_out(root: Path, path: str) -> bool:
    """Whether git has a file that a sparse checkout leaves out, or may have it: it does not answer."""
    try:
        return is_sparse(root) and ask_git(root, "ls-files", "-t", "-z", "--", f":(literal){path}").startswith(b"S ")
    except GitSilent:
        return True


def is_inside(root: Path, path: str) -> bool:
    """Whether a folder lies at its path itself, not behind a link."""
    return os.path.realpath(root / path) == os.path.join(os.path.realpath(root), *path.rstrip("/").split("/"))


def is_submodule(outer: Path, path: str) -> bool:
    """Whether the repository around a folder tracks the folder at a path in it as a submodule."""
    try:
        found = ask_git(outer, "ls-files", "--stage", "-z", "--", f":(literal){path.rstrip('/')}")
    except GitSilent:
        return path.rstrip("/") in list_submodules(outer)
    return found.startswith(LINK_MODE)


def list_submodules(root: Path) -> frozenset[str]:
    """The paths below a root that `.gitmodules` of the repository around it names."""
    repository = find_repository(root)
    if repository is None:
        return frozenset()
    prefix = "".join(part + "/" for part in root.relative_to(repository.top).parts)
    paths = [entry.value for entry in entries_of(repository.top / ".gitmodules") if entry.key == "submodule.path"]
    return frozenset(path.removeprefix(prefix) for path in paths if path.startswith(prefix))


def is_linked_work_tree(folder: Path) -> bool:
    """Whether a folder is a further work tree of a repository (`git worktree add`), which is read as a project of its own."""
    repository = find_repository(folder)
    return repository is not None and repository.top == folder and repository.folder.parent.name == _WORK_TREES
