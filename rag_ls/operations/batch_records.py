"""The answers of operations that change many memories at once. Brief memories are those before the change."""

from __future__ import annotations

from dataclasses import dataclass

from rag_ls.operations.records import BriefMemory


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """What was changed, or would be changed."""

    dry_run: bool
    inserted: int
    replaced: int
    deleted: int
    inserted_memories: tuple[BriefMemory, ...]
    """The first of them."""
    replaced_memories: tuple[BriefMemory, ...]
    """The first of them, as they were."""
    deleted_memories: tuple[BriefMemory, ...]
    """The first of them."""
    undo: str
    """The id that takes it back; empty if nothing changed."""


@dataclass(frozen=True, slots=True)
class ImportAnswer:
    """What was taken in."""

    inserted: int
    updated: int
    unchanged: int
    duplicates: int
    scope: str
    input: str
    changes: BatchRecord


@dataclass(frozen=True, slots=True)
class RestoredBackupAnswer:
    """What bringing a backup back changed."""

    scope: str
    backup: str
    inserted: int
    replaced: int
    deleted: int
    moved_aside: str | None
    changes: BatchRecord


@dataclass(frozen=True, slots=True)
class DeletedMemoriesAnswer:
    """The memories that were deleted together."""

    missing: tuple[str, ...]
    """Ids that no memory has."""
    changes: BatchRecord


@dataclass(frozen=True, slots=True)
class LastChangeAnswer:
    """The change of many memories that `undo` would take back now."""

    id: str
    """Empty where there is none, as what follows."""
    kind: str
    at: str
    memories: int
    """How many memories it changed."""


@dataclass(frozen=True, slots=True)
class UndoneAnswer:
    """The change that was taken back."""

    id: str
    kind: str
    at: str
    kept: tuple[str, ...]
    """Memories that were changed since, and stay as they are."""
    changes: BatchRecord
