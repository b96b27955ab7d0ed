"""Notices when the code that memories are about moves, changes or goes."""

from __future__ import annotations

import logging
import threading

from rag_ls import memory
from rag_ls.errors import StoreError
from rag_ls.model import Anchor
from rag_ls.storage import CheckoutIndex, MemoryStore

_log = logging.getLogger(__name__)

_Place = tuple[str, int, str]


class AnchorWatch:
    """Compares the present places of memory anchors with their former ones. Safe from several threads."""

    def __init__(self, checkout: CheckoutIndex) -> None:
        self._checkout = checkout
        self._cache = memory.CodeCache()
        self._lock = threading.Lock()
        self._places: dict[str, _Place] = {}

    def find_moved(self, memories: MemoryStore, path: str) -> tuple[str, ...]:
        """The ids of the memories about a document whose code has moved or changed since the last call."""
        moved, anchoring = [], memory.Anchoring(self._checkout, cache=self._cache)
        for item in memories.about(path, (), ()):
            if item.anchor is None:
                continue
            # Resolve in the saved file, which all clients share; the lenses of each editor follow its own text.
            now = _find_place(item.anchor, anchoring)
            with self._lock:
                before = self._places.get(item.id, _place(item.anchor))
                self._places[item.id] = now
            if now != before:
                moved.append(item.id)
        return tuple(moved)


def _find_place(anchor: Anchor, anchoring: memory.Anchoring) -> _Place:
    try:
        return _place(anchoring.resolve(anchor))
    except StoreError:
        raise
    except Exception as error:
        # A damaged anchor must not keep those of other memories from being followed.
        _log.info("the place of a memory, %s, cannot be told: %r", anchor.path[:200], error)
        return _place(anchor)


def _place(anchor: Anchor) -> _Place:
    return anchor.path, anchor.start_line, anchor.state.value
