"""Other processes of this machine."""

from __future__ import annotations

import os


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
