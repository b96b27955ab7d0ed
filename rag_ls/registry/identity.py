"""Tells whose memories a project's are: by what stays when its folder is cleaned, moved, cloned, or a work tree."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from rag_ls.errors import StoreUnavailable
from rag_ls.project import describe_unreadable, host_and_path
from rag_ls.util.files import birth_ns, is_readable_file, regular_file
from rag_ls.util.records import dataclass
from rag_ls.util.repositories import DOT_GIT, Repository, entries_of, find_repository

# git writes no longer line into its log.
_MAX_LINE = 1_000_000
MEMORIES_STORE = "project memories"


@dataclass(frozen=True, slots=True)
class Identity:
    """The values by which a project is known. Empty strings without git."""

    root: str
    inside: str = ""
    """The root's path inside its work tree; empty for the work tree itself."""
    common: str = ""
    """git's folder, which all work trees of a repository share."""
    remote: str = ""
    """`host/path` of the remote `origin`, or the path of a repository of this machine that it names."""
    first: str = ""
    """A fingerprint of the oldest entry of git's log."""
    number: str = ""
    """Device and inode of git's folder, or of the root without git, which a move within a disk keeps."""


def identity_of(root: Path) -> Identity:
    """The identity of the project at a root.

    Raises `StoreUnavailable` where git's files cannot be read just now: without them it would be another project.
    """
    repository = find_repository(root)
    try:
        for file in _files_that_tell(root, repository):
            is_readable_file(file)
    except OSError as error:
        raise StoreUnavailable(
            f"whose memories {root} has cannot be told: {describe_unreadable(error)}", MEMORIES_STORE
        ) from error
    if repository is None or not repository.owns_tree:
        return Identity(str(root), number=_number(root))
    inside = "" if root == repository.top else root.relative_to(repository.top).as_posix()
    common = Path(os.path.realpath(repository.common))
    return Identity(
        root=str(root),
        inside=inside,
        common=str(common),
        remote=_remote(common),
        first=_first_entry(common),
        number=_number(common),
    )


def _files_that_tell(root: Path, repository: Repository | None) -> Iterator[Path]:
    """The files that say to which repository a folder belongs, whether they are there or not."""
    for folder in (root, *root.parents):
        yield folder / DOT_GIT
        if repository is not None and folder == repository.top:
            yield from (repository.folder / name for name in ("HEAD", "commondir", "gitdir"))
            yield from (repository.common / name for name in ("config", "logs/HEAD"))
            return


def _remote(common: Path) -> str:
    settings = entries_of(common / "config")
    urls = [entry.value for entry in settings if (entry.key, entry.subsection) == ("remote.url", "origin")]
    address = urls[-1] if urls else ""
    if not address:
        return ""
    if found := host_and_path(address):
        return "/".join(found)
    path = address.removeprefix("file://")
    if "://" in path or (":" in path.partition("/")[0] and not os.path.isabs(path)):
        return ""
    # It was cloned from a repository of this machine: all clones of that one, and itself, are one project.
    place = Path(os.path.realpath(common.parent / os.path.expanduser(path)))
    repository = find_repository(place)
    if repository and repository.top == place and repository.owns_tree:
        return os.path.realpath(repository.common)
    return str(place)


def _first_entry(common: Path) -> str:
    """A fingerprint of the oldest entry of the repository's log, which other repositories lack; empty without a log.

    It names who made or cloned the repository, when, and the first commit. git drops entries after ninety days.
    """
    try:
        with regular_file(common / "logs" / "HEAD", follow=True) as stream:
            line = stream.readline(_MAX_LINE)
    except OSError:
        return ""
    return hashlib.sha256(line).hexdigest()[:32] if line.strip() else ""


def _number(folder: Path) -> str:
    try:
        found = os.stat(folder)
    except OSError:
        return ""
    return f"{found.st_dev}:{found.st_ino}:{birth_ns(folder)}"


def is_number(noted: str, now: str) -> bool:
    """Whether a folder's number that was noted may be the one that it has now: an earlier version noted no time of birth."""
    return noted == now or (noted.count(":") == 1 and now.startswith(f"{noted}:"))
