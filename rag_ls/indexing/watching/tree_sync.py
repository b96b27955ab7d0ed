"""Updates the index of one project when other programs change its files."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from rag_ls.indexing.admissions import Admissions
from rag_ls.indexing.service import IndexingService
from rag_ls.indexing.watching import ChangeSources, TreeWatcher

_LATER = "the files are watched once they were compared"


class TreeSync:
    """Watches a project's files from its first comparison on. Safe from several threads."""

    def __init__(
        self,
        root: Path,
        indexing: IndexingService,
        admissions: Admissions,
        files_changed: Callable[[list[str]], None],
        sources: ChangeSources,
    ) -> None:
        self._root = root
        self._indexing = indexing
        self._admissions = admissions
        self._files_changed = files_changed
        self._sources = sources
        self._lock = threading.Lock()
        self._watcher: TreeWatcher | None = None
        self._closed = False

    def follow_tree(self, watch: bool) -> None:
        """Watch the tree from now on, by its present folders and rules, or stop watching it. Called at a comparison."""
        with self._lock:
            if self._watcher is not None and self._watcher.ended:
                # The folder was gone for a while.
                self._watcher = None
            if self._watcher is None and watch and not self._closed:
                self._watcher = TreeWatcher(self._root, self, self._sources)
            elif self._watcher is not None and watch:
                self._watcher.refresh()
            elif self._watcher is not None:
                self._watcher.begin_close()
                self._watcher = None

    def close(self) -> None:
        """Stop watching."""
        with self._lock:
            self._closed = True
        if self._watcher is not None:
            self._watcher.close()

    @property
    def problem(self) -> str:
        """The reason why changes are not noticed at once; empty where they are."""
        watcher = self._watcher
        return watcher.problem if watcher is not None else _LATER

    def settle(self, timeout_s: float) -> bool:
        """Wait until all changes up to now are handed to indexing; whether changes are noticed at all."""
        watcher = self._watcher
        return watcher is not None and watcher.settle(timeout_s)

    # --- called by the watcher

    def admitted_folders(self, folders: list[str]) -> set[str]:
        """The folders among `folders` whose files may matter."""
        return self._admissions.folders(folders)

    def changed_on_disk(self, paths: set[str]) -> None:
        """Hand on changed files and folders; ignored ones may be among them."""
        if relevant := self._admissions.relevant(paths, self._indexing.inbox.paths()):
            self._files_changed(relevant)

    def hold_files(self, held: bool) -> None:
        """Hold changed files back while git writes files, or release them."""
        self._indexing.inbox.hold_files(held)

    def compare(self) -> None:
        """Compare the whole tree, because anything may have changed, even the ignore rules."""
        self._admissions.forget()
        self._indexing.rescan()

    def check_soon(self) -> None:
        """Check when there is time that no change was missed."""
        self._indexing.check_soon()
