"""The documents of a project that are product though their paths name a test, an example or foreign code; the resolver of its imports."""

from __future__ import annotations

import re
import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from rag_ls.config import IndexSettings
from rag_ls.languages import ImportResolver, SourceTree, Tests, find_language
from rag_ls.model import Import
from rag_ls.rules import ImportGraph, resolve_imports
from rag_ls.search import (
    SAMPLE_FOLDER,
    TEST_FOLDER,
    Roles,
    is_data,
    is_docs,
    is_inline_test,
    is_named_as_test,
    is_secondary_by_path,
    is_test_by_path,
    without_packages,
)
from rag_ls.storage import CheckoutIndex, StoredImport, StoredSymbol
from rag_ls.util.paths import file_stamp, text_in
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

# Computing the roles again takes at most this share of the time.
_SHARE_OF_TIME = 0.02
# Words in imports that lead into a folder of tests or examples, or to a file with such a name.
_WORDS = ("test", "spec", "mock", "fixture", "example", "sample", "demo", "bench")
# An import in one of these files does not make the imported file product.
_TOOLING = lazy_pattern(
    r"^\.|^(tools?|hacking|docs?(_src)?)/|^([^/]+/)?scripts?/|(^|/)(e2e|cypress|playwright|\w+_tests)/|(^|/)(setup|noxfile|fabfile|build|gulpfile|gruntfile|rakefile)(\.\w+)?$"
    r"|(^|[/.])[\w-]*(rc|config|conf)\.[cm]?[jt]s$|\.(stories|story|cy|bench|test-d)\.\w+$"
    r"|(^|/)([a-z0-9]+[_-])*(testing|test[_-]?(utils?|help\w*|lib|support|case|suite|tools?|data)|mocks?|fixtures?)\.\w+$",
    re.I,
)  # fmt: skip
_PACKAGE_FILE = lazy_pattern(r"(^|/)(__init__\.py|index\.[cm]?[jt]sx?|mod\.rs)$")
_MAX_SYMBOLS = 5000
# A folder is one of tests if it holds at least one test for this many other documents.
_TESTS_SHARE = 3


