"""Keeps the resolver of a project's imports as long as its files and manifests stay the same."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from rag_ls.languages import ImportResolver, SourceTree
from rag_ls.model import Import
from rag_ls.rules.checks.graph import ImportGraph, resolve_imports
from rag_ls.storage import CheckoutIndex
from rag_ls.util.paths import text_in

_GRAPH_AGE_S = 5.0
_MANIFESTS = frozenset({"package.json", "tsconfig.json", "jsconfig.json", "go.mod", "Cargo.toml", "composer.json"})


class ProjectImports:
    """The import resolver of one project. Safe from several threads."""

    def __init__(self, root: Path, checkout: CheckoutIndex) -> None:
        self._root = root
        self._checkout = checkout
        self._lock = threading.Lock()
        self._changes = -1
        self._graph: ImportGraph | None = None
        self._graph_changes, self._graph_made = -1, 0.0
        self._known: tuple[frozenset[str], Mapping[str, float]] | None = None
        self._resolver = ImportResolver(SourceTree((), partial(text_in, self._root)))

    def forget(self) -> None:
        """Drop the resolver and the graph; they are made again when they are needed."""
        with self._lock:
            if self._known is not None:
                self._resolver = ImportResolver(SourceTree((), partial(text_in, self._root)))
            self._graph, self._known, self._changes = None, None, -1

    def resolver(self) -> ImportResolver:
        """The resolver for the files as they are indexed now."""
        with self._lock:
            changes = self._checkout.changes()
            if changes != self._changes:
                paths = frozenset(path for _, path, _, _ in self._checkout.document_paths())
                known = (paths, self._manifests(paths))
                if known != self._known:
                    self._resolver = ImportResolver(SourceTree(paths, partial(text_in, self._root)))
                    self._known = known
                self._changes = changes
            return self._resolver

    def graph(self, max_age_s: float = _GRAPH_AGE_S) -> ImportGraph:
        """The imports of all documents; at most some seconds old, because it is made of all of them.

        The same object while the imports stay the same.
        """
        resolver = self.resolver()
        with self._lock:
            changes, now = self._checkout.changes(), time.monotonic()
            if self._graph is None or (changes != self._graph_changes and now - self._graph_made > max_age_s):
                by_path: dict[str, tuple[str, list[Import]]] = {}
                for item in self._checkout.outlines.imports():
                    by_path.setdefault(item.path, (item.language, []))[1].append(item.imported)
                edges = {
                    path: resolve_imports(resolver, path, language, imports)
                    for path, (language, imports) in by_path.items()
                }
                if self._graph is None or not self._graph.has_edges(edges):
                    self._graph = ImportGraph(edges)
                self._graph_changes, self._graph_made = changes, now
            return self._graph

    def _manifests(self, paths: frozenset[str]) -> dict[str, float]:
        """The times when the manifests that tell of packages were last written, by path."""
        found = {}
        for path in paths:
            name = path.rsplit("/", 1)[-1]
            if name in _MANIFESTS or (name.startswith("tsconfig") and name.endswith(".json")):
                try:
                    found[path] = (self._root / path).stat().st_mtime
                except OSError:
                    found[path] = 0.0
        return found
