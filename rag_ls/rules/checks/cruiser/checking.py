"""Checks the imports of a document against a rule of dependency-cruiser."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.rules.checks.cruiser.modules import counts, groups_of, is_unresolvable, matches, name_of, types_of
from rag_ls.rules.checks.cruiser.records import (
    CruiserCheck,
    Dependencies,
    DependencyRule,
    Modules,
    Orphans,
    Reachability,
    Required,
    Surroundings,
)
from rag_ls.rules.checks.graph import Edge, ImportGraph, place_of, shorten_chain
from rag_ls.rules.checks.names import first_line
from rag_ls.rules.checks.records import CheckedDocument, TextRange
from rag_ls.util.text import lines_of

Found = tuple[TextRange, str]
_TYPE_ONLY = re.compile(r"\s*(?:import|export)\s+type\b(?!\s*(?:,|from\b))")


def cruise(document: CheckedDocument, check: CruiserCheck, graph: ImportGraph) -> Iterator[Found]:
    """The places in a document that break the rule."""
    surroundings = check.surroundings
    if not counts(document.path, surroundings):
        return
    match check.rule:
        case Dependencies() as rule:
            yield from _dependencies(document, rule, surroundings, graph)
        case Orphans() as rule:
            yield from _orphans(document, rule, surroundings, graph)
        case Reachability(is_reachable=True) as rule:
            yield from _check_reachable(document, rule, surroundings, graph)
        case Reachability() as rule:
            yield from _check_unreachable(document, rule, surroundings, graph)
        case Required() as rule:
            yield from _check_required(document, rule, surroundings, graph)


def _dependencies(
    document: CheckedDocument, rule: Dependencies, surroundings: Surroundings, graph: ImportGraph
) -> Iterator[Found]:
    for edge, is_type in _edges(document, surroundings, graph):
        found = [
            chain
            for each in rule.rules
            if (chain := _match_import(document.path, edge, each, surroundings, graph, is_type))
        ]
        if rule.is_allowed and not found:
            yield place_of(document, edge), f"it imports {name_of(edge)}, which no rule allows"
        elif found and not rule.is_allowed:
            chain = found[0]
            is_circle = len(chain) > 1
            said = f"a circle: {shorten_chain([document.path, *chain])}" if is_circle else f"it imports {chain[0]}"
            yield place_of(document, edge), said


def _match_import(
    path: str, edge: Edge, rule: DependencyRule, surroundings: Surroundings, graph: ImportGraph, is_type: bool
) -> list[str]:  # fmt: skip
    """The import, or the circle that it begins, if the rule is about it; else nothing."""
    if not matches(rule.source, path):
        return []
    groups, target = groups_of(rule.source, path), name_of(edge)
    types = types_of(edge, path, surroundings, is_type=is_type)
    is_about = (
        matches(rule.target, target, groups)
        and (not rule.types or bool(rule.types & types))
        and not rule.types_not & types
        and rule.has_many_types in (None, len(_of_packages(types)) > 1)
        and rule.is_unresolvable in (None, is_unresolvable(edge))
    )
    if not is_about:
        return []
    if rule.is_circular is None:
        return [target]
    circle = _circle(path, edge, surroundings, graph)
    if not rule.is_circular:
        return [] if circle else [target]
    return circle if _passes_via(rule, circle, groups) else []


def _circle(path: str, edge: Edge, surroundings: Surroundings, graph: ImportGraph) -> list[str]:
    if not graph.is_in_circle(path, edge.target):
        return []
    return graph.chain(edge, lambda other: other == path, lambda other: counts(other, surroundings)) or []


def _passes_via(rule: DependencyRule, circle: list[str], groups: tuple[str, ...]) -> bool:
    if rule.via is not None and not any(matches(rule.via, path, groups) for path in circle):
        return False
    return rule.via_only is None or all(matches(rule.via_only, path, groups) for path in circle)


def _orphans(
    document: CheckedDocument, rule: Orphans, surroundings: Surroundings, graph: ImportGraph
) -> Iterator[Found]:
    if matches(rule.modules, document.path):
        is_orphan = not any(_edges(document, surroundings, graph)) and not graph.is_imported(document.path)
        if is_orphan == rule.is_orphan:
            yield first_line(document), "it imports nothing, and nothing imports it" if is_orphan else "it is no orphan"


def _check_reachable(
    document: CheckedDocument, rule: Reachability, surroundings: Surroundings, graph: ImportGraph
) -> Iterator[Found]:
    if matches(rule.source, document.path):
        groups = groups_of(rule.source, document.path)
        for edge, _ in _edges(document, surroundings, graph):
            if chain := _chain(edge, rule.target, groups, surroundings, graph):
                yield place_of(document, edge), f"it imports {shorten_chain(chain)}"


def _check_unreachable(
    document: CheckedDocument, rule: Reachability, surroundings: Surroundings, graph: ImportGraph
) -> Iterator[Found]:
    if matches(rule.target, document.path) and not matches(rule.source, document.path):
        starts = lambda path: counts(path, surroundings) and matches(rule.source, path)  # noqa: E731
        reached = graph.reached_from(rule.source, starts)
        # If no module could reach another, dependency-cruiser reports nothing.
        if reached and document.path not in reached:
            yield first_line(document), f"nothing in {rule.source.path or 'any module'} reaches it"


def _check_required(
    document: CheckedDocument, rule: Required, surroundings: Surroundings, graph: ImportGraph
) -> Iterator[Found]:
    groups = groups_of(rule.modules, document.path)
    if not matches(rule.modules, document.path) or matches(Modules(rule.target.path), document.path, groups):
        return
    edges = [edge for edge, _ in _edges(document, surroundings, graph)]
    has_one = any(matches(Modules(rule.target.path), name_of(edge), groups) for edge in edges)
    if rule.by_chain and not has_one:
        has_one = any(_chain(edge, rule.target, groups, surroundings, graph) for edge in edges)
    if not has_one:
        yield first_line(document), f"it does not import {rule.target.path}"


def _chain(
    edge: Edge, target: Modules, groups: tuple[str, ...], surroundings: Surroundings, graph: ImportGraph
) -> list[str]:  # fmt: skip
    if not edge.target:
        return [name_of(edge)] if matches(target, name_of(edge), groups) else []
    found = graph.chain(
        edge, lambda path: matches(target, path, groups), lambda path: counts(path, surroundings), name=name_of
    )
    return found or []


def _edges(document: CheckedDocument, surroundings: Surroundings, graph: ImportGraph) -> Iterator[tuple[Edge, bool]]:
    """The imports of a document that count, and whether each is of types alone."""
    lines = lines_of(document.text)
    for edge in graph.edges(document.path):
        line = lines[edge.line - 1] if 0 < edge.line <= len(lines) else ""
        is_type = bool(_TYPE_ONLY.match(line))
        if counts(name_of(edge), surroundings) and (surroundings.counts_types or not is_type):
            yield edge, is_type


def _of_packages(types: frozenset[str]) -> list[str]:
    return [each for each in types if each.startswith("npm") or each in ("core", "local")]
