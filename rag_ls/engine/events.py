"""The events of an engine."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from rag_ls.util.records import dataclass
from rag_ls.util.threads import Listeners


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
Events = Listeners[Event]
"""Passes every event to every listener."""
