"""Whether this user may write to a server. A user who may not still reads the data there, and sends none."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from rag_ls.errors import StoreReadOnly

_log = logging.getLogger(__name__)

# An administrator may have granted the right meanwhile.
_TRY_AGAIN_S = 600.0


class WriteRights:
    """Remembers that the server refused to be written to, so that it is not asked each time."""

    def __init__(self) -> None:
        self._reads_only_until = 0.0

    @property
    def are_missing(self) -> bool:
        """Whether the server refused a moment ago."""
        return time.monotonic() < self._reads_only_until

    def use(self, write: Callable[[], None]) -> bool:
        """Write, unless the server refused a moment ago; whether the server took it."""
        if self.are_missing:
            return False
        try:
            write()
        except StoreReadOnly as error:
            _log.info("%s", error)
            self._reads_only_until = time.monotonic() + _TRY_AGAIN_S
            return False
        return True
