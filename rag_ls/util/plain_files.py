"""Things that a repository may have put into our own folder in place of files and folders: links, pipes, devices."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def kind_of(place: str | os.PathLike[str]) -> str:
    """The kind of a path: "file", "folder", "symbolic link", "special file" (a pipe, a device); empty for nothing.

    Raises `OSError` where that cannot be told.
    """
    try:
        mode = os.lstat(place).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return ""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "symbolic link" if stat.S_ISLNK(mode) else "special file"


def is_plain(place: str | os.PathLike[str]) -> bool:
    """Whether a file is at a path: no link, folder, pipe or device."""
    try:
        return kind_of(place) == "file"
    except OSError:
        return False


def clear_way(file: Path) -> None:
    """Remove what is at a path of ours and is no file: a link (not what it leads to), a pipe. Raises `OSError` for a folder."""
    kind = kind_of(file)
    if kind == "folder":
        raise IsADirectoryError(
            errno.EISDIR, "it is a folder; move it away, rag-ls makes a file there", os.fspath(file)
        )
    if kind not in ("", "file"):
        file.unlink(missing_ok=True)


def clear_way_for_folder(folder: Path) -> None:
    """Remove what is at the path of a folder of ours and is none; a link, not what it leads to. Raises `OSError`."""
    if kind_of(folder) not in ("", "folder"):
        folder.unlink(missing_ok=True)
