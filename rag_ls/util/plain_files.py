"""The kind of what is at a path: a file, a folder, a link, pipe or device in place of ours, or nothing.

Nothing is what the system says is not there. A path that cannot be looked at just now (permissions, a drive that is away) is
an `OSError`: to take it for nothing would deny what is there.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

# A link that leads round in a circle, and a name that no file can have, lead to nothing.
_SIGNS_OF_NOTHING = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)


def means_nothing_there(error: OSError) -> bool:
    """Whether an error of looking at a path says that nothing is there, and not that it cannot be looked at."""
    return error.errno in _SIGNS_OF_NOTHING


def kind_of(place: str | os.PathLike[str]) -> str:
    """The kind of a path: "file", "folder", "symbolic link", "special file" (a pipe, a device); empty for nothing.

    Raises `OSError` where that cannot be told.
    """
    try:
        mode = os.lstat(place).st_mode
    except OSError as error:
        if means_nothing_there(error):
            return ""
        raise
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "symbolic link" if stat.S_ISLNK(mode) else "special file"


def mode_at(place: str | os.PathLike[str]) -> int:
    """The mode of what is at a path, or of what a link there leads to; 0 for nothing. Raises `OSError` where that cannot be told."""
    try:
        return os.stat(place).st_mode
    except OSError as error:
        if means_nothing_there(error):
            return 0
        raise


def is_readable_file(file: str | os.PathLike[str]) -> bool:
    """Whether there is a file at a path. Raises `OSError` where that cannot be told, or where the file cannot be read."""
    is_file = stat.S_ISREG(mode_at(file))
    if is_file and not os.access(file, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(file))
    return is_file


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
