"""Reads files of a project whole: only regular ones, and never more than a limit.

A clone may bring a link to a device that never ends, and a small pack holds a file of many gigabytes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

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
