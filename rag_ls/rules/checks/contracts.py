"""Checks a document against contracts, by the graph of imports: its imports (forbidden, required, layers, circles), its names, its place.

A chain of imports through other documents counts as an import, as in import-linter.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from rag_ls.languages import ImportResolver
from rag_ls.model import Import
from rag_ls.rules.checks.records import (
    CheckedDocument,
    FileNameCheck,
    ImportCheck,
    LayersCheck,
    PlaceCheck,
    SymbolNameCheck,
    TextRange,
)
from rag_ls.util.path_globs import matches_any
from rag_ls.util.patterns import compile_timed
from rag_ls.util.records import dataclass
from rag_ls.util.text import lines_of

Found = tuple[TextRange, str]
"""A place, and what is wrong there."""
STYLES = {
    "snake_case": r"_*[a-z0-9]+(?:_[a-z0-9]+)*_*",
    "kebab-case": r"[a-z0-9]+(?:-[a-z0-9]+)*",
    "camelCase": r"_*[a-z][a-zA-Z0-9]*",
    "PascalCase": r"_*[A-Z][a-zA-Z0-9]*",
    "UPPER_CASE": r"_*[A-Z0-9]+(?:_[A-Z0-9]+)*",
    "lowercase": r"[a-z0-9]+",
}
"""Regular expressions of the styles of names."""

_ASKED_BY_TOOLS = re.compile(r"^[+\[(@$]")
"""Routers of frameworks ask for such names: `+page`, `[slug]`, `(group)`, `$id`."""
_SEPARATOR = re.compile(r"\.|::|#| > ")
# Paths and names match in microseconds. A match that takes this long may never end.
_MAX_MATCH_S = 0.2


def check_imports(document: CheckedDocument, check: ImportCheck, graph: ImportGraph) -> Iterator[Found]:
    """The imports that are forbidden, and the required ones that are missing."""
    edges = graph.edges(document.path)
    for edge in edges:
        if chain := _find_forbidden_chain(edge, check, graph):
            yield place_of(document, edge), f"it imports {shorten_chain([each or edge.module for each in chain])}"
    for wanted in check.required:
        if not any(_means(edge, (wanted,)) for edge in edges):
            yield first_line(document), f"it does not import {wanted}"


def _find_forbidden_chain(edge: Edge, check: ImportCheck, graph: ImportGraph) -> list[str]:
    """The chain by which an import breaks the check; empty if it does not."""
    if check.allowed and _means(edge, check.allowed):
        return []
    if not check.forbidden:
        return [edge.target] if check.allowed and edge.target else []
    if _means(edge, check.forbidden):
        return [edge.target or edge.module]
    if not check.indirect:
        return []
    return graph.chain(edge, lambda path: matches_any(check.forbidden, path), _pass_all) or []


def check_layers(document: CheckedDocument, check: LayersCheck, graph: ImportGraph) -> Iterator[Found]:
    """The imports by which a document reaches a layer above its own, or beside it where layers are independent."""
    own = next((at for at, globs in enumerate(check.layers) if matches_any(globs, document.path)), None)
    if own is None:
        return
    above = [glob for globs in check.layers[:own] for glob in globs]
    if check.siblings_are_independent:
        above += [glob for glob in check.layers[own] if not matches_any((glob,), document.path)]
    borders = [glob for globs in check.layers for glob in globs]

    def passes(path: str) -> bool:
        # A file at a border has violations of its own.
        return check.indirect and not matches_any(borders, path)

    for edge in graph.edges(document.path) if above else ():
        if chain := graph.chain(edge, lambda path: matches_any(above, path), passes):
            yield place_of(document, edge), f"it imports {shorten_chain([each or edge.module for each in chain])}"


def check_cycles(document: CheckedDocument, graph: ImportGraph) -> Iterator[Found]:
    """The imports of a document that lead back to it."""
    for edge in graph.edges(document.path) if document.path in graph.core else ():
        if chain := graph.chain(edge, lambda path: path == document.path, graph.core.__contains__):
            yield place_of(document, edge), f"a circle: {shorten_chain([document.path, *chain])}"


def _means(edge: Edge, patterns: tuple[str, ...]) -> bool:
    """Whether an import means one of some path globs or modules."""
    if edge.target and matches_any(patterns, edge.target):
        return True
    return not edge.target and any(_is_module(edge.module, pattern) for pattern in patterns)


def _is_module(module: str, pattern: str) -> bool:
    if pattern.endswith("*"):
        return module.startswith(pattern.rstrip("*"))
    return module == pattern or module.startswith((f"{pattern}.", f"{pattern}/", f"{pattern}::", f"{pattern}\\"))


def _pass_all(path: str) -> bool:
    return True


def check_file_name(document: CheckedDocument, check: FileNameCheck) -> Iterator[Found]:
    """Whether the document's name has its style."""
    stem = document.path.rsplit("/", 1)[-1].split(".", 1)[0]
    if check.style in STYLES and _ASKED_BY_TOOLS.search(stem):
        return
    if stem and not style_of(check.style).matches_all(stem):
        yield first_line(document), f"the name {stem!r} is not {_format_style(check.style)}"


