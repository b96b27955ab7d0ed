"""All projects that are known by name: those that the user's settings list, then those that were opened."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from rag_ls.config.entries import ProjectEntry
from rag_ls.config.registry_file import Registered
from rag_ls.project import current_branch
from rag_ls.util.paths import is_elsewhere
from rag_ls.util.records import dataclass
from rag_ls.util.text import fold

CONFIG, OPENED = "config", "opened"
_MAX_BRANCH_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class KnownProject:
    """One root, with its name."""

    root: Path
    name: str
    source: str
    """`config` or `opened`."""
    opened_at: str | None = None

    @property
    def is_missing(self) -> bool:
        """Whether the folder no longer exists."""
        return not self.root.is_dir()


def known_projects(entries: Iterable[ProjectEntry], registered: Iterable[Registered]) -> list[KnownProject]:
    """All known projects, each root once."""
    listed = [(Path(root), entry) for entry in entries for root in entry.roots]
    opened = {Path(item.root): item for item in registered}
    found = [
        KnownProject(root, entry.name, CONFIG, opened[root].opened_at if root in opened else None)
        for root, entry in listed
    ]
    roots = {root for root, _ in listed}
    found += [
        KnownProject(root, item.name, OPENED, item.opened_at) for root, item in opened.items() if root not in roots
    ]
    return found


def called(known: Sequence[KnownProject], wanted: str) -> list[KnownProject]:
    """The projects that a root or a name stands for; an entry's name stands for all its roots.

    A name in the settings takes precedence over an opened project's name, and both over a folder's name.
    """
    if root := root_of_path(wanted):
        return [project for project in known if project.root == root]
    for source in (CONFIG, OPENED):
        if found := [project for project in known if (project.source, project.name) == (source, wanted)]:
            return found
    return [project for project in known if project.root.name == wanted]


def root_of_path(wanted: str) -> Path | None:
    """The root that a path stands for; None for a name."""
    path = os.path.expanduser(wanted)
    if not os.path.isabs(path) or "\0" in path:
        return None
    # A project on a share is known by the path that it was opened with.
    return Path(os.path.normpath(path) if is_elsewhere(path) else os.path.realpath(path))


def names_of(known: Iterable[KnownProject]) -> str:
    """The names for a message, each once."""
    return ", ".join(dict.fromkeys(project.name for project in known)) or "none"


def off_branch(wanted: str, root: Path) -> str:
    """The reason why a project is not indexed in the background: a branch other than `wanted` is checked out. Else empty."""
    if not wanted or (current := current_branch(root)) == wanted:
        return ""
    stands = f"{fold(current, _MAX_BRANCH_CHARACTERS)} is checked out" if current else "no branch is checked out"
    alone = f"on {fold(wanted, _MAX_BRANCH_CHARACTERS)} alone (see index.branch, [[projects]])"
    return f"{stands}; the project is indexed in the background {alone}"
