"""The graph of a project's imports, as contracts look at it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from rag_ls.model import Import
from rag_ls.rules.resolution import ImportResolver

_MAX_CHAIN = 50


@dataclass(frozen=True, slots=True)
class Edge:
    """An import of one document, as it is resolved."""

    target: str
    """The imported document; empty for what is not the project's."""
    module: str
    line: int


class ImportGraph:
    """What each document imports."""

    def __init__(self, edges: Mapping[str, tuple[Edge, ...]]) -> None:
        self._edges = edges

    def edges(self, path: str) -> tuple[Edge, ...]:
        """The imports of a document, in order."""
        return self._edges.get(path, ())

    @property
    def paths(self) -> Iterable[str]:
        """The documents that import anything."""
        return self._edges

    def with_document(self, path: str, edges: tuple[Edge, ...]) -> ImportGraph:
        """The graph with other imports of one document."""
        return ImportGraph({**self._edges, path: edges})

    def chain(self, start: Edge, is_target: Callable[[str], bool], passes: Callable[[str], bool]) -> list[str] | None:
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
                if not edge.target or edge.target in came_from:
                    continue
                came_from[edge.target] = at
                if is_target(edge.target):
                    return _walked(came_from, edge.target)
                if passes(edge.target):
                    waiting.append(edge.target)
        return None


def resolved(resolver: ImportResolver, path: str, language: str, imports: Iterable[Import]) -> tuple[Edge, ...]:
    """The imports of a document, resolved; one that means several documents is several edges."""
    found: list[Edge] = []
    for imported in imports:
        targets = resolver.targets(path, language, imported)
        if not targets:
            found.append(Edge("", imported.module, imported.line))
        found += [Edge(target.path, imported.module, imported.line) for target in targets if target.path != path]
    return tuple(dict.fromkeys(found))


def _walked(came_from: Mapping[str, str], end: str) -> list[str]:
    chain = [end]
    while came_from[chain[-1]] and len(chain) < _MAX_CHAIN:
        chain.append(came_from[chain[-1]])
    return chain[::-1]
