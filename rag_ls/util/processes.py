"""Other processes of this machine."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

_LOOK_S = 3.0


def is_alive(process_id: int) -> bool:
    """Whether a process runs, of whatever user. On Windows, where asking would interrupt it, always."""
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
    """End this process when the client's has ended: its side of the pipe may be held open by a child of it."""
    if os.name == "nt":
        return

    def watch() -> None:
        while (number := process_id()) is None or is_alive(number):
            time.sleep(_LOOK_S)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()
