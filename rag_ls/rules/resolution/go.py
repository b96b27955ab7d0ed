"""Resolves Go's imports: module paths of `go.mod`, and the folders below them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from rag_ls.model import Import
from rag_ls.rules.resolution.source_tree import SourceTree, Target, join

_MODULE = re.compile(r"^[ \t]*module\s+\"?([^\s\"]+)", re.MULTILINE)


class GoResolver:
    """See `ImportResolver`. A package is a folder: each of its files is a target, with the names that are used."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The documents that an import means."""
        folder = self.folder_of(imported.module)
        if folder is None:
            return
        names = ("*",) if "*" in imported.names else imported.uses
        for path in self._tree.files_in.get(folder, ()):
            if path.endswith(".go") and not path.endswith("_test.go"):
                yield Target(path, names)

    def folder_of(self, module: str) -> str | None:
        """The folder of a package of the project; None for any other package."""
        for prefix, folder in self._modules:
            if module == prefix:
                return folder
            if module.startswith(prefix + "/"):
                return join(folder, module[len(prefix) + 1 :])
        return None

    def names_of(self, path: str) -> tuple[str, ...]:
        """The last part of the module path, for a document in the folder of a `go.mod`."""
        folder = path.rpartition("/")[0]
        return tuple(prefix.rsplit("/", 1)[-1] for prefix, root in self._modules if root == folder)

    @cached_property
    def _modules(self) -> list[tuple[str, str]]:
        """Module paths with their folders, the longest first."""
        found = []
        for manifest in self._tree.by_name.get("go.mod", ()):
            if match := _MODULE.search(self._tree.read(manifest)):
                found.append((match[1], manifest.rpartition("/")[0]))
        return sorted(found, key=lambda item: -len(item[0]))
