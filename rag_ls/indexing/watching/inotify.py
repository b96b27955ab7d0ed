"""Linux: watches only the folders that hold files for the index, or may come to hold some.

Watches are limited per user and cost kernel memory. Ignored folders (dependencies, build output) make up most of
many trees and are not watched, so a build costs nothing here.
"""

from __future__ import annotations

import errno
import os
import select
from collections.abc import Callable, Iterable
from pathlib import Path

from inotify_simple import Event, INotify, flags

from rag_ls.indexing.watching.events import Changes
from rag_ls.indexing.watching.git import NOTICED, WRITTEN_BY_GIT, git_folder
from rag_ls.project import DATA_FOLDER

_FOLDER_EVENTS = (
    flags.CREATE | flags.DELETE | flags.MODIFY | flags.CLOSE_WRITE | flags.ATTRIB | flags.MOVED_FROM | flags.MOVED_TO
    | flags.DELETE_SELF | flags.MOVE_SELF | flags.ONLYDIR | flags.DONT_FOLLOW | flags.EXCL_UNLINK
)  # fmt: skip
_GIT_EVENTS = flags.CREATE | flags.DELETE | flags.CLOSE_WRITE | flags.MOVED_FROM | flags.MOVED_TO | flags.ONLYDIR
_APPEARED = flags.CREATE | flags.MOVED_TO
_VANISHED = flags.DELETE | flags.MOVED_FROM
_OUT_OF_PLACE = flags.DELETE_SELF | flags.MOVE_SELF | flags.UNMOUNT
# Errors for a folder that vanished, or that we may not read.
_NOT_TO_BE_WATCHED = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG)
_NEVER_NOTICED = frozenset({".git", DATA_FOLDER})
_ROOT = ""
_GIT = "\0git"


