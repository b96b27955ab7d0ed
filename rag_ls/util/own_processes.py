"""The share of the machine that this process and those that it started take."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil


def memory_bytes() -> int:
    """Resident memory of this process and those that it started."""
    return round(_sum(lambda process: process.memory_info().rss))


def processor_s() -> float:
    """Processor time, in seconds, that this process and those that it started have used, those that ended too."""
    return _sum(_used_s)


def _sum(figure: Callable[[psutil.Process], float]) -> float:
    """A figure of all processes; one that ends meanwhile counts nothing."""
    import psutil

    own = psutil.Process()
    total = 0.0
    for process in (own, *own.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            total += figure(process)
    return total


def _used_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    # Other systems do not count the time of children that have ended.
    ended = times.children_user + times.children_system if os.name == "posix" else 0.0
    return float(times.user + times.system + ended)
