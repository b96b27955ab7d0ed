"""Other processes of this machine."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

_LOOK_S = 3.0


def is_alive(process_id: int) -> bool:
    """Whether a process of any user runs. Always True on Windows, where the check would interrupt the process."""
    if os.name == "nt":
        return True
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def end_with(process_id: Callable[[], int | None]) -> None:
    """End this process when the client's process ends. The pipe may not show that, as a child may hold it open."""
    if os.name == "nt":
        return

    def watch() -> None:
        while (number := process_id()) is None or is_alive(number):
            time.sleep(_LOOK_S)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()