class InotifyChanges:
    """See `ChangeSource`. A new folder is first watched and then listed, so that nothing in it is missed."""

    def __init__(self, root: Path, admits: Callable[[list[str]], set[str]]) -> None:
        """`admits` returns the given folders that are not ignored. Raises `OSError` where limits are reached."""
        self._root = root
        self._admits = admits
        self._paths: dict[int, str] = {}
        self._watches: dict[str, int] = {}
        self._inotify = INotify(nonblocking=True)
        self._wake_descriptor = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._poll = select.poll()
        self._poll.register(self._inotify.fileno(), select.POLLIN)
        self._poll.register(self._wake_descriptor, select.POLLIN)
        self._is_closed = False
        try:
            self.follow_folders()
        except BaseException:
            self.close()
            raise

    def wait(self, timeout_s: float | None) -> bool:
        """See `ChangeSource`."""
        ready = self._poll.poll(None if timeout_s is None else 1000 * timeout_s)
        if any(descriptor == self._wake_descriptor for descriptor, _ in ready):
            os.eventfd_read(self._wake_descriptor)
        return bool(ready)

    def has_changes(self) -> bool:
        """See `ChangeSource`."""
        look = select.poll()
        look.register(self._inotify.fileno(), select.POLLIN)
        return bool(look.poll(0))

    def wake(self) -> None:
        """See `ChangeSource`."""
        if not self._is_closed:
            os.eventfd_write(self._wake_descriptor, 1)

    def close(self) -> None:
        """See `ChangeSource`."""
        self._is_closed = True
        self._inotify.close()
        os.close(self._wake_descriptor)

    def take(self) -> Changes:
        """See `ChangeSource`."""
        changes = Changes()
        new_folders: dict[str, None] = {}
        for event in self._inotify.read(timeout=0):
            self._take_event(event, changes, new_folders)
        changes.paths.update(self._take_in(new_folders))
        return changes

    def follow_folders(self) -> bool:
        """See `ChangeSource`."""
        before = set(self._watches)
        entered: set[str] = set()
        self._take_in([_ROOT], entered)
        self._watch_git()
        for path in before - entered - {_GIT}:
            self._forget(path)
        return bool(entered - before)

    def _take_event(self, event: Event, changes: Changes, new_folders: dict[str, None]) -> None:
        folder = self._paths.get(event.wd)
        if event.mask & flags.Q_OVERFLOW:
            changes.incomplete = True
        elif folder == _GIT:
            self._take_git_event(event, changes)
        elif folder is None:
            pass
        elif event.mask & flags.IGNORED:
            self._drop(event.wd)
        elif not event.name:
            changes.ended |= folder == _ROOT and bool(event.mask & _OUT_OF_PLACE)
        elif event.name == ".git" and event.mask & (_APPEARED | _VANISHED):
            # A repository was created or removed, so other ignore rules apply.
            changes.incomplete = True
        elif event.name not in _NEVER_NOTICED:
            path = f"{folder}/{event.name}" if folder else event.name
            self._take_entry(path, event.mask, changes, new_folders)

    def _take_entry(self, path: str, mask: int, changes: Changes, new_folders: dict[str, None]) -> None:
        if not mask & flags.ISDIR:
            changes.paths.add(path)
        elif mask & _APPEARED:
            new_folders[path] = None
        elif mask & _VANISHED:
            changes.paths.add(path)
            for inner in [known for known in (*self._watches, *new_folders) if _is_below(known, path)]:
                new_folders.pop(inner, None)
                self._forget(inner)

    def _take_git_event(self, event: Event, changes: Changes) -> None:
        if event.mask & flags.IGNORED:
            self._drop(event.wd)
        elif event.name in NOTICED:
            changes.by_git |= event.name in WRITTEN_BY_GIT

    def _take_in(self, folders: Iterable[str], entered: set[str] | None = None) -> list[str]:
        """Watch folders and the folders below them that are not ignored; returns the files found in them."""
        files: list[str] = []
        level = list(folders)
        while level:
            admitted = self._admits([path for path in level if path != _ROOT]) | {_ROOT}
            below: list[str] = []
            for path in level:
                if path in admitted and self._watch(path):
                    if entered is not None:
                        entered.add(path)
                    self._list(path, files, below)
            level = below
        return files

    def _list(self, folder: str, files: list[str], below: list[str]) -> None:
        """Add a folder's files to `files` and its folders to `below`."""
        try:
            with os.scandir(self._root / folder) as entries:
                for entry in entries:
                    if entry.name not in _NEVER_NOTICED:
                        path = f"{folder}/{entry.name}" if folder else entry.name
                        (below if entry.is_dir(follow_symlinks=False) else files).append(path)
        except OSError:
            return

    def _watch(self, path: str) -> bool:
        try:
            watch = self._inotify.add_watch(self._root / path, _FOLDER_EVENTS)
        except OSError as error:
            if error.errno in _NOT_TO_BE_WATCHED and path != _ROOT:
                return False
            raise
        self._note(watch, path)
        return True

    def _watch_git(self) -> None:
        git, former = git_folder(self._root), self._watches.get(_GIT)
        # An unchanged folder keeps its watch, and so its unread events.
        watch = self._inotify.add_watch(git.path, _GIT_EVENTS) if git is not None else None
        if former != watch:
            self._forget(_GIT)
        if watch is not None:
            self._note(watch, _GIT)

    def _note(self, watch: int, path: str) -> None:
        # A folder that was renamed keeps its watch.
        former = self._paths.get(watch)
        if former is not None and former != path:
            del self._watches[former]
        replaced = self._watches.get(path)
        if replaced is not None and replaced != watch:
            self._paths.pop(replaced, None)
        self._paths[watch], self._watches[path] = path, watch

    def _forget(self, path: str) -> None:
        watch = self._watches.pop(path, None)
        if watch is not None:
            self._paths.pop(watch, None)
            try:
                self._inotify.rm_watch(watch)
            except OSError as error:
                # The system removed the watch together with its folder.
                if error.errno != errno.EINVAL:
                    raise

    def _drop(self, watch: int) -> None:
        path = self._paths.pop(watch, None)
        if path is not None and self._watches.get(path) == watch:
            del self._watches[path]


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")
