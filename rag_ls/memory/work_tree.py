"""The git work tree around a folder of memory files: whether it changes just now, and what its commits hold."""

from __future__ import annotations

from pathlib import Path

from rag_ls.util.git import GitSilent, ask_git
from rag_ls.util.paths import file_stamp
from rag_ls.util.repositories import find_repository

# While these are there, git makes, changes and deletes files.
_GIT_AT_WORK = ("index.lock", "rebase-merge", "rebase-apply")


class WorkTree:
    """The work tree of a project; a folder without git is one that never moves to other commits."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._repository = find_repository(root)

    def stamp(self) -> tuple[tuple[int, ...], ...]:
        """Changes with each commit, switch and pull."""
        repository = self._repository
        names = ("HEAD", "logs/HEAD") if repository else ()
        return tuple(file_stamp(repository.folder / name) for name in names if repository)

    def is_changing(self) -> bool:
        """Whether git is at work: files come and go until it is done."""
        repository = self._repository
        return repository is not None and any((repository.folder / name).exists() for name in _GIT_AT_WORK)

    def find_head(self) -> str:
        """The commit that is checked out; empty for none, and where git does not answer."""
        return self._ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip()

    def leads_to(self, commit: str, later: str) -> bool:
        """Whether `later` was made from `commit`."""
        return bool(commit and later) and self._ask("merge-base", commit, later).decode().strip() == commit

    def read_at(self, commit: str, path: str) -> bytes:
        """A file as it was in a commit; empty for none. `path` is relative to the root."""
        return self._ask("cat-file", "blob", f"{commit}:./{path}")

    def _ask(self, *command: str) -> bytes:
        try:
            return ask_git(self.root, *command) if self._repository else b""
        except GitSilent:
            return b""