def check_symbol_names(document: CheckedDocument, check: SymbolNameCheck) -> Iterator[Found]:
    """The declarations whose names do not have their style."""
    style = style_of(check.style)
    lines = lines_of(document.text)
    for symbol in document.symbols:
        name = _SEPARATOR.split(symbol.name)[-1]
        if (not check.kind or symbol.kind == check.kind) and not style.matches_all(name):
            line = lines[symbol.start_line - 1] if symbol.start_line <= len(lines) else ""
            at = max(line.find(name), 0)
            place = TextRange(symbol.start_line, at, symbol.start_line, at + len(name))
            yield place, f"the name {name!r} is not {_format_style(check.style)}"


def check_place(document: CheckedDocument, check: PlaceCheck) -> Iterator[Found]:
    """Whether the document lies where it must."""
    if not matches_any(check.inside, document.path):
        yield first_line(document), f"it must lie in {' or '.join(check.inside)}"


def first_line(document: CheckedDocument) -> TextRange:
    """The first line of a document, for what is wrong with all of it."""
    end = document.text.find("\n")
    return TextRange(1, 0, 1, len(document.text) if end < 0 else end)


@lru_cache(maxsize=4096)
def style_of(style: str) -> NameStyle:
    """The style of a name, or the regular expression for it. Raises `re.error`."""
    return NameStyle(STYLES.get(style, style))


def _format_style(style: str) -> str:
    return f"in {style}" if style in STYLES else f"like {style}"


class PatternTooSlow(Exception):
    """A regular expression took too long; the message names it, and the remedy."""


class NameStyle:
    """A regular expression of a project for names. Once a match has taken too long, it is not tried again."""

    def __init__(self, pattern: str) -> None:
        """Raises `re.error`, also for a pattern that is too long or too deep."""
        self._pattern = compile_timed(pattern)
        self._is_slow = False

    def matches_all(self, text: str) -> bool:
        """Whether the whole text matches. Raises `PatternTooSlow`."""
        if not self._is_slow:
            try:
                return self._pattern.fullmatch(text, timeout=_MAX_MATCH_S) is not None
            except TimeoutError:
                self._is_slow = True
        raise PatternTooSlow(
            f"the regular expression {self._pattern.pattern!r} takes too long: nested repetitions such as `(a+)+` "
            "need exponential time; until it is changed, this rule is not checked"
        )


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
        self._core: frozenset[str] | None = None
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

    @property
    def core(self) -> frozenset[str]:
        """The documents outside of which no circle of imports leads."""
        if self._core is None:
            self._core = _find_core(self._edges)
        return self._core

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


def _find_core(edges: Mapping[str, tuple[Edge, ...]]) -> frozenset[str]:
    """The documents that lie in a circle, or on a way from one circle to another."""
    imported = {path: {edge.target for edge in found if edge.target} for path, found in edges.items()}
    while True:
        targets = frozenset[str]().union(*imported.values())
        kept = {path: named & imported.keys() for path, named in imported.items() if path in targets}
        kept = {path: named for path, named in kept.items() if named}
        if len(kept) == len(imported):
            return frozenset(kept)
        imported = kept
