"""Keeps the resolver of a project's imports as long as its files and manifests stay the same."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from rag_ls.rules.resolution import ImportResolver, SourceTree
from rag_ls.storage import CheckoutIndex

_MANIFESTS = frozenset({"package.json", "tsconfig.json", "jsconfig.json", "go.mod", "Cargo.toml", "composer.json"})


class ProjectImports:
    """The import resolver of one project. Safe from several threads."""

    def __init__(self, root: Path, checkout: CheckoutIndex) -> None:
        self._root = root
        self._checkout = checkout
        self._lock = threading.Lock()
        self._changes = -1
        self._known: tuple[frozenset[str], Mapping[str, float]] | None = None
        self._resolver = ImportResolver(SourceTree((), self._read))

    def resolver(self) -> ImportResolver:
        """The resolver for the files as they are indexed now."""
        with self._lock:
            changes = self._checkout.changes()
            if changes != self._changes:
                paths = frozenset(path for _, path, _, _ in self._checkout.document_paths())
                known = (paths, self._manifests(paths))
                if known != self._known:
                    self._resolver = ImportResolver(SourceTree(paths, self._read))
                    self._known = known
                self._changes = changes
            return self._resolver

    def _manifests(self, paths: frozenset[str]) -> dict[str, float]:
        """When each manifest that tells of packages was last written."""
        found = {}
        for path in paths:
            name = path.rsplit("/", 1)[-1]
            if name in _MANIFESTS or (name.startswith("tsconfig") and name.endswith(".json")):
                try:
                    found[path] = (self._root / path).stat().st_mtime
                except OSError:
                    found[path] = 0.0
        return found

    def _read(self, path: str) -> str:
        try:
            return (self._root / path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
