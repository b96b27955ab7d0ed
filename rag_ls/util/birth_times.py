"""Tells when a folder was made, which its inode does not: a file system gives that to the next one again."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from pathlib import Path

# statx(2): AT_FDCWD, STATX_BTIME, the size of `struct statx`, and the place of its `stx_btime`.
_FOLDER_ID, _MASK_BITS, _RECORD_BYTES, _OFFSET_BYTES = -100, 0x800, 256, 80


def birth_ns(folder: Path) -> int:
    """The time (ns) at which a folder was made; 0 where the system or the file system does not tell."""
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
