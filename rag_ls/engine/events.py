"""The events of an engine, and how listeners receive them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from rag_ls.util.records import dataclass

_log = logging.getLogger(__name__)


class MemoryChange(StrEnum):
    """The kind of a change of a memory."""

    STORED = "stored"
    CHANGED = "changed"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class DocumentIndexed:
    """A document was indexed as it is now, or removed from the index. Its embeddings may follow."""

    root: Path
    path: str


@dataclass(frozen=True, slots=True)
class IndexProgressed:
    """Indexing of a project made progress."""

    root: Path
    phase: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class IndexComplete:
    """Nothing is left to index in a project."""

    root: Path


@dataclass(frozen=True, slots=True)
class MemoryChanged:
    """A memory was stored, changed or deleted."""

    change: MemoryChange
    by: str
    """The surface of the client that did it (`lsp`, `mcp`, `cli`), with its name; `engine` for the engine itself."""
    root: Path | None = None
    """The memory's project; None for one of a session or of the user."""
    memory_id: str = ""
    """Empty for several memories."""


@dataclass(frozen=True, slots=True)
class AnchorsMoved:
    """The code that memories are about moved, changed or disappeared."""

    root: Path
    path: str
    memory_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """Settings files were changed, and the engine applied them."""


Event = DocumentIndexed | IndexProgressed | IndexComplete | MemoryChanged | AnchorsMoved | SettingsChanged
EventListener = Callable[[Event], None]


class Events:
    """Tells every listener of every event, in the thread where it happens. Safe from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: tuple[EventListener, ...] = ()

    def tell(self, event: Event) -> None:
        """Tell an event to all listeners, even if one of them fails."""
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                _log.exception("a listener failed on %s", event)

    def listen(self, listener: EventListener) -> Callable[[], None]:
        """Call `listener`, which must be quick, with each event. Call the returned function to stop."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def stop() -> None:
            with self._lock:
                self._listeners = tuple(kept for kept in self._listeners if kept is not listener)

        return stop
