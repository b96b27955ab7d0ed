"""Where git keeps what it knows of a working tree, and whether it is in the middle of changing it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

# A lock that is older was left by a git that was killed, or the operation is too long to wait for.
_MAX_OPERATION_S = 10.0
_LOCK = "index.lock"
# Written by every checkout, merge, rebase, stash, reset and commit.
WRITTEN_BY_GIT = frozenset({"HEAD", "index"})
# What comes and goes around those.
NOTICED = WRITTEN_BY_GIT | {_LOCK}


@dataclass(frozen=True, slots=True)
class GitFolder:
    """The folder with HEAD and index of one working tree."""

    path: str

    def busy_for_s(self) -> float:
        """How long at most to wait for an operation that git is in the middle of; 0 where there is none."""
        try:
            age = time.time() - os.stat(os.path.join(self.path, _LOCK)).st_mtime
        except OSError:
            return 0.0
        # Younger than now: the clock was set back, so the age says nothing.
        return _MAX_OPERATION_S - age if 0 <= age < _MAX_OPERATION_S else 0.0


def git_folder(root: Path) -> GitFolder | None:
    """The git folder of the working tree that `root` is in, or None where git has no part in it."""
    for folder in (root, *root.parents):
        dot_git = folder / ".git"
        if dot_git.is_dir():
            return GitFolder(str(dot_git))
        if dot_git.is_file():
            return _linked(dot_git)
    return None


def _linked(dot_git: Path) -> GitFolder | None:
    """What the `.git` file of a worktree or a submodule leads to."""
    try:
        text = dot_git.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    if not text.startswith("gitdir:"):
        return None
    target = dot_git.parent / text.removeprefix("gitdir:").strip()
    return GitFolder(os.path.realpath(target)) if target.is_dir() else None
