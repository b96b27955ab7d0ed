"""Linux: watches only the folders that hold files for the index, or may come to hold some.

Watches are limited per user and cost kernel memory. Ignored folders (dependencies, build output) make up most of
many trees and are not watched, so a build costs nothing here. A user has few inotify instances, too (128 by default), and
each would hold file handles of its own: all trees of a process share one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import threading
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from inotify_simple import Event, INotify, flags

from rag_ls.indexing.watching.events import Changes
from rag_ls.project import DATA_FOLDER
from rag_ls.util.repositories import is_repository_top

_FOLDER_EVENTS = (
    flags.CREATE | flags.DELETE | flags.MODIFY | flags.CLOSE_WRITE | flags.ATTRIB | flags.MOVED_FROM | flags.MOVED_TO
    | flags.DELETE_SELF | flags.MOVE_SELF | flags.ONLYDIR | flags.DONT_FOLLOW | flags.EXCL_UNLINK
)  # fmt: skip
# Of another repository inside only its end matters: from then on its files belong to the project.
_INNER_EVENTS = flags.DELETE | flags.MOVED_FROM | flags.ONLYDIR | flags.DONT_FOLLOW
_APPEARED = flags.CREATE | flags.MOVED_TO
_VANISHED = flags.DELETE | flags.MOVED_FROM
# The system sends these events to every watch.
_ALWAYS_TOLD = flags.IGNORED | flags.UNMOUNT
_OUT_OF_PLACE = flags.DELETE_SELF | flags.MOVE_SELF | flags.UNMOUNT
# Errors for a folder that vanished, or that we may not read.
_NOT_TO_BE_WATCHED = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG)
_NEVER_NOTICED = frozenset({".git", DATA_FOLDER})
# If nobody takes them, no more are kept; the tree is compared instead.
_MAX_EVENTS = 50_000
_ROOT = ""


class InotifyChanges:
    """See `ChangeSource`. A new folder is first watched and then listed, so that nothing in it is missed."""

    def __init__(self, root: Path, admits: Callable[[list[str]], set[str]], inotify: SharedInotify) -> None:
        """`admits` returns the given folders that are not ignored. Raises `OSError` where limits are reached."""
        self._root = root
        self._admits = admits
        self._inotify = inotify
        self._paths: dict[int, str] = {}
        self._watches: dict[str, int] = {}
        self._news = threading.Condition()
        self._events: deque[Event] = deque()
        self._is_woken = False
        inotify.join(self)
        try:
            self.follow_folders()
        except BaseException:
            self.close()
            raise

    def take_in(self, event: Event) -> None:
        """Take an event of one of its watches, or one that tells of a lost event. Called with `SharedInotify`'s lock held."""
        with self._news:
            if len(self._events) >= _MAX_EVENTS:
                self._events.clear()
                event = Event(-1, flags.Q_OVERFLOW, 0, "")
            self._events.append(event)
            self._news.notify_all()

    def wait(self, timeout_s: float | None) -> bool:
        with self._news:
            is_ready = self._news.wait_for(lambda: self._events or self._is_woken, timeout_s)
            self._is_woken = False
        return bool(is_ready)

    def has_changes(self) -> bool:
        self._inotify.read()
        return bool(self._events)

    def wake(self) -> None:
        with self._news:
            self._is_woken = True
            self._news.notify_all()

    def close(self) -> None:
        self._inotify.leave(self)

    def take(self) -> Changes:
        changes = Changes()
        new_folders: dict[str, None] = {}
        self._inotify.read()
        with self._news:
            events, self._events = self._events, deque()
        for event in events:
            self._take_event(event, changes, new_folders)
        changes.paths.update(self._take_in(new_folders))
        return changes

    def follow_folders(self) -> bool:
        before = set(self._watches)
        entered: set[str] = set()
        self._take_in([_ROOT], entered)
        for path in before - entered:
            self._forget(path)
        return bool(entered - before)

    def _take_event(self, event: Event, changes: Changes, new_folders: dict[str, None]) -> None:
        folder = self._paths.get(event.wd)
        if event.mask & flags.Q_OVERFLOW:
            changes.incomplete = True
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

    def _take_in(self, folders: Iterable[str], entered: set[str] | None = None) -> list[str]:
        """Watch folders and the folders below them that are not ignored; returns the files found in them."""
        files: list[str] = []
        level = list(folders)
        while level:
            tops = {path for path in level if path != _ROOT and is_repository_top(self._root / path)}
            admitted = self._admits([path for path in level if path != _ROOT]) | {_ROOT}
            below: list[str] = []
            for path in level:
                is_in = path in admitted
                if not (is_in or path in tops):
                    continue
                if self._watch(path, _FOLDER_EVENTS if is_in else _INNER_EVENTS):
                    if entered is not None:
                        entered.add(path)
                    if is_in:
                        self._list(path, files, below)
                    elif not is_repository_top(self._root / path):
                        # Its `.git` went before the watch was set, or before it was judged: judge it again.
                        below.append(path)
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

    def _watch(self, path: str, events: int) -> bool:
        try:
            watch = self._inotify.add_watch(self, self._root / path, events)
        except OSError as error:
            if error.errno in _NOT_TO_BE_WATCHED and path != _ROOT:
                return False
            raise
        self._note(watch, path)
        return True

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
                self._inotify.remove_watch(self, watch)
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


