"""Notices changes by other programs to a project's files, and hands them to indexing."""

from __future__ import annotations

import errno
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from rag_ls.indexing.intake import Admissions
from rag_ls.indexing.service import IndexingService
from rag_ls.indexing.watching.events import Changes, ChangeSource, ChangeSources
from rag_ls.util.files import describe_no_handles, has_free_handles

_log = logging.getLogger(__name__)

# A shell command is done by then, so it does not pay for watching.
_START_DELAY_S = 1.0
# A batch of changes ends this long after its first one, though others follow closely.
_MAX_BATCH_S = 1.5
_RETRY_S = 60.0
_CLOSE_S = 1.0

_LATER = "the files are watched once they were compared"
_STARTING = "the files are watched in a moment"
_GONE = "the project's folder is gone"
_LIMITS = {
    errno.EMFILE: "no more inotify instances; raise fs.inotify.max_user_instances",
    errno.ENOSPC: "too many folders for inotify; raise fs.inotify.max_user_watches",
}
_REMOTE = frozenset(
    "nfs nfs4 cifs smb2 smb3 smbfs afs afpfs ncpfs webdav 9p vboxsf drvfs prl_fs vmhgfs virtiofs ceph lustre gpfs "
    "beegfs glusterfs ocfs2 gfs2 orangefs osxfs".split()
)
# FUSE may reach another machine; these types only present local folders.
_LOCAL_FUSE = frozenset(
    "fuse.fuse-overlayfs fuse.bindfs fuse.mergerfs fuse.unionfs fuse.encfs fuse.gocryptfs fuse.cryfs fuse.ext2 "
    "fuse.ntfs-3g fuse.lxcfs".split()
)


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
        self.indexing = indexing
        self.admissions = admissions
        self._files_changed = files_changed
        self._sources = sources
        self.quiet_s = 0.0
        self._lock = threading.Lock()
        self._watcher: _TreeWatcher | None = None
        self._closed = False

    def follow_tree(self, watch: bool, quiet_s: float) -> None:
        """Watch the tree from now on, by its present folders and rules, or stop watching it. Called at a comparison.

        Changes are handed on once none came for `quiet_s` seconds.
        """
        self.quiet_s = quiet_s
        with self._lock:
            if self._watcher is not None and self._watcher.ended:
                # The folder was gone for a while.
                self._watcher = None
            if self._watcher is None and watch and not self._closed:
                self._watcher = _TreeWatcher(self._root, self, self._sources)
            elif self._watcher is not None and watch:
                self._watcher.refresh()
            elif self._watcher is not None:
                self._watcher.begin_close()
                self._watcher = None

    def close(self) -> None:
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

    def changed_on_disk(self, paths: set[str]) -> None:
        """Hand on changed files and folders; ignored ones may be among them."""
        if relevant := self.admissions.relevant(paths, self.indexing.inbox.paths()):
            self._files_changed(relevant)

    def compare(self) -> None:
        """Compare the whole tree, because anything may have changed, even the ignore rules."""
        self.admissions.forget()
        self.indexing.rescan()


