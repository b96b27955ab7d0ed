"""Finds pipes and devices in the place of files that git reads: it opens them, and waits or reads without end."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from rag_ls.util.git_config import entries_of, path_in
from rag_ls.util.repositories import DOT_GIT, Repository, config_files, config_home

_READ_IN_FOLDERS = frozenset({".gitignore", ".gitattributes", ".gitmodules"})
_NAMING_FILES = frozenset({"core.excludesfile", "core.attributesfile", "include.path", "includeif.path"})


def is_obstacle(file: str | os.PathLike[str]) -> bool:
    """Whether a path is, or leads to, a pipe or a device. `/dev/null`, which stands for an empty file, is none."""
    try:
        mode = os.stat(file).st_mode
    except (OSError, ValueError):
        return False
    is_odd = stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
    return is_odd and not os.path.samefile(file, os.devnull)


def find_obstacle(repository: Repository, is_done: Callable[[], bool]) -> str:
    """A pipe or device that git may meet in a repository; empty where there is none, or when the search `is_done`."""
    for file in _read_by_git(repository):
        if is_obstacle(file):
            return os.fspath(file)
        if is_done():
            break
    return ""


def _read_by_git(repository: Repository) -> Iterator[str | os.PathLike[str]]:
    """The files that git may read, those that are found soonest first."""
    files = config_files(repository)
    yield from files
    yield from (config_home() / "git" / name for name in ("ignore", "attributes"))
    for entry in (entry for file in files for entry in entries_of(file)):
        if entry.key in _NAMING_FILES and entry.value:
            yield path_in(entry)
    yield from _files_below(repository.top, lambda name: name in _READ_IN_FOLDERS)
    for folder in dict.fromkeys((repository.folder, repository.common)):
        yield from _files_below(folder, lambda name: True)


def _files_below(top: Path, is_read: Callable[[str], bool]) -> Iterator[str]:
    """The paths of files in a folder and below; an empty one for each folder, so that the search may end there."""
    pending = [os.fspath(top)]
    while pending:
        yield ""
        try:
            entries = list(os.scandir(pending.pop()))
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                pending += [entry.path] * (entry.name != DOT_GIT)
            elif is_read(entry.name):
                yield entry.path
