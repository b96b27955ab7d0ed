"""Finds git's folder for a working tree, and tells whether git is in the middle of an operation."""

from __future__ import annotations

import os
import time
from pathlib import Path

from rag_ls.util.records import dataclass
from rag_ls.util.repositories import find_repository

# An older lock was left by a killed git, or belongs to an operation that is too long to wait for.
_MAX_OPERATION_S = 10.0
_LOCK = "index.lock"
# Written by every checkout, merge, rebase, stash, reset and commit.
WRITTEN_BY_GIT = frozenset({"HEAD", "index"})
# The lock appears and disappears around those writes.
NOTICED = WRITTEN_BY_GIT | {_LOCK}


@dataclass(frozen=True, slots=True)
class GitFolder:
    """The folder with HEAD and index of one working tree."""

    path: str

    def busy_for_s(self) -> float:
        """The longest time in seconds to wait for git's present operation; 0 where there is none."""
        try:
            age = time.time() - os.stat(os.path.join(self.path, _LOCK)).st_mtime
        except OSError:
            return 0.0
        # A negative age means that the clock was set back, so it says nothing.
        return _MAX_OPERATION_S - age if 0 <= age < _MAX_OPERATION_S else 0.0


def git_folder(root: Path) -> GitFolder | None:
    """The git folder of the working tree around `root`, or None where there is none."""
    repository = find_repository(root)
    return GitFolder(str(repository.folder)) if repository and repository.folder.is_dir() else None
