"""The interface of a way of watching files, and the notice that it gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(slots=True)
class Notice:
    """The changes that were noticed since the last look."""

    paths: set[str] = field(default_factory=set)
    """Project paths of files and folders that were written, made, renamed or deleted."""
    by_git: bool = False
    """Whether git wrote its index, or another branch was checked out."""
    incomplete: bool = False
    """Whether changes may have been missed, so that the whole tree must be compared."""
    ended: bool = False
    """Whether the project's folder was deleted, moved or unmounted."""

    def add(self, other: Notice) -> None:
        """Merge a later notice into this one."""
        self.paths |= other.paths
        self.by_git |= other.by_git
        self.incomplete |= other.incomplete
        self.ended |= other.ended

    def __bool__(self) -> bool:
        return bool(self.paths) or self.by_git or self.incomplete or self.ended


class Eyes(Protocol):
    """One way of watching a project. One thread calls `wait`, `take` and `look_around`; any thread calls the rest.

    Raises `OSError` when watching is no longer possible.
    """

    def wait(self, timeout_s: float | None) -> bool:
        """Sleep until something happens or `wake` is called; False when neither did in time."""

    def take(self) -> Notice:
        """The changes since the last call, without waiting."""

    def look_around(self) -> bool:
        """Adapt to the present folders and ignore rules; whether a new folder is watched."""

    def has_news(self) -> bool:
        """Whether `take` would return a change, as far as is known now."""

    def wake(self) -> None:
        """End the current `wait`, or else the next one."""

    def close(self) -> None:
        """Release all resources. Only `wake` and `has_news` may be called afterwards."""
