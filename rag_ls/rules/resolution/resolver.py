"""Resolves the imports of all languages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from rag_ls.model import Import
from rag_ls.rules.resolution.go import GoResolver
from rag_ls.rules.resolution.javascript import JavaScriptResolver
from rag_ls.rules.resolution.others import (
    CSharpResolver,
    IncludeResolver,
    JvmResolver,
    PhpResolver,
    RubyResolver,
    RustResolver,
)
from rag_ls.rules.resolution.python import PythonResolver
from rag_ls.rules.resolution.source_tree import SourceTree, Target

_MAX_KNOWN = 200_000


class _Resolver(Protocol):
    def targets(self, importer: str, imported: Import) -> Iterable[Target]:
        """The documents that an import in the document `importer` means."""
        ...


class ImportResolver:
    """Tells which of a project's documents an import means. Safe from several threads."""

    def __init__(self, tree: SourceTree) -> None:
        self._known: dict[tuple[str, int], tuple[Import, tuple[Target, ...]]] = {}
        self._javascript, self._go = JavaScriptResolver(tree), GoResolver(tree)
        jvm, include = JvmResolver(tree), IncludeResolver(tree)
        self._resolvers: dict[str, _Resolver] = {
            "python": PythonResolver(tree),
            "go": self._go,
            "rust": RustResolver(tree),
            "php": PhpResolver(tree),
            "csharp": CSharpResolver(tree),
            "ruby": RubyResolver(tree),
            **dict.fromkeys(("javascript", "typescript", "tsx", "vue", "svelte", "html"), self._javascript),
            **dict.fromkeys(("java", "kotlin", "scala", "groovy"), jvm),
            **dict.fromkeys(("c", "cpp", "objective-c", "css", "scss", "protobuf", "thrift", "make", "cmake"), include),
        }

    def targets(self, importer: str, language: str, imported: Import) -> Sequence[Target]:
        """The documents of the project that an import means; none for a library's."""
        # By identity: hashing all that an import holds takes as long as resolving it.
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
        if path.endswith(".go"):
            return self._go.names_of(path)
        return self._javascript.names_of(path)
