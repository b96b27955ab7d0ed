"""Reads what git keeps of a repository in plain files. Runs no git, so neither settings nor environment have a say."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

# A longer file is not what git writes there.
_MAX_BYTES = 1_000_000
_SECTION = re.compile(r"\s*\[\s*([\w.-]+)\s*(?:\"((?:[^\"\\]|\\.)*)\")?\s*\]\s*(.*)")
_URL = re.compile(r"\s*url\s*=\s*(.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WorkTree:
    """The work tree of git around a folder."""

    top: Path
    """Its top folder, which holds `.git`."""
    common: Path
    """The folder of the repository, which all its work trees share. Absolute, symbolic links resolved."""


def work_tree_around(folder: Path) -> WorkTree | None:
    """The work tree around a folder; None without git, or where `.git` names no repository that knows this work tree."""
    top = next((each for each in (folder, *folder.parents) if os.path.lexists(each / ".git")), None)
    if top is None:
        return None
    dot_git = top / ".git"
    if os.path.isdir(dot_git):
        return WorkTree(top, Path(os.path.realpath(dot_git))) if os.path.isfile(dot_git / "HEAD") else None
    named = _text(dot_git).partition("gitdir:")[2].strip()
    git_folder = Path(os.path.realpath(top / named)) if named else None
    if git_folder is None or not os.path.isfile(git_folder / "HEAD"):
        return None
    common = _text(git_folder / "commondir").strip()
    if not common:
        # A submodule, or a repository that is kept elsewhere.
        return WorkTree(top, git_folder)
    back = _text(git_folder / "gitdir").strip()
    if not back or os.path.realpath(git_folder / back) != os.path.realpath(dot_git):
        # An unpacked archive may name any repository; only one that names it too is its own.
        return None
    return WorkTree(top, Path(os.path.realpath(git_folder / common)))


def origin_of(common: Path) -> str:
    """The address of the remote `origin`, as git's settings of the repository write it; empty without one."""
    is_origin, found = False, ""
    for line in _text(common / "config").splitlines():
        rest = line
        if section := _SECTION.match(line):
            is_origin = section[1].lower() == "remote" and section[2] == "origin"
            rest = section[3]
        if is_origin and (url := _URL.match(rest)):
            found = _unquoted(url[1])
    return found


def first_entry_of(common: Path) -> str:
    """A print of the oldest entry of the repository's log, which other repositories lack; empty without a log.

    It names who made or cloned the repository, when, and the first commit. git drops entries after ninety days.
    """
    try:
        with (common / "logs" / "HEAD").open("rb") as stream:
            line = stream.readline(_MAX_BYTES)
    except OSError:
        return ""
    return hashlib.sha256(line).hexdigest()[:32] if line.strip() else ""


def _text(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read(_MAX_BYTES)
    except (OSError, ValueError):
        return ""


def _unquoted(value: str) -> str:
    """A value as git reads it: without its comment and its quotes."""
    found, is_quoted, at = "", False, 0
    while at < len(value):
        character = value[at]
        if character == '"':
            is_quoted = not is_quoted
        elif character in "#;" and not is_quoted:
            break
        elif character == "\\" and at + 1 < len(value):
            at += 1
            found += value[at]
        else:
            found += character
        at += 1
    return found.strip()
