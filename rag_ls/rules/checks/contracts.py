"""Checks the imports of a document against contracts: forbidden and required imports, layers, independence, no circles.

A chain of imports through other documents counts as an import, as in import-linter.
"""

from __future__ import annotations

from collections.abc import Iterator

from rag_ls.rules.checks.graph import Edge, ImportGraph, place_of, shorten_chain
from rag_ls.rules.checks.names import first_line
from rag_ls.rules.checks.records import (
    CheckedDocument,
    ImportCheck,
    IndependentCheck,
    LayersCheck,
    TextRange,
)
from rag_ls.util.path_globs import matches_any

Found = tuple[TextRange, str]


def imports(document: CheckedDocument, check: ImportCheck, graph: ImportGraph) -> Iterator[Found]:
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


def layers(document: CheckedDocument, check: LayersCheck, graph: ImportGraph) -> Iterator[Found]:
    """The imports by which a document reaches a layer above its own, or beside it where layers are independent."""
    own = next((at for at, globs in enumerate(check.layers) if matches_any(globs, document.path)), None)
    if own is None:
        return
    above = [glob for globs in check.layers[:own] for glob in globs]
    if check.siblings_are_independent:
        above += [glob for glob in check.layers[own] if not matches_any((glob,), document.path)]
    all_layers = [glob for globs in check.layers for glob in globs]
    yield from _find_reaching(document, graph, above, all_layers, indirect=check.indirect)


def independent(document: CheckedDocument, check: IndependentCheck, graph: ImportGraph) -> Iterator[Found]:
    """The imports by which a document of one group reaches another group."""
    own = next((group for group in check.groups if matches_any((group,), document.path)), None)
    if own is not None:
        others = [group for group in check.groups if group != own]
        yield from _find_reaching(document, graph, others, list(check.groups), indirect=check.indirect)


def _find_reaching(
    document: CheckedDocument, graph: ImportGraph, targets: list[str], borders: list[str], *, indirect: bool
) -> Iterator[Found]:
    """The imports that reach a target. A chain ends at the borders: what lies there has violations of its own."""

    def passes(path: str) -> bool:
        return indirect and not matches_any(borders, path)

    for edge in graph.edges(document.path) if targets else ():
        chain = graph.chain(edge, lambda path: matches_any(targets, path), passes)
        if chain:
            yield place_of(document, edge), f"it imports {shorten_chain([each or edge.module for each in chain])}"


def cycles(document: CheckedDocument, graph: ImportGraph) -> Iterator[Found]:
    """The imports of a document that lead back to it."""
    for edge in graph.edges(document.path):
        if not graph.is_in_circle(document.path, edge.target):
            continue
        chain = graph.chain(edge, lambda path: path == document.path, _pass_all)
        if chain:
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
