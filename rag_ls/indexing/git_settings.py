"""The few settings of git that say which files are ignored, read from its files without git."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rag_ls.util.marked_text import decode_marked
from rag_ls.util.repositories import Repository, find_repository

_SYSTEM_FILE = Path("/etc/gitconfig")
_MAX_BYTES = 1_000_000
_MAX_DEPTH = 5
_SYSTEM_IGNORES_CASE = sys.platform in ("win32", "darwin")
_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_ENTRY = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$")


@dataclass(frozen=True, slots=True)
class RepositorySettings:
    """What decides about ignored files besides `.gitignore`."""

    exclude_files: tuple[Path, ...] = ()
    """Files of patterns, what counts least first: those of the user, then `info/exclude`."""
    ignores_case: bool = False


def settings_of(repository: Repository) -> RepositorySettings:
    """The settings that hold for a repository.

    Where several files name an exclude file, or one names it under a condition, all of them count: rather too few files
    are indexed than one too many.
    """
    own = repository.common / "config"
    named: list[Path] = []
    for file in config_files(repository):
        for key, value in _entries(file):
            if key == "core.excludesfile" and value:
                named.append(_path(value, file))
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
    said = [value.lower() for key, value in _entries(config) if key == "core.ignorecase"]
    return said[-1] not in ("false", "no", "off", "0") if said else _SYSTEM_IGNORES_CASE


def _user_files() -> tuple[Path, ...]:
    return (_config_home() / "git/config", Path(os.path.expanduser("~")) / ".gitconfig")


def _config_home() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"))


def _entries(file: Path, depth: int = 0) -> Iterator[tuple[str, str]]:
    """The entries of a configuration file and of those that it includes, as `section.key` and value."""
    section = ""
    for line in _lines(file):
        if head := _SECTION.match(line):
            section, line = head[1].lower(), line[head.end() :]
        if (entry := _ENTRY.match(line)) is None:
            continue
        key, value = f"{section}.{entry[1].lower()}", _value(entry[2] or "")
        # Whether a condition holds is not known here.
        if key in ("include.path", "includeif.path") and value and depth < _MAX_DEPTH:
            yield from _entries(_path(value, file), depth + 1)
        else:
            yield key, value


def _value(written: str) -> str:
    """A value without quotes, escapes and comments."""
    value, in_quotes, at = "", False, 0
    while at < len(written):
        character = written[at]
        if character == "\\" and at + 1 < len(written):
            at += 1
            value += {"n": "\n", "t": "\t"}.get(written[at], written[at])
        elif character == '"':
            in_quotes = not in_quotes
        elif character in "#;" and not in_quotes:
            break
        else:
            value += character
        at += 1
    return value.strip()


def _path(value: str, file: Path) -> Path:
    return Path(os.path.normpath(file.parent / os.path.expanduser(value)))


def _lines(file: Path) -> list[str]:
    try:
        if not os.path.isfile(file) or os.path.getsize(file) > _MAX_BYTES:
            return []
        text = decode_marked(file.read_bytes(), errors="surrogateescape")
    except (OSError, UnicodeDecodeError):
        return []
    # A backslash at its end continues a line.
    return re.sub(r"\\\r?\n", "", text).splitlines()
