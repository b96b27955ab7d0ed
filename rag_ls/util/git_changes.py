"""The files of a work tree that differ from a commit, told without any program that settings of git name for files.

git itself would compare a file with its commit through the filters that attributes give it (git-lfs is one). Here git compares
its index with the commit, and the files are compared with the index by their stamps, then by their bytes.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from rag_ls.util.files import MAX_BYTES, means_nothing_there, read_most
from rag_ls.util.git import ask_git, list_by_git
from rag_ls.util.paths import is_behind_link, is_inner_path, project_file
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

_GIT_S = 120.0
_STAMPS = lazy_pattern(rb"  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n  dev: .*\n  uid: .*\n  size: (\d+)\t.*\n")
_ONE_SECOND_NS = 1_000_000_000
_LINK_MODE, _MODULE_MODE = b"120000", b"160000"


class ChangeStatus(StrEnum):
    """The ways in which a file differs."""

    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"
    RENAMED = "renamed"


_STATUSES = {"A": ChangeStatus.ADDED, "C": ChangeStatus.ADDED, "D": ChangeStatus.DELETED, "R": ChangeStatus.RENAMED}


@dataclass(frozen=True, slots=True)
class Difference:
    """A file that differs."""

    path: str
    """Relative to the folder that was asked for; of a deleted file, the former one."""
    former_path: str
    """The path before; the same unless it was renamed, and empty for a new file."""
    status: ChangeStatus


@dataclass(frozen=True, slots=True)
class _Staged:
    """The difference between the index and the commit in one file."""

    former_path: str
    status: ChangeStatus
    object_id: str
    """Of the commit's text."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file in the index."""

    path: str
    is_link: bool
    object_id: str
    is_merged: bool
    stamps: tuple[int, ...]
    """Seconds and nanoseconds of its times, and its size."""


def list_differences(folder: Path, revision: str) -> Iterator[Difference]:
    """The files below a folder that differ from a commit, those that git does not know yet among them. Raises `GitSilent`.

    A file that a filter changes on its way into git counts as changed when its stamps have.
    """
    staged = _find_staged(folder, revision)
    linked: dict[str, bool] = {}
    written_ns = _index_time(folder)
    for entry in _entries(folder):
        change = staged.pop(entry.path, None)
        if is_behind_link(folder, entry.path, linked) or _is_gone(folder / entry.path):
            if change is None:
                yield Difference(entry.path, entry.path, ChangeStatus.DELETED)
            elif change.former_path:
                yield Difference(change.former_path, change.former_path, ChangeStatus.DELETED)
        elif change is not None and change.status is not ChangeStatus.CHANGED:
            yield Difference(entry.path, change.former_path, change.status)
        elif change is None and entry.is_merged and _has_stamps(folder, entry, written_ns):
            continue
        elif not _holds(folder, entry, change.object_id if change else entry.object_id):
            yield Difference(entry.path, entry.path, ChangeStatus.CHANGED)
    for path, change in staged.items():
        if change.status is ChangeStatus.DELETED:
            yield Difference(path, path, ChangeStatus.DELETED)
        elif not is_behind_link(folder, path, linked) and not _is_gone(folder / path):
            # Said to be as in the index, which differs from the commit.
            yield Difference(path, change.former_path, change.status)
    for path in map(os.fsdecode, list_by_git(folder, "ls-files", "-o", "--exclude-standard", "-z", timeout_s=_GIT_S)):
        # A folder in the list is another repository, with changes of its own.
        if is_inner_path(path):
            yield Difference(path, "", ChangeStatus.ADDED)


def _find_staged(folder: Path, revision: str) -> dict[str, _Staged]:
    """The files in which the index differs from a commit, by their paths in the index; of a deleted one, the former."""
    options = ("--cached", "--raw", "--no-abbrev", "-M", "-z", "--relative", "--ignore-submodules=all")
    fields = map(os.fsdecode, list_by_git(folder, "diff-index", *options, revision, "--", timeout_s=_GIT_S))
    found = {}
    for facts in fields:
        _, _, object_id, _, letter = facts.split(" ")
        former = next(fields)
        path = next(fields) if letter[0] in "RC" else former
        status = _STATUSES.get(letter[0], ChangeStatus.CHANGED)
        if letter == "U" and not object_id.strip("0"):
            # The other side of a merge has it alone.
            status = ChangeStatus.ADDED
        if is_inner_path(path) and is_inner_path(former):
            found[path] = _Staged("" if status is ChangeStatus.ADDED else former, status, object_id)
    return found


def _entries(folder: Path) -> Iterator[_Entry]:
    """The files in the index; without those that are not to be in the work tree, or are said to be unchanged."""
    head, last = b"", ""
    for told in list_by_git(folder, "ls-files", "-v", "--stage", "--debug", "-z", timeout_s=_GIT_S):
        # The stamps of each file come after its NUL, and before the next file.
        stamps = _STAMPS.match(told)
        entry = _entry(head, tuple(map(int, stamps.groups()))) if head and stamps else None
        # A file with an unfinished merge comes several times.
        if entry and entry.path != last:
            last = entry.path
            yield entry
        head = told[stamps.end() :] if stamps else told


def _entry(head: bytes, stamps: tuple[int, ...]) -> _Entry | None:
    facts, _, name = head.partition(b"\t")
    tag, mode, object_id, stage = facts.split(b" ")
    path = os.fsdecode(name)
    if tag == b"S" or tag.islower() or mode == _MODULE_MODE or not is_inner_path(path):
        return None
    return _Entry(path, mode == _LINK_MODE, object_id.decode(), stage == b"0", stamps)


def _is_gone(file: Path) -> bool:
    """Whether no file is at a path any more; False where that cannot be told."""
    try:
        return stat.S_ISDIR(os.lstat(file).st_mode)
    except OSError as error:
        return means_nothing_there(error)


def _index_time(folder: Path) -> int:
    """The time at which git's index was written, in nanoseconds."""
    named = os.fsdecode(ask_git(folder, "rev-parse", "--git-path", "index")).removesuffix("\n")
    try:
        return os.stat(folder / named).st_mtime_ns
    except OSError:
        return 0


def _has_stamps(folder: Path, entry: _Entry, written_ns: int) -> bool:
    """Whether a file's stamps prove that it is as it was when git's index was written."""
    try:
        status = os.lstat(folder / entry.path)
    except OSError:
        return False
    *times, size = entry.stamps
    is_same = size == status.st_size & 0xFFFFFFFF and stat.S_ISLNK(status.st_mode) == entry.is_link
    # A file written within the same moment as the index may have been written after it.
    return (
        is_same
        and status.st_mtime_ns < written_ns
        and times
        == [part for stamp in (status.st_ctime_ns, status.st_mtime_ns) for part in divmod(stamp, _ONE_SECOND_NS)]
    )


def _holds(folder: Path, entry: _Entry, object_id: str) -> bool:
    """Whether a file holds the bytes of an object of git, or would with its line ends; False where that cannot be told."""
    try:
        if entry.is_link:
            data = os.fsencode(os.readlink(folder / entry.path))
        else:
            with project_file(folder, entry.path) as stream:
                data = read_most(stream, MAX_BYTES + 1)
    except OSError:
        return False
    new_hash = hashlib.sha1 if len(object_id) == 40 else hashlib.sha256
    forms = (data, data.replace(b"\r\n", b"\n"))
    return len(data) <= MAX_BYTES and any(
        new_hash(b"blob %d\0" % len(form) + form, usedforsecurity=False).hexdigest() == object_id for form in forms
    )
