"""Reads, writes and locks away files: only regular ones are read, never more than a limit, and what is written is whole and private.

A clone may bring a link to a device that never ends, and a small pack holds a file of many gigabytes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

MAX_BYTES = 10_000_000
"""The most bytes of settings, rules and other files that are read whole."""


@contextlib.contextmanager
def regular_file(
    file: str | os.PathLike[str], *, follow: bool = False, within: int | None = None
) -> Iterator[BinaryIO]:
    """Open a regular file. Raises `OSError` for a folder, a FIFO or a device, without waiting, and for a link unless told to `follow`.

    `within` is an open folder, in which a name is meant.
    """
    if not follow and not hasattr(os, "O_NOFOLLOW") and os.path.islink(file):
        raise OSError(errno.ELOOP, "it is a symbolic link", os.fspath(file))
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(file, flags if follow else flags | getattr(os, "O_NOFOLLOW", 0), dir_fd=within)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", os.fspath(file))
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            yield stream
    finally:
        os.close(descriptor)


def read_most(stream: BinaryIO, most: int) -> bytes:
    """At most so many bytes of an open file. The room for them is that of the file: to make that of a limit takes longer than to read."""
    size = os.fstat(stream.fileno()).st_size
    data = stream.read(min(size + 1, most))
    return data if len(data) <= size else data + stream.read(most - len(data))


def read_regular(file: str | os.PathLike[str], limit: int = MAX_BYTES, *, follow: bool = True) -> bytes:
    """The content of a regular file, or of one that a link leads to. Raises `OSError`, also for more than `limit` bytes."""
    with regular_file(file, follow=follow) as stream:
        data = read_most(stream, limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit:,} bytes", os.fspath(file))
    return data


# Windows cannot replace a file that somebody reads; a virus scanner reads each new file for a moment.
_READ_FOR_S = 2.0 if os.name == "nt" else 0.0
_LOOK_S = 0.02


def replace_file(
    source: str | os.PathLike[str], target: str | os.PathLike[str], *, patience_s: float = _READ_FOR_S
) -> None:
    """Give a file the name of another one, which ends; where others may not be reading that, wait until they are done.

    A file that root made becomes the folder owner's. Raises `OSError`.
    """
    give_to_owner(source)
    deadline = time.monotonic() + patience_s
    while True:
        try:
            os.replace(source, target)
            return
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_LOOK_S)


@contextmanager
def whole_file(target: str | os.PathLike[str], mode: int = 0o600) -> Iterator[TextIO]:
    """Write a UTF-8 text file that replaces the former one once it is complete.

    Until then, or if an error ends the writing, the former file stays. The umask reduces `mode`. A link is replaced,
    not followed. Raises `OSError`.
    """
    folder, name = os.path.split(os.fspath(target))
    draft = os.path.join(folder, f".{name}.{os.getpid()}-{time.monotonic_ns()}")
    # O_EXCL, so that another user with access to the folder cannot redirect the write.
    number = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="") as stream:
            yield stream
        replace_file(draft, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft)
        raise


PRIVATE_MODE = 0o600
_ROOT_USER_ID = 0
# On Linux, a path to each of the files that the process has open.
_OPEN_FILES = "/proc/self/fd"


def create_private_file(file: str | os.PathLike[str], text: str = "") -> None:
    """Make a file with this text unless there is one, and let nobody else read it. Follows no link. Raises `OSError`."""
    try:
        number = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_MODE)
    except FileExistsError:
        restrict_to_user(file)
        return
    with os.fdopen(number, "w", encoding="utf-8") as stream:
        stream.write(text)
    restrict_to_user(file)
    give_to_owner(file)


def restrict_to_user(file: str | os.PathLike[str]) -> None:
    """Let nobody else read a file, if it is one of the user's and no link."""
    with contextlib.suppress(OSError):
        found = os.lstat(file)
        if not stat.S_ISREG(found.st_mode) or stat.S_IMODE(found.st_mode) == PRIVATE_MODE:
            return
        if not os.path.isdir(_OPEN_FILES):
            os.chmod(file, PRIVATE_MODE)
            return
        # The owner of the folder may have put a link in its place meanwhile. A file opened so keeps SQLite's locks when it is closed.
        number = os.open(file, os.O_PATH | os.O_NOFOLLOW)
        try:
            if stat.S_ISREG(os.fstat(number).st_mode):
                os.chmod(f"{_OPEN_FILES}/{number}", PRIVATE_MODE)
        finally:
            os.close(number)


