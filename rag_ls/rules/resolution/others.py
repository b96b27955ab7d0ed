"""Resolves imports of Rust, Java and its kin, PHP, C#, Ruby and C."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import cached_property

from rag_ls.model import Import
from rag_ls.rules.resolution.source_tree import SourceTree, Target, above, closest, join
from rag_ls.util.foreign_text import read_json

_PACKAGE_NAME = re.compile(r"^[ \t]*name\s*=\s*\"([^\"]+)\"", re.MULTILINE)
_JVM_SUFFIXES = (".java", ".kt", ".scala", ".groovy")


class RustResolver:
    """See `ImportResolver`: `crate`, `self`, `super`, `mod`, and the crates of a workspace."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The document that declares what a path names: the longest leading part that is a module."""
        first, *rest = imported.module.split("::")
        start = self._start(importer, first)
        if start is None:
            start, rest = self._folder(importer), [first, *rest]
            if self._module(start, rest[:1]) is None:
                return
        while rest and rest[0] == "super":
            start, rest = start.rpartition("/")[0], rest[1:]
        for length in range(len(rest), -1, -1):
            path = self._module(start, rest[:length])
            if path is not None:
                break
        else:
            return
        names = tuple(rest[length : length + 1]) or (*imported.names, *imported.uses)
        if path != importer:
            yield Target(path, names)

    def _start(self, importer: str, first: str) -> str | None:
        """The folder of the modules below the first part of a path."""
        if first == "crate":
            return self._crate(importer)
        if first == "self":
            return self._folder(importer)
        if first == "super":
            return self._folder(importer).rpartition("/")[0]
        return self._crates.get(first)

    def _crate(self, importer: str) -> str | None:
        manifest = self._tree.nearest("Cargo.toml", importer)
        return None if manifest is None else join(manifest.rpartition("/")[0], "src")

    def _folder(self, path: str) -> str:
        """The folder that holds the modules below a document's own module."""
        folder, _, name = path.rpartition("/")
        return folder if name in ("mod.rs", "lib.rs", "main.rs") else join(folder, name.removesuffix(".rs"))

    def _module(self, start: str, parts: list[str]) -> str | None:
        place = join(start, "/".join(parts)) if parts else start
        ends = (".rs", "/mod.rs") if parts else ("/lib.rs", "/mod.rs", "/main.rs", ".rs")
        return next((place + end for end in ends if place + end in self._tree.paths), None)

    @cached_property
    def _crates(self) -> dict[str, str]:
        """The source folders of the workspace's crates by name."""
        found = {}
        for manifest in self._tree.by_name.get("Cargo.toml", ()):
            if match := _PACKAGE_NAME.search(self._tree.read(manifest)):
                found[match[1].replace("-", "_")] = join(manifest.rpartition("/")[0], "src")
        return found


class JvmResolver:
    """See `ImportResolver`: Java, Kotlin, Scala and Groovy, whose packages are folders."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The documents of a class, or of a package with `*`; the classes that hold an inner class or static member."""
        parts = imported.module.split(".")
        for length in range(len(parts), 1, -1):
            end = "/".join(parts[:length])
            found = [path for suffix in _JVM_SUFFIXES for path in self._tree.ending(end + suffix, importer)]
            if found:
                yield from (Target(path, (parts[length - 1],)) for path in found)
                return
        if "*" in imported.names:
            yield from (Target(path, ("*",)) for path in self._package("/".join(parts), importer))
        else:
            # Kotlin's functions and types may stand in a file of any name.
            files = self._package("/".join(parts[:-1]), importer)
            yield from (Target(path, (parts[-1],)) for path in files if not path.endswith(".java"))

    def _package(self, folder: str, importer: str) -> list[str]:
        folders = [each for each in self._tree.files_in if each == folder or each.endswith("/" + folder)]
        files = [path for each in folders for path in self._tree.files_in[each]]
        return [path for path in files if path.endswith(_JVM_SUFFIXES)]


class PhpResolver:
    """See `ImportResolver`: the PSR-4 folders of `composer.json`, else the end of the path; included files."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The documents of the classes that are used, or the file that is included."""
        if imported.module.endswith((".php", ".inc")):
            path = join(importer.rpartition("/")[0], imported.module)
            found = [path] if path in self._tree.paths else self._tree.ending(imported.module.lstrip("./"), importer)
            yield from (Target(each) for each in found)
            return
        for name in [f"{imported.module}\\{each}" for each in imported.names] or [imported.module]:
            yield from (Target(path, (name.rpartition("\\")[2],)) for path in self._class(name, importer))

    def _class(self, name: str, importer: str) -> list[str]:
        for prefix, folder in self._prefixes:
            if name.startswith(prefix):
                path = join(folder, name[len(prefix) :].replace("\\", "/") + ".php")
                if path in self._tree.paths:
                    return [path]
        parts = name.split("\\")
        if len(parts) < 2:
            return []
        # Without a manifest: the namespace's last part and the class.
        return self._tree.ending("/".join(parts[-2:]) + ".php", importer)

    @cached_property
    def _prefixes(self) -> list[tuple[str, str]]:
        found = []
        for manifest in self._tree.by_name.get("composer.json", ()):
            try:
                content = read_json(self._tree.read(manifest))
                sections = [content.get(key, {}).get("psr-4", {}) for key in ("autoload", "autoload-dev")]
                pairs = [(prefix, folder) for section in sections for prefix, folder in section.items()]
            except (ValueError, AttributeError):
                continue
            base = manifest.rpartition("/")[0]
            for prefix, folders in pairs:
                for folder in folders if isinstance(folders, list) else [folders]:
                    found.append((str(prefix), join(base, str(folder))))
        return sorted(found, key=lambda item: -len(item[0]))


class CSharpResolver:
    """See `ImportResolver`: a namespace means the folder whose path ends as it does."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The documents in the folder of a namespace."""
        parts = imported.module.split(".")
        for length in range(len(parts), 0, -1):
            end = "/".join(parts[-length:])
            folders = [each for each in self._tree.files_in if each == end or each.endswith("/" + end)]
            files = [path for each in folders for path in self._tree.files_in[each] if path.endswith(".cs")]
            if files:
                yield from (Target(path, ("*",)) for path in files)
                return


class RubyResolver:
    """See `ImportResolver`: `require_relative`, and `require` from any load path."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The file that is required."""
        name = imported.module.removesuffix(".rb") + ".rb"
        if name.startswith("."):
            path = join(importer.rpartition("/")[0], name)
            found = [path] if path in self._tree.paths else []
        else:
            loaded = [
                path
                for path in self._tree.ending(name, importer)
                if path == name or path == f"lib/{name}" or f"/lib/{name}" in f"/{path}" or "/" in name
            ]
            found = closest(loaded, importer)[:1]
        yield from (Target(path) for path in found)


class IncludeResolver:
    """See `ImportResolver`: a C include beside the document, else in any include folder. Other languages' file names too."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The file that is included."""
        beside = join(importer.rpartition("/")[0], imported.module)
        if beside in self._tree.paths:
            found = [beside]
        else:
            end = posixpath.normpath(imported.module).lstrip("./")
            found = self._in_include_folder(end, importer) or self._tree.ending(end, importer)
        yield from (Target(path) for path in found[:1])

    def _in_include_folder(self, end: str, importer: str) -> list[str]:
        places = (
            join(folder, f"{include}/{end}") for folder in above(importer) for include in ("include", "inc", "src")
        )
        return [place for place in places if place in self._tree.paths][:1]
