"""Resolves the imports of all languages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from rag_ls.languages.registry import LANGUAGES
from rag_ls.languages.source_tree import Resolver, SourceTree, Target
from rag_ls.model import Import

_MAX_KNOWN = 200_000


@runtime_checkable
class _NamesPackages(Protocol):
    def names_of(self, path: str) -> tuple[str, ...]:
        """More names under which imports may mean a document: those of the package or module that it stands for."""
        ...


class ImportResolver:
    """Tells which of a project's documents an import means. Safe from several threads."""

    def __init__(self, tree: SourceTree) -> None:
        self._known: dict[tuple[str, int], tuple[Import, tuple[Target, ...]]] = {}
        makers = {name: each.resolver for name, each in LANGUAGES.items() if each.resolver is not None}
        made = {maker: maker(tree) for maker in dict.fromkeys(makers.values())}
        self._resolvers: dict[str, Resolver] = {name: made[maker] for name, maker in makers.items()}
        self._naming = [each for each in made.values() if isinstance(each, _NamesPackages)]

    def targets(self, importer: str, language: str, imported: Import) -> Sequence[Target]:
        """The documents of the project that an import means; none for a library's."""
        # Compared by identity: hashing all fields of an import takes as long as resolving it.
        key = (importer, id(imported))
        known = self._known.get(key)
        if known is not None and known[0] is imported:
            return known[1]
        resolver = self._resolvers.get(language)
        found = tuple(resolver.targets(importer, imported)) if resolver is not None else ()
        if len(self._known) >= _MAX_KNOWN:
            self._known.clear()
        self._known[key] = imported, found
        return found

    def names_of(self, path: str) -> tuple[str, ...]:
        """More names under which imports may mean a document: those of the package or module that it stands for."""
        return tuple(name for each in self._naming for name in each.names_of(path))
