"""Resolves the imports of all languages, and those of the languages in which a module is a file."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Protocol, runtime_checkable

from rag_ls.languages.registry import find_language
from rag_ls.languages.source_tree import Resolver, SourceTree, Target, above, join
from rag_ls.model import Import

_MAX_KNOWN = 200_000
_NAMING = ("go", "rust", "typescript")
"""The languages of packages that have a name besides their path."""


@runtime_checkable
class _NamesPackages(Protocol):
    def names_of(self, path: str) -> tuple[str, ...]:
        """More names under which imports may mean a document: those of the package or module that it stands for."""


class ImportResolver:
    """Tells which of a project's documents an import means. Safe from several threads."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._known: dict[tuple[str, int], tuple[Import, tuple[Target, ...]]] = {}
        self._resolvers: dict[Callable[[SourceTree], Resolver], Resolver] = {}

    def targets(self, importer: str, language: str, imported: Import) -> Sequence[Target]:
        """Return the documents of the project that an import means; none for a library's."""
        # Compared by identity: hashing all fields of an import takes as long as resolving it.
        key = (importer, id(imported))
        known = self._known.get(key)
        if known is not None and known[0] is imported:
            return known[1]
        resolver = self._resolver_of(language)
        found = tuple(resolver.targets(importer, imported)) if resolver is not None else ()
        if len(self._known) >= _MAX_KNOWN:
            self._known.clear()
        self._known[key] = imported, found
        return found

    def names_of(self, path: str) -> tuple[str, ...]:
        """Return more names under which imports may mean a document: those of the package or module that it stands for."""
        names: list[str] = []
        for language in _NAMING:
            resolver = self._resolver_of(language)
            if isinstance(resolver, _NamesPackages):
                names += resolver.names_of(path)
        return tuple(names)

    def _resolver_of(self, language: str) -> Resolver | None:
        maker = find_language(language).resolver
        if maker is None:
            return None
        return self._resolvers.get(maker) or self._resolvers.setdefault(maker, maker(self._tree))


class IncludeResolver:
    """See `Resolver`: a C include beside the document, else in any include folder. Other languages' file names too."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """Find the file that is included."""
        beside = join(importer.rpartition("/")[0], imported.module)
        if beside in self._tree.paths:
            found = [beside]
        else:
            end = posixpath.normpath(imported.module).lstrip("./")
            found = self._in_include_folder(end, importer) or self._tree.find_ending(end, importer)
        yield from (Target(path) for path in found[:1])

    def _in_include_folder(self, end: str, importer: str) -> list[str]:
        places = (
            join(folder, f"{include}/{end}") for folder in above(importer) for include in ("include", "inc", "src")
        )
        return [place for place in places if place in self._tree.paths][:1]


class ModuleFileResolver:
    """See `Resolver`: a module is each file whose path ends in one of the ways that its name says."""

    def __init__(self, tree: SourceTree, ends: Callable[[str], Iterable[str]]) -> None:
        self._tree = tree
        self._ends = ends

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """Find the files of a module, those nearest to the importer."""
        for end in self._ends(imported.module):
            yield from (Target(path, imported.names) for path in self._tree.find_ending(end, importer))


def resolve_by_file(ends: Callable[[str], Iterable[str]]) -> Callable[[SourceTree], Resolver]:
    """Return the maker of a resolver for a language whose module is a file: `ends` gives the ends of its path."""
    return partial(ModuleFileResolver, ends=ends)
