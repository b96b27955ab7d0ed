"""Opens the way of watching files that suits this system."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rag_ls.indexing.watching.events import ChangeSource

if TYPE_CHECKING:
    from rag_ls.indexing.watching.inotify import SharedInotify


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
