"""The interface of a way of watching files, the changes that it gives, and the way that suits this system."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rag_ls.util.records import dataclass, field
from rag_ls.util.repositories import find_repository

if TYPE_CHECKING:
    from rag_ls.indexing.watching.inotify import SharedInotify
# An older lock was left by a killed git, or belongs to an operation that is too long to wait for.
_MAX_OPERATION_S = 10.0
_LOCK = "index.lock"
# Written by every checkout, merge, rebase, stash, reset and commit.
WRITTEN_BY_GIT = frozenset({"HEAD", "index"})
# The lock appears and disappears around those writes.
NOTICED = WRITTEN_BY_GIT | {_LOCK}


@dataclass(slots=True)
class Changes:
    """The changes that were noticed since the last look."""

    paths: set[str] = field(default_factory=set)
    """Project paths of files and folders that were written, made, renamed or deleted."""
    by_git: bool = False
    """Whether git wrote its index, or another branch was checked out."""
    incomplete: bool = False
    """Whether changes may have been missed, so that the whole tree must be compared."""
    ended: bool = False
    """Whether the project's folder was deleted, moved or unmounted."""

    def add(self, other: Changes) -> None:
        """Add later changes to these."""
        self.paths |= other.paths
        self.by_git |= other.by_git
        self.incomplete |= other.incomplete
        self.ended |= other.ended

    def __bool__(self) -> bool:
        return bool(self.paths) or self.by_git or self.incomplete or self.ended


class ChangeSource(Protocol):
    """One way of watching a project. One thread calls `wait`, `take` and `follow_folders`; any thread calls the rest.

    Raises `OSError` when watching is no longer possible.
    """

    def wait(self, timeout_s: float | None) -> bool:
        """Sleep until something happens or `wake` is called; False when neither did in time."""

    def take(self) -> Changes:
        """The changes since the last call, without waiting."""

    def follow_folders(self) -> bool:
        """Adapt to the present folders and ignore rules; whether a new folder is watched."""

    def has_changes(self) -> bool:
        """Whether `take` would return a change, as far as is known now."""

    def wake(self) -> None:
        """End the current `wait`, or else the next one."""

    def close(self) -> None:
        """Release all resources. Only `wake` and `has_changes` may be called afterwards."""


class ChangeSources:
    """The watchers of the trees of one process; on Linux they share one inotify instance. Safe from several threads."""

    def __init__(self) -> None:
        self._inotify: SharedInotify | None = None

    def open(self, root: Path, admits: Callable[[list[str]], set[str]]) -> ChangeSource:
        """Watch a tree. `admits` returns the given folders that are not ignored. Raises `OSError` where there is no way."""
        # Imported here because they take a while and short-lived processes never watch.
        if sys.platform == "linux":
            from rag_ls.indexing.watching.inotify import InotifyChanges, SharedInotify

            if self._inotify is None:
                self._inotify = SharedInotify()
            return InotifyChanges(root, admits, self._inotify)
        if os.name == "nt" or sys.platform == "darwin":
            from rag_ls.indexing.watching.native import NativeChanges

            return NativeChanges(root)
        raise OSError(errno.ENOSYS, f"{sys.platform} has no way to watch files that rag-ls knows")


@dataclass(frozen=True, slots=True)
class GitFolder:
    """The folder with HEAD and index of one working tree."""

    path: str

    def busy_for_s(self) -> float:
        """The longest time in seconds to wait for git's present operation; 0 where there is none."""
        try:
            age = time.time() - os.stat(os.path.join(self.path, _LOCK)).st_mtime
        except OSError:
            return 0.0
        # A negative age means that the clock was set back, so it says nothing.
        return _MAX_OPERATION_S - age if 0 <= age < _MAX_OPERATION_S else 0.0


def git_folder(root: Path) -> GitFolder | None:
    """The git folder of the working tree around `root`, or None where there is none."""
    repository = find_repository(root)
    return GitFolder(str(repository.folder)) if repository and repository.folder.is_dir() else None