class ProjectRoles:
    """The roles of one project's documents. Safe from several threads."""

    def __init__(self, checkout: CheckoutIndex, imports: ProjectImports) -> None:
        self._checkout = checkout
        self._imports = imports
        self._lock = threading.Lock()
        self._changes, self._next_at = -1, 0.0
        self._roles = Roles()

    def find(self, settings: IndexSettings) -> Roles:
        """The roles as the index and these settings tell them; the same object while they stay the same.

        While another thread looks anew, they are those of its last look.
        """
        if not self._lock.acquire(blocking=self._changes < 0):
            known = self._roles
            roles = Roles(known.product, settings.product, settings.tests)
            return known if roles == known else roles
        try:
            changes, started = self._checkout.changes(), time.monotonic()
            product = self._roles.product
            if changes != self._changes and started >= self._next_at:
                rows = self._checkout.document_paths()
                documents = [(row, path, language) for row, path, language, session in rows if not session]
                product = _Finder(documents, self._checkout, self._imports.resolver()).find()
                now = time.monotonic()
                self._changes, self._next_at = changes, now + (now - started) / _SHARE_OF_TIME
            roles = Roles(product, settings.product, settings.tests)
            if roles != self._roles:
                self._roles = roles
            return self._roles
        finally:
            self._lock.release()


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder whose name says that it holds no product, with the code below it."""

    name: str
    code: frozenset[str]
    """The documents that nothing else names."""
    tests: int
    """The number of documents whose own names say that they are tests."""

    @property
    def is_of_tests(self) -> bool:
        return self.tests * _TESTS_SHARE >= len(self.code)


class _Finder:
    """One look at the paths and imports of a project."""

    def __init__(
        self, documents: Iterable[tuple[int, str, str]], checkout: CheckoutIndex, resolver: ImportResolver
    ) -> None:
        self._outlines = checkout.outlines
        self._resolver = resolver
        self._rows = {path: row for row, path, language in documents if not (is_docs(language) or is_data(language))}
        self._named = {path for path in self._rows if is_test_by_path(path) or is_secondary_by_path(path)}
        self._rest = {path for path in self._rows if path not in self._named and not _TOOLING.search(path)}
        # Importing vendored or outdated code does not make it the project's own.
        self._in_reach = {path for path in self._named if not is_secondary_by_path(SAMPLE_FOLDER.sub("/", path))}

    def find(self) -> frozenset[str]:
        if not self._named:
            return frozenset()
        folders = self._find_folders(SAMPLE_FOLDER, TEST_FOLDER)
        imported = self._find_edges(self._without_support(self._outlines.imports_holding(_WORDS)))
        product = self._follow_imports({target for source, target in imported if source in self._rest})
        for folder in folders:
            reached = product & folder.code
            if not folder.is_of_tests and 2 * len(reached) >= len(folder.code):
                product |= folder.code
        return frozenset(product)

    def _find_folders(self, *names: re.Pattern[str]) -> list[_Folder]:
        """The folders with such names, the outermost of each document."""
        code: dict[str, set[str]] = defaultdict(set)
        tests: dict[str, int] = defaultdict(int)
        for path in self._named:
            found = [match.end() for name in names if (match := name.search(without_packages(path)))]
            if not found:
                continue
            folder, below = path[: min(found)], path[min(found) :]
            if is_named_as_test(below):
                tests[folder] += 1
            elif not (is_test_by_path(below) or is_secondary_by_path(below)):
                code[folder].add(path)
        return [_Folder(name, frozenset(paths), tests[name]) for name, paths in sorted(code.items())]

    def _find_edges(self, imports: Iterable[StoredImport]) -> Iterable[tuple[str, str]]:
        for item in imports:
            for target in self._resolver.targets(item.path, item.language, item.imported):
                if target.path != item.path:
                    yield item.path, target.path

    def _edges_from(self, paths: Collection[str]) -> Iterable[tuple[str, str]]:
        return self._find_edges(self._outlines.imports({self._rows[path] for path in paths if path in self._rows}))

    def _follow_imports(self, imported: set[str]) -> set[str]:
        """The named documents among those that product imports, and what these import in turn."""
        found: set[str] = set()
        frontier = imported & self._in_reach
        while frontier:
            found |= frontier
            above = {str(folder) for path in frontier for folder in PurePosixPath(path).parents}
            packages = {
                path
                for path in self._in_reach
                if _PACKAGE_FILE.search(path) and (path.rpartition("/")[0] or ".") in above
            }
            frontier = ({target for _, target in self._edges_from(frontier)} & self._in_reach | packages) - found
        return found

    def _without_support(self, imports: Sequence[StoredImport]) -> list[StoredImport]:
        """The imports without those that only serve tests: beside Go's library `testing`, in Rust's modules of tests."""
        support = {item.path for item in imports if item.imported.module in _tests_of(item).modules}
        mixed = {item.document_id for item in imports if _tests_of(item).inline_modules}
        modules = set().union(*(_tests_of(item).inline_modules for item in imports))
        inline: dict[str, list[StoredSymbol]] = defaultdict(list)
        for item in self._outlines.named(sorted(modules), _MAX_SYMBOLS) if modules else ():
            if item.document_id in mixed and is_inline_test(item.symbol, item.language):
                inline[item.path].append(item)
        return [
            item
            for item in imports
            if item.path not in support
            # A module counts as declared, even if it is compiled only for tests.
            and not (item.document_id in mixed and item.imported.module.startswith("self::"))
            and not any(each.start_line <= item.imported.line <= each.end_line for each in inline.get(item.path, ()))
        ]


def _tests_of(imported: StoredImport) -> Tests:
    return find_language(imported.language).tests or Tests()


_GRAPH_AGE_S = 5.0
_MANIFEST = lazy_pattern(r"(^|/)((package|jsconfig|composer|tsconfig[^/]*)\.json|go\.mod|Cargo\.toml)$")


class ProjectImports:
    """The import resolver of one project. Safe from several threads."""

    def __init__(self, root: Path, checkout: CheckoutIndex) -> None:
        self._root = root
        self._checkout = checkout
        self._lock = threading.Lock()
        self._changes = -1
        self._graph: ImportGraph | None = None
        self._graph_changes, self._graph_made = -1, 0.0
        self._known: tuple[frozenset[str], Mapping[str, tuple[int, int]]] | None = None
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
                known = (paths, self._stamp_manifests(paths))
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

    def _stamp_manifests(self, paths: frozenset[str]) -> dict[str, tuple[int, int]]:
        """The stamps of the manifests that tell of packages, by path."""
        return {path: file_stamp(self._root / path) for path in paths if _MANIFEST.search(path)}
