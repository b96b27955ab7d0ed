"""Recognises a disk that is full: SQLite has several words for it."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from pathlib import Path

from rag_ls.errors import StoreFull

# A page that a database grows by, with its entry in the log.
_LEAST_ROOM_BYTES = 65_536
_FAILED_WRITES = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)


def is_disk_full(error: sqlite3.Error | OSError, file: Path | None) -> bool:
    """Whether an error about a file means that its disk has no room, for the files that SQLite makes beside it too."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code == sqlite3.SQLITE_FULL or (code in _FAILED_WRITES and file is not None and _has_no_room(file))


def disk_full(store: str, file: Path | None) -> StoreFull:
    """The error that names the store, its file and the remedy."""
    place = f" ({file})" if file else ""
    return StoreFull(
        f"the disk is full: nothing was written to the {store}{place}; make space, then do it again", store
    )


def _has_no_room(file: Path) -> bool:
    try:
        return shutil.disk_usage(file.parent).free < _LEAST_ROOM_BYTES
    except OSError:
        return False