def give_to_owner(place: str | os.PathLike[str]) -> None:
    """Give what this process made, if it is root's, to the owner of the folder around it: a container works so on a project.

    Not for a database that is open: closing the file here would end SQLite's locks on it.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != _ROOT_USER_ID:
        return
    with contextlib.suppress(OSError):
        around = os.stat(os.path.dirname(os.path.abspath(place)))
        if around.st_uid == _ROOT_USER_ID or os.lstat(place).st_uid != _ROOT_USER_ID:
            return
        # That owner may have put a link in its place meanwhile.
        number = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            found = os.fstat(number)
            if stat.S_ISDIR(found.st_mode) or (stat.S_ISREG(found.st_mode) and found.st_nlink == 1):
                os.fchown(number, around.st_uid, around.st_gid)
        finally:
            os.close(number)


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


# statx(2): AT_FDCWD, STATX_BTIME, the size of `struct statx`, and the place of its `stx_btime`.
_FOLDER_ID, _MASK_BITS, _RECORD_BYTES, _OFFSET_BYTES = -100, 0x800, 256, 80


def birth_ns(folder: Path) -> int:
    """The time (ns) at which a folder was made; 0 where the system or the file system does not tell."""
    import ctypes

    try:
        if sys.platform != "linux":
            return int(getattr(os.stat(folder), "st_birthtime", 0) * 1_000_000_000)
        found = ctypes.create_string_buffer(_RECORD_BYTES)
        if ctypes.CDLL(None).statx(_FOLDER_ID, os.fsencode(folder), 0, _MASK_BITS, found):
            return 0
    except (OSError, AttributeError, ValueError):
        return 0
    (told,) = struct.unpack_from("=I", found)
    seconds, nanoseconds = struct.unpack_from("=qI", found, _OFFSET_BYTES)
    return int(seconds * 1_000_000_000 + nanoseconds) if told & _MASK_BITS else 0


# macOS accepts no higher limit, and nobody needs one.
_MAX_HANDLES = 10_240
_UNKNOWN_LIMIT = 512
NO_HANDLES = (errno.EMFILE, errno.ENFILE)


def raise_handle_limit() -> int:
    """Allow this process as many open files as the system lets it, where that is more than now; returns the limit."""
    if sys.platform == "win32":
        return _UNKNOWN_LIMIT
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_HANDLES if hard == resource.RLIM_INFINITY else min(hard, _MAX_HANDLES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return handle_limit()


def handle_limit() -> int:
    """The number of files that this process may have open."""
    if sys.platform == "win32":
        return _UNKNOWN_LIMIT
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MAX_HANDLES if soft == resource.RLIM_INFINITY else soft


def has_free_handles(count: int = 1) -> bool:
    """Whether this process can open `count` more files."""
    opened: list[int] = []
    try:
        while len(opened) < count:
            opened.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno not in NO_HANDLES
    finally:
        for number in opened:
            os.close(number)
    return True


def remedy_for(error: OSError, otherwise: str) -> str:
    """The remedy of an error: `otherwise`, unless the process has no file handles left."""
    return describe_no_handles() if error.errno in NO_HANDLES else otherwise


def describe_no_handles(who: str = "rag-ls") -> str:
    """The message for a process that has no handles left."""
    return (
        f"{who} has no file handle left (its limit is {handle_limit()}): allow more with `ulimit -n 1024`, "
        "then `rag-ls stop`, and ask again"
    )
