"""The projects that the user's settings file lists, as `[[projects]]` tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from rag_ls.util.records import dataclass, fields

ALL = "all"
"""The name that means every project."""
PUBLISHED = "published:"
"""Begins the name of a project that is meant as its team published it, not as it is here."""

_NO_TABLES = "projects must be a list of tables: write [[projects]] above each"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectEntry:
    """One name for one or several project roots, and which of their files are indexed."""

    name: str
    """The name by which commands and agents call it; two entries cannot have the same."""
    roots: tuple[str, ...]
    """Its folders, absolute or beginning with `~`. Each has an index of its own."""
    include: tuple[str, ...] = ()
    """Only files that match one of these are indexed, e.g. `src/**`."""
    exclude: tuple[str, ...] = ()
    """Files that match are not indexed, besides `index.exclude`."""
    branch: str = ""
    """The project is indexed in the background only while this git branch is checked out."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The usable entries, and the faults of the others."""

    entries: tuple[ProjectEntry, ...] = ()
    faults: tuple[str, ...] = ()


def read_entries(values: object) -> Entries:
    """Read and check the list `projects`; one wrong entry does not affect the others."""
    if not isinstance(values, list):
        return Entries(faults=(_NO_TABLES,))
    kept: list[ProjectEntry] = []
    faults: list[str] = []
    for number, value in enumerate(values, 1):
        try:
            entry = _entry(value)
            _check_against(entry, kept)
            kept.append(entry)
        except ValueError as wrong:
            faults.append(f"entry {number} of [[projects]]: {wrong}")
    return Entries(tuple(kept), tuple(faults))


def entry_of(entries: Iterable[ProjectEntry], root: str | os.PathLike[str]) -> ProjectEntry | None:
    """The entry that lists a project's root, which has its symbolic links resolved."""
    return next((entry for entry in entries if os.fspath(root) in entry.roots), None)


def _entry(value: object) -> ProjectEntry:
    if not isinstance(value, Mapping):
        raise ValueError(_NO_TABLES)
    known = [item.name for item in fields(ProjectEntry)]
    for key in value:
        if key not in known:
            raise ValueError(f"unknown key projects.{key}; known are {', '.join(known)}")
    name = _string(value, "name").strip()
    if not name or name.lower() == ALL or "/" in name or name.startswith("~"):
        raise ValueError(f"projects.name = {name!r}: give a name that is not blank, not {ALL!r} and holds no /")
    roots = tuple(dict.fromkeys(_root(root) for root in _strings(value, "roots")))
    if not roots:
        raise ValueError(f'projects.roots of {name!r} is missing: give its folders, e.g. roots = ["~/work/{name}"]')
    return ProjectEntry(
        name=name,
        roots=roots,
        include=_strings(value, "include"),
        exclude=_strings(value, "exclude"),
        branch=_string(value, "branch").strip(),
    )


def _check_against(entry: ProjectEntry, others: Iterable[ProjectEntry]) -> None:
    for other in others:
        if other.name == entry.name:
            raise ValueError(f"projects.name = {entry.name!r} stands twice: rename one, or put all roots in one")
        for root in entry.roots:
            if root in other.roots:
                raise ValueError(f"projects.roots: {root} is in {other.name!r} too: take it out of one of them")


def _string(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key, "")
    if not isinstance(found, str):
        raise ValueError(f"projects.{key} must be a string, not {found!r}")
    return found


def _strings(value: Mapping[str, Any], key: str) -> tuple[str, ...]:
    found = value.get(key, [])
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise ValueError(f"projects.{key} must be a list of strings, not {found!r}")
    return tuple(found)


def _root(text: str) -> str:
    path = os.path.expanduser(text)
    if not os.path.isabs(path) or "\0" in path:
        raise ValueError(f"projects.roots: {text!r} is no absolute path: begin it with / or ~")
    return os.path.realpath(path)
