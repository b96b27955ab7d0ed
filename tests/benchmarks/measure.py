"""Percentiles, memory, and the machine's name."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def percentiles(seconds: list[float]) -> dict[str, float]:
    """p50 and p95 of some durations, in milliseconds."""
    ordered = sorted(seconds)
    p50, p95 = (round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1) for share in (0.5, 0.95))
    return {"p50_ms": p50, "p95_ms": p95, "runs": len(ordered)}


def timed(work: Callable[[], Any]) -> float:
    """How long a call takes, in seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def memory_mb(pid: int | None = None) -> dict[str, float]:
    """Resident memory of a process now and at its peak, in MB; of that the part that is private to it."""
    status = Path(f"/proc/{pid or os.getpid()}/status")
    if not status.exists():
        return {}
    fields = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
    return {
        name: round(int(fields[key].split()[0]) / 1024, 1)
        for name, key in (("resident_mb", "VmRSS"), ("peak_mb", "VmHWM"), ("private_mb", "RssAnon"))
        if key in fields
    }


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return {"cpu": model, "cores": os.cpu_count(), "python": platform.python_version(), "system": platform.system()}
