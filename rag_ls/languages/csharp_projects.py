"""The projects of C# in a tree (`*.csproj`), and which of them each may use."""

from __future__ import annotations

import re
from functools import cached_property

from rag_ls.languages.source_tree import SourceTree, above, join

_REFERENCE = re.compile(r"<ProjectReference\s[^>]*?Include\s*=\s*\"([^\"]+)\"")
_PACKAGE = re.compile(r"<PackageReference\s[^>]*?Include\s*=\s*\"([^\"]+)\"")
_SHARED = ("Directory.Build.props", "Directory.Build.targets")


class CSharpProjects:
    """Answers from the references that project files name: code may use its own project and those that it refers to,
    directly or through others (MSBuild's `ProjectReference`)."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        # Asked for at each of a hundred thousand imports.
        self._of_folder: dict[str, str] = {}
        self._referred: dict[str, frozenset[str] | None] = {}
        self._reached: dict[str, frozenset[str] | None] = {}

    def may_use(self, importer: str, path: str) -> bool:
        """Whether the code of one document may use that of another; also where their projects or references are not known."""
        own, other = self._project_of(importer), self._project_of(path)
        if not own or not other or own == other:
            return True
        if own not in self._reached:
            self._reached[own] = self._reach(own)
        reached = self._reached[own]
        return reached is None or other in reached

    @cached_property
    def _by_folder(self) -> dict[str, str]:
        return {path.rpartition("/")[0]: path for path in sorted(self._tree.paths) if path.endswith(".csproj")}

    def _project_of(self, path: str) -> str:
        folder = path.rpartition("/")[0]
        if folder not in self._of_folder:
            found = (self._by_folder[each] for each in above(path) if each in self._by_folder)
            self._of_folder[folder] = next(found, "")
        return self._of_folder[folder]

    def _reach(self, project: str) -> frozenset[str] | None:
        """The projects that one may use; None where a property or a shared file says so."""
        found, waiting = set[str](), [project]
        while waiting:
            at = waiting.pop()
            if at not in self._referred:
                self._referred[at] = self._references(at)
            referred = self._referred[at]
            if referred is None:
                return None
            waiting += referred - found
            found |= referred
        return frozenset(found)

    def _references(self, project: str) -> frozenset[str] | None:
        shared = (
            path for folder in above(project) for name in _SHARED if (path := join(folder, name)) in self._tree.paths
        )
        if any("<ProjectReference" in self._tree.read(path) for path in shared):
            return None
        # A sample may take the project's own package.
        packages = (f"{name}.csproj" for name in _PACKAGE.findall(self._tree.read(project)))
        taken = {path for name in packages for path in self._tree.by_name.get(name, ())}
        named = [name.replace("\\", "/") for name in _REFERENCE.findall(self._tree.read(project))]
        folder = project.rpartition("/")[0]
        known = {path for name in named if (path := join(folder, name)) in self._tree.paths}
        return frozenset(known | taken) if not any("$(" in name or "*" in name for name in named) else None
