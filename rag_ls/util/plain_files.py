"""Files that a repository may have brought into our own folder: no link is followed, and no pipe is waited for."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_MAX_BYTES = 4_000_000


def kind_of(place: str | os.PathLike[str]) -> str:
    """What is at a path, in words: "file", "folder", "symbolic link", "special file" (a pipe, a device); empty for nothing.

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


def read_plain(file: str | os.PathLike[str], max_bytes: int = _MAX_BYTES) -> bytes:
    """The content of a file. Raises `OSError` for what is no file, or larger than `max_bytes`."""
    descriptor = os.open(file, _FLAGS)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no file", os.fspath(file))
        content = stream.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {max_bytes:,} bytes", os.fspath(file))
    return content


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
