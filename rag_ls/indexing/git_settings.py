"""The few settings of git that say which files are ignored, read from its files without git."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from rag_ls.util.git_config import entries_of, path_in
from rag_ls.util.repositories import Repository, find_repository

_SYSTEM_FILE = Path("/etc/gitconfig")
_SYSTEM_IGNORES_CASE = sys.platform in ("win32", "darwin")


@dataclass(frozen=True, slots=True)
class RepositorySettings:
    """The settings that decide about ignored files besides `.gitignore`."""

    exclude_files: tuple[Path, ...] = ()
    """Files of patterns, what counts least first: those of the user, then `info/exclude`."""
    ignores_case: bool = False


def settings_of(repository: Repository) -> RepositorySettings:
    """The settings that hold for a repository.

    Where several files name an exclude file, or one names it under a condition, all of them count: rather too few files
    are indexed than one too many.
    """
    own = repository.common / "config"
    settings = [entry for file in config_files(repository) for entry in entries_of(file)]
    named = [path_in(entry) for entry in settings if entry.key == "core.excludesfile" and entry.value]
    files = (*(named or [_config_home() / "git/ignore"]), repository.common / "info/exclude")
    return RepositorySettings(tuple(dict.fromkeys(files)), _ignores_case(own))


def config_files(repository: Repository) -> tuple[Path, ...]:
    """git's settings files that hold for a repository, what counts least first; they need not exist."""
    return (_SYSTEM_FILE, *_user_files(), repository.common / "config", repository.folder / "config.worktree")


def ignores_case(root: Path) -> bool:
    """Whether `A.py` and `a.py` are one file for git, or for the system where there is no repository around `root`."""
    repository = find_repository(root)
    return _ignores_case(repository.common / "config") if repository else _SYSTEM_IGNORES_CASE


def _ignores_case(config: Path) -> bool:
    said = [entry.value.lower() for entry in entries_of(config) if entry.key == "core.ignorecase"]
    return said[-1] not in ("false", "no", "off", "0") if said else _SYSTEM_IGNORES_CASE


def _user_files() -> tuple[Path, ...]:
    return (_config_home() / "git/config", Path(os.path.expanduser("~")) / ".gitconfig")


def _config_home() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"))
