"""Keeps the index of one project in step with what other programs do to its files."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from rag_ls.indexing.admissions import Admissions
from rag_ls.indexing.service import IndexingService
from rag_ls.indexing.watching import TreeWatcher

_LATER = "the files are watched once they were compared"


class TreeSync:
    """Watches a project's files from its first comparison on. Safe from several threads."""

    def __init__(
        self,
        root: Path,
        indexing: IndexingService,
        admissions: Admissions,
        files_changed: Callable[[list[str]], None],
    ) -> None:
        self._root = root
        self._indexing = indexing
        self._admissions = admissions
        self._files_changed = files_changed
        self._lock = threading.Lock()
        self._watcher: TreeWatcher | None = None
        self._closed = False

    def follow_tree(self, watch: bool) -> None:
        """The tree is being compared: watch it from now on, its folders and rules as they are now; or no longer."""
        with self._lock:
            if self._watcher is not None and self._watcher.ended:
                # The folder was gone for a while.
                self._watcher = None
            if self._watcher is None and watch and not self._closed:
                self._watcher = TreeWatcher(self._root, self)
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
        """Why changes are not noticed at once; empty where they are."""
        watcher = self._watcher
        return watcher.problem if watcher is not None else _LATER

    def settle(self, timeout_s: float) -> bool:
        """Have everything taken in that happened until now; whether changes are noticed at all."""
        watcher = self._watcher
        return watcher is not None and watcher.settle(timeout_s)

    # --- what the watcher tells

    def admitted_folders(self, folders: list[str]) -> set[str]:
        """Those of some folders whose files may matter."""
        return self._admissions.folders(folders)

    def changed_on_disk(self, paths: set[str]) -> None:
        """These files and folders changed, some of them perhaps ignored ones."""
        if relevant := self._admissions.relevant(paths, self._indexing.unseen()):
            self._files_changed(relevant)

    def hold_files(self, held: bool) -> None:
        """Git is in the middle of writing files, or no longer."""
        self._indexing.hold_files(held)

    def compare(self) -> None:
        """Anything may have changed, the ignore rules too."""
        self._admissions.forget()
        self._indexing.rescan()

    def check_soon(self) -> None:
        """What was noticed is probably all; make sure when there is time."""
        self._indexing.check_soon()