class _TreeWatcher:
    """Watches one project in a thread of its own. `settle`, `refresh` and `close` may be called by any thread."""

    def __init__(self, root: Path, watched: TreeSync, sources: ChangeSources) -> None:
        self._root = root
        self._watched = watched
        self._sources = sources
        self._change = threading.Condition()
        self._source: ChangeSource | None = None
        self.problem = _STARTING
        """The reason why the files are not watched; empty while they are."""
        self._stopping = False
        self._busy = False
        self._refresh_wanted = False
        # Tickets of `settle`: the last one given, and the last one for which all changes were handed on.
        self._asked = 0
        self._answered = 0
        self._tried_at = 0.0
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._thread.start()

    @property
    def ended(self) -> bool:
        """Whether watching has ended for good."""
        return not self._thread.is_alive()

    def settle(self, timeout_s: float) -> bool:
        """Wait until all changes up to now are handed on; whether the files are watched at all."""
        with self._change:
            source = self._source
            if source is None:
                return False
            # Take news first: the thread takes news only while it is busy, so this order misses none.
            if not source.has_changes() and not self._busy:
                return True
            self._asked += 1
            ticket = self._asked
            source.wake()
            self._change.wait_for(lambda: self._answered >= ticket or self._source is None, timeout_s)
            return self._source is not None

    def refresh(self) -> None:
        """Adapt to the tree's present folders and rules, or try again to watch it. Called after a comparison."""
        with self._change:
            self._refresh_wanted = True
            self._wake()

    def begin_close(self) -> None:
        """Let the thread end, without waiting for it."""
        with self._change:
            self._stopping = True
            self._wake()

    def close(self) -> None:
        self.begin_close()
        if self._thread is not threading.current_thread():
            self._thread.join(_CLOSE_S)

    def _wake(self) -> None:
        if self._source is not None:
            self._source.wake()
        self._change.notify_all()

    def _run(self) -> None:
        with self._change:
            self._change.wait_for(lambda: self._stopping, _START_DELAY_S)
        while not self._stopping and self.problem != _GONE:
            self._tried_at = time.monotonic()
            try:
                self._watch()
            except OSError as error:
                self._give_up(
                    _LIMITS.get(error.errno or 0, str(error)) if has_free_handles() else describe_no_handles()
                )
            except Exception as error:
                _log.exception("watching %s failed", self._root)
                self._give_up(f"watching failed: {error}")
            if not self._stopping and self.problem != _GONE:
                self._wait_to_try_again()

    def _give_up(self, why: str) -> None:
        if not self._root.is_dir():
            why = _GONE
        _log.info("%s is not watched: %s", self._root, why)
        self.problem = why

    def _wait_to_try_again(self) -> None:
        with self._change:
            while not self._stopping:
                left_s = self._tried_at + _RETRY_S - time.monotonic()
                if self._refresh_wanted and left_s <= 0:
                    break
                self._change.wait(left_s if self._refresh_wanted else None)
            self._refresh_wanted = False

    def _watch(self) -> None:
        if kind := remote_file_system(self._root):
            self.problem = f"a file system of type {kind} does not tell of changes"
            return
        source = self._sources.open(self._root, self._watched.admissions.folders)
        try:
            # Changes before this moment were not noticed. The comparison is wanted before questions rely on the watch.
            self._watched.compare()
            with self._change:
                self._source, self.problem, self._refresh_wanted = source, "", False
            self._follow(source)
        finally:
            with self._change:
                self._source, self._busy = None, False
                source.close()
                self._change.notify_all()

    def _follow(self, source: ChangeSource) -> None:
        while not self._stopping:
            asked = self._asked
            if asked == self._answered and not self._refresh_wanted:
                source.wait(None)
            self._busy = True
            if self._refresh_wanted:
                self._refresh_wanted = False
                if source.follow_folders():
                    self._watched.compare()
            changes = self._batch(source)
            if changes.ended or not self._root.is_dir():
                self._give_up(_GONE)
                return
            self._hand_on(changes, source)
            self._busy = False
            with self._change:
                self._answered = asked
                self._change.notify_all()

    def _batch(self, source: ChangeSource) -> Changes:
        """The changes, with those that follow closely; a question that waits ends the batch early."""
        changes = source.take()
        deadline = time.monotonic() + _MAX_BATCH_S
        while changes and self._asked == self._answered and not self._stopping and time.monotonic() < deadline:
            if not source.wait(self._watched.quiet_s):
                break
            changes.add(source.take())
        return changes

    def _hand_on(self, changes: Changes, source: ChangeSource) -> None:
        if changes.paths:
            self._watched.changed_on_disk(changes.paths)
        if changes.incomplete:
            source.follow_folders()
            self._watched.compare()


def remote_file_system(place: Path) -> str:
    """The type of the file system of `place` if changes there may go unnoticed; else empty."""
    # Imported here because it takes a while: shell commands never need it.
    import psutil

    kind, longest = "", -1
    for mount in psutil.disk_partitions(all=True):
        # The last of several mounts on one point hides the others.
        if place.is_relative_to(mount.mountpoint) and len(mount.mountpoint) >= longest:
            remote_drive = "remote" in mount.opts.split(",")
            kind, longest = ("network drive" if remote_drive else mount.fstype), len(mount.mountpoint)
    return kind if is_remote(kind) else ""


def is_remote(kind: str) -> bool:
    """Whether another machine may change a file system of this type."""
    kind = kind.lower()
    return kind in _REMOTE or kind == "network drive" or (kind.startswith("fuse.") and kind not in _LOCAL_FUSE)