class SharedInotify:
    """The watches of all trees. The instance exists while there is a tree. Safe from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trees: set[InotifyChanges] = set()
        # Two projects may watch one folder: the system has one watch for it.
        self._masks: dict[int, dict[InotifyChanges, int]] = {}
        self._inotify: INotify | None = None
        self._end = -1

    def join(self, tree: InotifyChanges) -> None:
        """Add a tree. Raises `OSError` where no instance can be had."""
        with self._lock:
            if self._inotify is None:
                self._start()
            self._trees.add(tree)

    def leave(self, tree: InotifyChanges) -> None:
        """Remove a tree and its watches."""
        with self._lock:
            for watch in [watch for watch, masks in self._masks.items() if tree in masks]:
                with contextlib.suppress(OSError):
                    self._remove(tree, watch)
            self._trees.discard(tree)
            if not self._trees and self._inotify is not None:
                # The thread closes both: it may be waiting for them.
                os.eventfd_write(self._end, 1)
                self._inotify, self._masks = None, {}

    def add_watch(self, tree: InotifyChanges, folder: Path | str, mask: int) -> int:
        """Watch a folder; returns the watch's number, the former one if it is watched already. Raises `OSError`."""
        with self._lock:
            assert self._inotify is not None
            # The same lock as for reading: no event is read before it is known whose it is.
            watch = self._inotify.add_watch(folder, mask | flags.MASK_ADD)
            self._masks.setdefault(watch, {})[tree] = mask
            return int(watch)

    def remove_watch(self, tree: InotifyChanges, watch: int) -> None:
        """Watch a folder no more. Raises `OSError` where the system removed the watch before."""
        with self._lock:
            self._remove(tree, watch)

    def read(self) -> None:
        """Hand what the system has noticed up to now to the trees."""
        with self._lock:
            if self._inotify is not None:
                for event in self._inotify.read(timeout=0):
                    self._hand_on(event)

    def _remove(self, tree: InotifyChanges, watch: int) -> None:
        masks = self._masks.get(watch, {})
        if masks.pop(tree, None) is not None and not masks:
            del self._masks[watch]
            assert self._inotify is not None
            self._inotify.rm_watch(watch)

    def _hand_on(self, event: Event) -> None:
        if event.mask & flags.Q_OVERFLOW:
            for tree in self._trees:
                tree.take_in(event)
            return
        for tree, mask in self._masks.get(event.wd, {}).items():
            if event.mask & (mask | _ALWAYS_TOLD):
                tree.take_in(event)
        if event.mask & flags.IGNORED:
            self._masks.pop(event.wd, None)

    def _start(self) -> None:
        inotify = INotify(nonblocking=True)
        try:
            end = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        except OSError:
            inotify.close()
            raise
        self._inotify, self._end = inotify, end
        threading.Thread(target=self._run, args=(inotify, end), name="inotify", daemon=True).start()

    def _run(self, inotify: INotify, end: int) -> None:
        poll = select.poll()
        poll.register(inotify.fileno(), select.POLLIN)
        poll.register(end, select.POLLIN)
        while all(descriptor != end for descriptor, _ in poll.poll()):
            self.read()
        inotify.close()
        os.close(end)
