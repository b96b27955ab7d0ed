"""Controls Python's garbage collector and glibc's allocator.

glibc gives each thread its own arena and keeps the memory that a thread once used. An engine runs models in many
short-lived threads, and each left some 70 MB behind. One arena for all threads, trimmed after bulk work, returns that
memory. (A low mmap threshold would return more, but make each embedding half as slow again.) See mallopt(3) and
malloc_trim(3). Does nothing without glibc.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from typing import Any

_M_ARENA_MAX = -8
_MAX_NEW_OBJECTS = 50_000


def collect_rarely() -> None:
    """Look for cyclic garbage after 50,000 new objects instead of 700: nearly all that a start makes stays."""
    gc.set_threshold(_MAX_NEW_OBJECTS)


def share_one_arena() -> None:
    """Have all threads of this process share one arena. Call it before they start."""
    if (libc := _glibc()) is not None:
        libc.mallopt(_M_ARENA_MAX, 1)


def give_back() -> None:
    """Give free memory back to the system. Takes some milliseconds: for after bulk work."""
    if (libc := _glibc()) is not None:
        libc.malloc_trim(0)


def _glibc() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.gnu_get_libc_version  # noqa: B018 - raises where it is another C library
        return libc
    return None
