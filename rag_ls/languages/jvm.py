"""The parts that the languages of the JVM share: their packages are folders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from rag_ls.languages.source_tree import SourceTree, Target
from rag_ls.model import Import

_SHORTENED = (".kt", ".scala")
_PACKAGE = re.compile(r"^package\s+([\w.]+)", re.MULTILINE)
_SUFFIXES = (".java", ".kt", ".scala", ".groovy")

# Only the first such folder, because packages may have the same name (`org/codehaus/groovy`).
_LANGUAGE = r"(?:java\d*|kotlin|scala|groovy)/"
SOURCE_ROOT = (
    rf"(?:.*?/)??src/(?:(?!(?:com|org|net|io)/)[\w-]+/)?{_LANGUAGE}"
    r"|(?:.*?/)??src/(?:[\w-]*(?:[mM]ain|[tT]est)[\w-]*/)?"
    rf"|(?:.*?/)??{_LANGUAGE}(?=\w+(?:/|$))"
)
JUNIT_TEST = r"^[ \t]*@(?:Test|ParameterizedTest)\b"


class JvmResolver:
    """See `Resolver`: Java, Kotlin, Scala and Groovy, whose packages are folders."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._outside: set[tuple[str, bool]] = set()
        """The imports of what is not the project's, which many documents share; with whether they are of all that is there."""
        self._packages: dict[str, list[str]] = {}

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The documents of a class, or of a package with `*`; the classes that hold an inner class or static member."""
        key = imported.module, "*" in imported.names
        if key in self._outside:
            return
        found = [*self._targets(importer, imported)]
        if not found:
            self._outside.add(key)
        yield from found

    def _targets(self, importer: str, imported: Import) -> Iterator[Target]:
        parts, names = imported.module.split("."), self._tree.by_name
        for length in range(len(parts), 1, -1):
            # Most imports are of packages from outside.
            suffixes = [suffix for suffix in _SUFFIXES if parts[length - 1] + suffix in names]
            end = "/".join(parts[:length]) if suffixes else ""
            found = [path for suffix in suffixes for path in self._tree.find_ending(end + suffix, importer)]
            if found:
                yield from (Target(path, (parts[length - 1],)) for path in found)
                return
        if "*" in imported.names:
            yield from (Target(path, ("*",)) for path in self._package("/".join(parts)))
        else:
            # Kotlin's functions and types may stand in a file of any name.
            files = self._package("/".join(parts[:-1]))
            yield from (Target(path, (parts[-1],)) for path in files if not path.endswith(".java"))

    def _package(self, folder: str) -> list[str]:
        if folder not in self._packages:
            self._packages[folder] = self._files_of(folder)
        return self._packages[folder]

    def _files_of(self, folder: str) -> list[str]:
        named = self._tree.folders_named.get(folder.rsplit("/", 1)[-1], ())
        folders = [each for each in named if each == folder or each.endswith("/" + folder)]
        if "/" not in folder:
            # `scala.util` is in no folder of the project's that is called `scala`.
            folders = [each for each in folders if self._package_of(each) in ("", folder)]
        # Folders of Kotlin and Scala may leave out the first parts of a package.
        folders = folders or self._shortened.get(folder.replace("/", "."), [])
        files = [path for each in folders for path in self._tree.files_in[each]]
        return [path for path in files if path.endswith(_SUFFIXES)]

    @cached_property
    def _shortened(self) -> dict[str, list[str]]:
        """The folders of each package whose name their paths do not end with, as one document of each folder tells it."""
        found: dict[str, list[str]] = {}
        for folder in self._tree.files_in:
            package = self._package_of(folder, _SHORTENED)
            if package and not f"/{folder}".endswith("/" + package.replace(".", "/")):
                found.setdefault(package, []).append(folder)
        return found

    def _package_of(self, folder: str, suffixes: tuple[str, ...] = _SUFFIXES) -> str:
        """The package that the first document of a folder names."""
        first = next((path for path in self._tree.files_in[folder] if path.endswith(suffixes)), None)
        package = _PACKAGE.search(self._tree.read(first)) if first else None
        return package[1] if package else ""
