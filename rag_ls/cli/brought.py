"""The things that a folder brings and that count once it is trusted, with all below it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from rag_ls.chunking import RuleKind, rule_kind
from rag_ls.config.loading import load_settings
from rag_ls.config.memory_homes import FOLDER as HOMES_FOLDER
from rag_ls.config.memory_homes import MemoryHomes
from rag_ls.config.trusted_folders import users_trusted_folders
from rag_ls.memory.project_memories import count_foreign, tell_awaited, tell_waiting
from rag_ls.project import CONFIG_FILE, DATA_FOLDER, Project, user_data_folder
from rag_ls.rules.checks.rule_files import RULE_FILES
from rag_ls.util.records import dataclass, field
from rag_ls.util.text import fold

NOT_ALL = "and more, perhaps: not all below it could be looked at"

# Checking this many names takes a second at most.
_MAX_NAMES = 50_000
_MAX_SHOWN = 12
_MAX_PROJECTS = 50
_MAX_NAME_CHARACTERS = 80
_NEVER_PROJECTS = frozenset({".git", ".hg", ".svn", ".jj", DATA_FOLDER})


@dataclass(slots=True)
class _Seen:
    rules: list[str] = field(default_factory=list)
    """Files of rules, and folders of patterns, relative to the folder."""
    projects: list[Path] = field(default_factory=list)
    """Folders with settings or data of a project."""
    is_all: bool = True


def what_it_brings(root: Path) -> list[str]:
    """The settings, rules and memories at and below a folder that wait until it is trusted, a line for each kind and place."""
    seen = _look(root)
    lines = [line for folder in seen.projects[:_MAX_PROJECTS] for line in _of_project(root, folder)]
    if seen.rules:
        lines.append(f"rules that hooks tell your agent: {_some(seen.rules)}")
    if not seen.is_all or len(seen.projects) > _MAX_PROJECTS:
        lines.append(NOT_ALL)
    return lines


def _look(root: Path) -> _Seen:
    """Look through a folder, what is nearest first."""
    seen, names_left, folders = _Seen(projects=[root]), _MAX_NAMES, deque([""])
    while folders:
        folder = folders.popleft()
        try:
            with os.scandir(root / folder) as found:
                entries = sorted(islice(found, names_left + 1), key=lambda entry: entry.name)
        except OSError:
            seen.is_all = False
            continue
        if len(entries) > names_left:
            seen.is_all = False
            return seen
        names_left -= len(entries)
        paths = [(entry, f"{folder}/{entry.name}" if folder else entry.name) for entry in entries]
        folders += [
            path for entry, path in paths if entry.is_dir(follow_symlinks=False) and entry.name not in _NEVER_PROJECTS
        ]
        seen.rules += dict.fromkeys(_rules_among(root, paths))
        if folder and any(entry.name in (CONFIG_FILE, DATA_FOLDER) for entry in entries):
            seen.projects.append(root / folder)
    return seen


def _rules_among(root: Path, paths: Sequence[tuple[os.DirEntry[str], str]]) -> Iterator[str]:
    for entry, path in paths:
        if entry.is_dir(follow_symlinks=False):
            continue
        kind = rule_kind(path)
        if kind is RuleKind.PATTERN:
            yield path.rpartition("/")[0] + "/"
        elif kind is not None or entry.name in RULE_FILES:
            yield path


def _of_project(root: Path, folder: Path) -> Iterator[str]:
    project = Project(folder)
    if waiting := load_settings(project).waiting:
        place = fold((folder / CONFIG_FILE).relative_to(root).as_posix(), _MAX_NAME_CHARACTERS)
        yield f"settings that cost or destroy ({place}): {', '.join(waiting)}"
    homes = MemoryHomes(user_data_folder() / HOMES_FOLDER, users_trusted_folders())
    if awaited := tell_awaited(project, homes):
        yield fold(awaited)
    count = count_foreign(project, homes)
    if count is None:
        yield fold(f"memories that cannot be read, in {project.data_folder}")
    elif count:
        yield fold(tell_waiting(project, count))


def _some(paths: Sequence[str]) -> str:
    shown = ", ".join(fold(path, _MAX_NAME_CHARACTERS) for path in paths[:_MAX_SHOWN])
    return shown + (f" and {len(paths) - _MAX_SHOWN:,} more" if len(paths) > _MAX_SHOWN else "")
