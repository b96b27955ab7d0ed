"""The records of git's history, as a store keeps them."""

from __future__ import annotations

from rag_ls.util.records import dataclass

DELETED, RENAMED = "D", "R"


@dataclass(frozen=True, slots=True)
class CommitChange:
    """A file that a commit changed."""

    path: str
    former_path: str
    """The path before the commit. It differs from `path` if the commit renamed or copied the file."""
    status: str
    """Git's letter: A added, M modified, D deleted, R renamed, C copied, T another type."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit as git has it."""

    hash: str
    parents: tuple[str, ...] = ()
    time: int = 0
    """The time of the commit, in seconds since 1970."""
    author: str = ""
    subject: str = ""
    body: str = ""
    changes: tuple[CommitChange, ...] = ()
    more_changes: int = 0
    """The number of further files that it changed."""


@dataclass(frozen=True, slots=True)
class StoredCommit:
    """A commit as the index has it."""

    id: int
    """Greater than the ids of its parents."""
    hash: str
    time: int
    author: str
    """Empty unless the settings keep people's names."""
    subject: str
    body: str
    paths: tuple[str, ...] = ()
    more_paths: int = 0
    """The number of further files that it changed."""


@dataclass(frozen=True, slots=True)
class PathChange:
    """A commit that changed one file."""

    commit_id: int
    former_path: str
    status: str
