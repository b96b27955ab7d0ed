"""File handles of this process: the limit on them, and what to tell where there are none left."""

from __future__ import annotations

import contextlib
import errno
import os
import sys

# macOS accepts no higher limit, and nobody needs one.
_MAX_HANDLES = 10_240
_UNKNOWN_LIMIT = 512
NONE_LEFT = (errno.EMFILE, errno.ENFILE)


def raise_limit() -> int:
    """Allow this process as many open files as the system lets it, where that is more than now; returns the limit."""
    if sys.platform == "win32":
        return _UNKNOWN_LIMIT
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_HANDLES if hard == resource.RLIM_INFINITY else min(hard, _MAX_HANDLES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return limit()


def limit() -> int:
    """The number of files that this process may have open."""
    if sys.platform == "win32":
        return _UNKNOWN_LIMIT
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MAX_HANDLES if soft == resource.RLIM_INFINITY else soft


def are_left(count: int = 1) -> bool:
    """Whether this process can open `count` more files."""
    opened: list[int] = []
    try:
        while len(opened) < count:
            opened.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno not in NONE_LEFT
    finally:
        for number in opened:
            os.close(number)
    return True


def remedy(error: OSError, otherwise: str) -> str:
    """The remedy of an error: `otherwise`, unless the process has no file handles left."""
    return too_few() if error.errno in NONE_LEFT else otherwise


def too_few(who: str = "rag-ls") -> str:
    """The message for a process that has no handles left."""
    return (
        f"{who} has no file handle left (its limit is {limit()}): allow more with `ulimit -n 1024`, "
        "then `rag-ls stop`, and ask again"
    )
