"""Resolves Python's imports: packages, modules and names, from the source roots of the project."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cached_property

from rag_ls.model import Import
from rag_ls.rules.resolution.source_tree import SourceTree, Target, above, closest, join

_SUFFIXES = (".py", ".pyi", ".pyx")
_USUAL_ROOTS = ("", "src", "lib", "python")


class PythonResolver:
    """See `ImportResolver`."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The documents that an import means."""
        module = self._absolute(importer, imported.module)
        if module is None:
            return
        if not imported.names:
            yield from self._module(module, imported.uses)
            return
        own = self._file(module)
        taken = []
        for name in imported.names:
            submodule = self._file(join(module, name)) if name != "*" else None
            if submodule is None:
                taken.append(name)
            else:
                members = tuple(use.partition(".")[2] for use in imported.uses if use.startswith(f"{name}."))
                yield Target(submodule, members)
        if own and taken:
            yield Target(own, tuple(taken))

    def _module(self, module: str, uses: tuple[str, ...]) -> Iterator[Target]:
        own = self._file(module)
        if own is not None:
            yield Target(own, uses)
        for use in uses:
            submodule = self._file(join(module, use))
            if submodule is not None:
                yield Target(submodule)

    def _absolute(self, importer: str, module: str) -> str | None:
        """The path of a module without a suffix; None if it is not the project's."""
        name = module.lstrip(".")
        if dots := len(module) - len(name):
            folder = importer.rpartition("/")[0]
            for _ in range(dots - 1):
                if not folder:
                    return None
                folder = folder.rpartition("/")[0]
            return join(folder, name.replace(".", "/")) if name else folder
        path = name.replace(".", "/")
        root = self._root(importer, path)
        return None if root is None else join(root, path)

    def _root(self, importer: str, path: str) -> str | None:
        """The source root from which an absolute module is imported."""
        top = path.split("/", 1)[0]
        for root in _USUAL_ROOTS:
            if self._exists(join(root, top)):
                return root
        if top in sys.stdlib_module_names:
            return None
        for folder in above(importer):
            if self._exists(join(folder, top)) and self._exists(join(folder, path), loosely=True):
                return folder
        roots = closest(self._package_roots.get(top, []), importer)
        return roots[0].rpartition("/")[0] if len(roots) == 1 else None

    @cached_property
    def _package_roots(self) -> dict[str, list[str]]:
        """The outermost packages by name: `packages/shop/src/shop`."""
        found: dict[str, list[str]] = {}
        for init in self._tree.by_name.get("__init__.py", ()):
            package = init.rpartition("/")[0]
            outer = package.rpartition("/")[0]
            if package and join(outer, "__init__.py") not in self._tree.paths:
                found.setdefault(package.rpartition("/")[2], []).append(package)
        return found

    def _exists(self, module: str, *, loosely: bool = False) -> bool:
        # The last part of a dotted path may be a name in the module before.
        parent = module.rpartition("/")[0]
        return (
            self._file(module) is not None or module in self._tree.folders or (loosely and parent in self._tree.folders)
        )

    def _file(self, module: str) -> str | None:
        for suffix in _SUFFIXES:
            for candidate in (f"{module}/__init__{suffix}" if module else f"__init__{suffix}", module + suffix):
                if candidate in self._tree.paths:
                    return candidate
        return None
