"""What every way of watching tells, and what it must do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(slots=True)
class Notice:
    """What was noticed since the last look."""

    paths: set[str] = field(default_factory=set)
    """Project paths of files and folders that were written, made, renamed or deleted."""
    by_git: bool = False
    """Whether git wrote its index, or another branch was checked out."""
    incomplete: bool = False
    """Whether there was more than could be noticed: everything must be compared."""
    ended: bool = False
    """Whether the project's folder is no longer in its place."""

    def add(self, other: Notice) -> None:
        """Take in what was noticed after it."""
        self.paths |= other.paths
        self.by_git |= other.by_git
        self.incomplete |= other.incomplete
        self.ended |= other.ended

    def __bool__(self) -> bool:
        return bool(self.paths) or self.by_git or self.incomplete or self.ended


class Eyes(Protocol):
    """One way of watching a project. `wait`, `take` and `look_around` are called by one thread, the rest by any.

    `OSError` means that watching is no longer possible.
    """

    def wait(self, timeout_s: float | None) -> bool:
        """Sleep until something happens or `wake` is called; False when neither did in time."""

    def take(self) -> Notice:
        """What happened since the last time, without waiting."""

    def look_around(self) -> bool:
        """Follow the folders and the ignore rules as they are now; whether something new is watched."""

    def has_news(self) -> bool:
        """Whether `take` would tell something, as far as is known at this moment."""

    def wake(self) -> None:
        """End the present or the next `wait`."""

    def close(self) -> None:
        """Let go of everything. Nothing else may be called after it but `wake` and `has_news`."""
