"""The graph of a project's imports, as contracts look at it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from rag_ls.languages import ImportResolver
from rag_ls.model import Import
from rag_ls.rules.checks.records import CheckedDocument, TextRange
from rag_ls.util.path_globs import matches_any
from rag_ls.util.records import dataclass
from rag_ls.util.text import lines_of

_MAX_CHAIN = 50
_MAX_SHOWN = 6
_ARROW = " -> "


@dataclass(frozen=True, slots=True)
class Edge:
    """An import of one document, as it is resolved."""

    target: str
    """The imported document; empty for a module from outside of the project."""
    module: str
    line: int


class ImportGraph:
    """The imports of each document."""

    def __init__(self, edges: Mapping[str, tuple[Edge, ...]]) -> None:
        self._edges = edges
        self._circles: dict[str, int] | None = None
        self._without: dict[tuple[str, ...], ImportGraph] = {}

    def without(self, exceptions: tuple[str, ...]) -> ImportGraph:
        """The graph without some imports, each written as `importing -> imported` in globs; others are no imports."""
        pairs = [each.partition(_ARROW) for each in exceptions if _ARROW in each]
        if not pairs:
            return self
        if exceptions not in self._without:
            edges = dict(self._edges)
            for importing, _, imported in pairs:
                for path in edges if "*" in importing else {importing} & edges.keys():
                    if matches_any((importing,), path):
                        edges[path] = tuple(edge for edge in edges[path] if not _is_import_of(edge, imported))
            self._without[exceptions] = ImportGraph(edges)
        return self._without[exceptions]

    def edges(self, path: str) -> tuple[Edge, ...]:
        """The imports of a document, in order."""
        return self._edges.get(path, ())

    def has_edges(self, edges: Mapping[str, tuple[Edge, ...]]) -> bool:
        """Whether these are the imports of each document."""
        return self._edges == edges

    def with_document(self, path: str, edges: tuple[Edge, ...]) -> ImportGraph:
        """The graph with other imports of one document; the same graph, and what it knows, if they are no others."""
        if self.edges(path) == edges:
            return self
        return ImportGraph({**self._edges, path: edges})

    def is_in_circle(self, path: str, target: str) -> bool:
        """Whether an import of `target` in `path` leads back to `path`."""
        if self._circles is None:
            self._circles = _components(self._edges)
        return path in self._circles and self._circles.get(path) == self._circles.get(target)

    def chain(
        self,
        start: Edge,
        is_target: Callable[[str], bool],
        passes: Callable[[str], bool],
    ) -> list[str] | None:
        """The shortest chain of documents from an import to a target; it leads only through documents that pass."""
        if not start.target:
            return None
        if is_target(start.target):
            return [start.target]
        if not passes(start.target):
            return None
        came_from = {start.target: ""}
        waiting = deque([start.target])
        while waiting:
            at = waiting.popleft()
            for edge in self.edges(at):
                named = edge.target
                if not named or named in came_from:
                    continue
                came_from[named] = at
                if is_target(named):
                    return _walk_back(came_from, named)
                if passes(named):
                    waiting.append(named)
        return None


def _is_import_of(edge: Edge, imported: str) -> bool:
    return matches_any((imported,), edge.target) if edge.target else edge.module == imported


def place_of(document: CheckedDocument, edge: Edge) -> TextRange:
    """The line of an import, without its indentation."""
    lines = lines_of(document.text)
    line = lines[edge.line - 1] if 0 < edge.line <= len(lines) else ""
    start = len(line) - len(line.lstrip())
    return TextRange(edge.line, start, edge.line, max(len(line.rstrip()), start))


def shorten_chain(chain: Sequence[str]) -> str:
    """The documents of a chain with arrows between; of a long one, the beginning and the end."""
    return _ARROW.join(chain if len(chain) <= _MAX_SHOWN else [*chain[: _MAX_SHOWN - 1], "…", chain[-1]])


def resolve_imports(resolver: ImportResolver, path: str, language: str, imports: Iterable[Import]) -> tuple[Edge, ...]:
    """The imports of a document, resolved; one that means several documents is several edges."""
    found: list[Edge] = []
    for imported in imports:
        targets = resolver.targets(path, language, imported)
        if not targets:
            found.append(Edge("", imported.module, imported.line))
        found += [Edge(target.path, imported.module, imported.line) for target in targets if target.path != path]
    return tuple(dict.fromkeys(found))


def _walk_back(came_from: Mapping[str, str], end: str) -> list[str]:
    chain = [end]
    while came_from[chain[-1]] and len(chain) < _MAX_CHAIN:
        chain.append(came_from[chain[-1]])
    return chain[::-1]


def _components(edges: Mapping[str, tuple[Edge, ...]]) -> dict[str, int]:
    """The strongly connected component of each document (Tarjan, 1972, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    component: dict[str, int] = {}
    stack: list[str] = []
    for start in edges:
        if start in index:
            continue
        work = [(start, iter(edges.get(start, ())))]
        index[start] = low[start] = len(index)
        stack.append(start)
        while work:
            at, rest = work[-1]
            edge = next(rest, None)
            if edge is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == index[at]:
                    while (member := stack.pop()) != at:
                        component[member] = index[at]
                    component[at] = index[at]
            elif edge.target and edge.target not in index:
                index[edge.target] = low[edge.target] = len(index)
                stack.append(edge.target)
                work.append((edge.target, iter(edges.get(edge.target, ()))))
            elif edge.target and edge.target not in component:
                low[at] = min(low[at], index[edge.target])
    return component
