"""How far indexing is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Phase(StrEnum):
    """What the indexer of a project is doing."""

    IDLE = "idle"
    SCANNING = "scanning"
    READING = "reading"
    EMBEDDING = "embedding"
    CANCELLED = "cancelled"
    WAITING = "waiting"
    """Another process indexes this project."""


class Depth(IntEnum):
    """How far background indexing goes."""

    COMPARE = 1
    """Find out what changed, and queue it."""
    WORDS = 2
    """Cut and store it too, so that it is found by words."""
    EMBEDDINGS = 3
    """Embed it too."""


@dataclass(frozen=True, slots=True)
class Progress:
    """One look at an indexing run: `done` of `total` documents (reading) or chunks (embedding)."""

    phase: Phase
    done: int = 0
    total: int = 0

    @property
    def percentage(self) -> int:
        """0 to 100."""
        return min(100, 100 * self.done // self.total) if self.total else 0

    def __str__(self) -> str:
        units = {Phase.READING: "files", Phase.EMBEDDING: "chunks"}
        unit = units.get(self.phase)
        return f"{self.phase} {self.done:,}/{self.total:,} {unit}" if unit else str(self.phase)
