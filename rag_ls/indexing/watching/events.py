"""The interface of a way of watching files, the changes that it gives, and the way that suits this system."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rag_ls.util.records import dataclass, field

if TYPE_CHECKING:
    from rag_ls.indexing.watching.inotify import SharedInotify


@dataclass(slots=True)
class Changes:
    """The changes that were noticed since the last look."""

    paths: set[str] = field(default_factory=set)
    """Project paths of files and folders that were written, made, renamed or deleted."""
    incomplete: bool = False
    """Whether changes may have been missed, so that the whole tree must be compared."""
    ended: bool = False
    """Whether the project's folder was deleted, moved or unmounted."""

    def add(self, other: Changes) -> None:
        """Add later changes to these."""
        self.paths |= other.paths
        self.incomplete |= other.incomplete
        self.ended |= other.ended

    def __bool__(self) -> bool:
        return bool(self.paths) or self.incomplete or self.ended


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
