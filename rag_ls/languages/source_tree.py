"""The paths of a project, arranged for the resolution of imports."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, Protocol

from rag_ls.model import Import


class Target(NamedTuple):
    """A document that an import means, and what is taken from it."""

    path: str
    names: tuple[str, ...] = ()
    """The names that are taken from the document; `*` for all."""


class Resolver(Protocol):
    """Resolves the imports of one or several languages in a project."""

    def targets(self, importer: str, imported: Import) -> Iterable[Target]:
        """The documents that an import in the document `importer` means."""


class SourceTree:
    """A project's documents by path, folder and name. Safe from several threads once it is made."""

    def __init__(self, paths: Collection[str], read: Callable[[str], str]) -> None:
        """`read` gives the text of a manifest (`package.json`, `go.mod`, ...), empty if there is none."""
        self.paths = frozenset(paths)
        self.read = read

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """The paths of the documents with each file name."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.paths):
            found[path.rsplit("/", 1)[-1]].append(path)
        return found

    @cached_property
    def files_in(self) -> dict[str, list[str]]:
        """The paths of the files directly in each folder; the root is the empty string."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.paths):
            found[path.rpartition("/")[0]].append(path)
        return found

    @cached_property
    def folders_named(self) -> dict[str, list[str]]:
        """The paths of the folders of each name that hold files directly."""
        found: dict[str, list[str]] = defaultdict(list)
        for folder in self.files_in:
            found[folder.rsplit("/", 1)[-1]].append(folder)
        return found

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that holds a document, directly or in a subfolder, and the root, which is the empty string."""
        found = {""}
        for folder in self.files_in:
            while folder and folder not in found:
                found.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(found)

    def nearest(self, name: str, path: str) -> str | None:
        """The path of the file `name` in the nearest folder at or above a document's."""
        for folder in above(path):
            candidate = join(folder, name)
            if candidate in self.paths:
                return candidate
        return None

    def find_ending(self, end: str, importer: str) -> list[str]:
        """The documents whose paths end with the names in `end`; only those nearest to the importer."""
        found = [
            path for path in self.by_name.get(end.rsplit("/", 1)[-1], ()) if path == end or path.endswith("/" + end)
        ]
        return closest(found, importer)


def closest(paths: list[str], importer: str) -> list[str]:
    """The paths that share the most leading folders with the importer."""
    if len(paths) < 2:
        return paths
    shared = {path: _count_shared(path, importer) for path in paths}
    most = max(shared.values())
    return [path for path in paths if shared[path] == most]


def _count_shared(path: str, other: str) -> int:
    count = 0
    for own, theirs in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if own != theirs:
            break
        count += 1
    return count


def above(path: str) -> Iterator[str]:
    """The folders of a document, from its own up to the root."""
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


def join(folder: str, name: str) -> str:
    """A normalised project path; empty for the root. A path above the root begins with `..`."""
    joined = posixpath.normpath(posixpath.join(folder, name))
    return "" if joined == "." else joined
