"""Other processes of this machine."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

_LOOK_S = 3.0
_NOBODY_ID = 0


def is_alive(process_id: int) -> bool:
    """Whether a process of any user runs."""
    if os.name == "nt":
        # On Windows, `os.kill` would end it.
        import psutil

        return bool(psutil.pid_exists(process_id))
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def end_with_parent(has_begun: Callable[[], bool]) -> None:
    """End this process when the one that started it ends, though another may hold its pipe open.

    A process that leaves before its client `has_begun` only launched it, and init outlives all.
    """
    parent = os.getppid()

    def watched() -> int | None:
        nonlocal parent
        if os.getppid() != parent and not has_begun():
            parent = os.getppid()
        if parent <= 1:
            return None
        return parent if os.getppid() == parent else _NOBODY_ID

    end_with(watched)


def end_with(process_id: Callable[[], int | None]) -> None:
    """End this process when the client's process ends. The pipe may not show that, as a child may hold it open."""

    def watch() -> None:
        while (number := process_id()) is None or (number != _NOBODY_ID and is_alive(number)):
            # Polled: the process is no child of this one, so nothing tells when it ends.
            time.sleep(_LOOK_S)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()
