"""Finds the layers of each stack, and which of them import which."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rag_ls.rules.survey.findings import MAX_EXAMPLES, MIN_COUNT, SourceLine, SurveyFinding

TOPIC = "layers"

_MIN_ROOT_SHARE = 0.9
_MAX_LAYERS = 30
_MAX_FINDINGS = 25
Edge = tuple[str, str, int]
"""The importing and the imported file, and the line of the import."""


def layer_findings(edges: Sequence[Edge], folders: Iterable[str]) -> list[SurveyFinding]:
    """Findings on which layer imports which, for each folder of a stack. The edges are between files of the product."""
    stacks = sorted(set(folders) | {""}, key=len, reverse=True)
    by_stack: dict[str, list[Edge]] = {}
    for edge in edges:
        homes = [_home(path, stacks) for path in edge[:2]]
        by_stack.setdefault(homes[0] if homes[0] == homes[1] else "", []).append(edge)
    return [finding for stack in sorted(by_stack) for finding in _of_stack(by_stack[stack])]


def _home(path: str, folders: list[str]) -> str:
    return next((folder for folder in folders if not folder or path.startswith(folder + "/")), "")


def _of_stack(edges: list[Edge]) -> list[SurveyFinding]:
    root = source_root({path for edge in edges for path in edge[:2]})
    between: dict[tuple[str, str], list[Edge]] = {}
    for edge in edges:
        layers = layer_of(edge[0], root), layer_of(edge[1], root)
        if layers[0] and layers[1] and layers[0] != layers[1]:
            between.setdefault((layers[0], layers[1]), []).append(edge)
    if len({layer for pair in between for layer in pair}) > _MAX_LAYERS:
        return []
    found = [*_ends(between), *_pairs(between)]
    return found[:_MAX_FINDINGS]


def source_root(paths: Iterable[str]) -> str:
    """The folder below which nearly all files lie, as far down as that is one."""
    root = ""
    inner = [posixpath.dirname(path) for path in paths]
    total = len(inner)
    while True:
        start = len(root) + 1 if root else 0
        below = [folder for folder in inner if (folder + "/").startswith(root + "/" if root else "") and folder != root]
        children = Counter(folder[start:].partition("/")[0] for folder in below)
        child, count = next(iter(children.most_common(1)), ("", 0))
        if not child or count < _MIN_ROOT_SHARE * total or len(below) < total * _MIN_ROOT_SHARE:
            return root
        root = f"{root}/{child}" if root else child


def layer_of(path: str, root: str) -> str:
    """The folder below the source root; "" for a file that lies in none."""
    if root and not path.startswith(root + "/"):
        return ""
    inner = path[len(root) + 1 :] if root else path
    folder, slash, _ = inner.partition("/")
    return (f"{root}/{folder}" if root else folder) if slash else ""


def _ends(between: Mapping[tuple[str, str], list[Edge]]) -> Iterator[SurveyFinding]:
    """The layers that no other imports, and those that import no other."""
    layers = sorted({layer for pair in between for layer in pair})
    for layer in layers:
        out = [edge for (importing, _), edges in between.items() if importing == layer for edge in edges]
        into = [edge for (_, imported), edges in between.items() if imported == layer for edge in edges]
        # With one partner alone, the pair says it.
        if len({pair for pair in between if layer in pair}) < 2:
            continue
        if len(out) >= MIN_COUNT and not into:
            claim = f"`{layer}` imports other layers; no other layer imports `{layer}`"
            yield _finding(claim, out, len(out))
        elif len(into) >= MIN_COUNT and not out:
            yield _finding(f"Other layers import `{layer}`; `{layer}` imports no other layer", into, len(into))


def _pairs(between: Mapping[tuple[str, str], list[Edge]]) -> Iterator[SurveyFinding]:
    for (importing, imported), edges in sorted(between.items(), key=lambda item: (-len(item[1]), item[0])):
        back = between.get((imported, importing), [])
        if len(edges) < MIN_COUNT or (len(back), importing) > (len(edges), imported):
            continue
        claim = f"`{importing}` imports `{imported}`; `{imported}` never imports `{importing}`"
        if back:
            go = "go" if len(back) > 1 else "goes"
            claim = f"`{importing}` imports `{imported}`; {len(back)} of the imports between them {go} the other way"
        yield _finding(claim, edges, len(edges) + len(back))


def _finding(claim: str, edges: list[Edge], total: int) -> SurveyFinding:
    places: list[SourceLine] = []
    for importing, _, line in sorted(edges):
        if not any(place.path == importing for place in places):
            places.append(SourceLine(importing, line))
        if len(places) == MAX_EXAMPLES:
            break
    return SurveyFinding(TOPIC, claim, len(edges), total, tuple(places))
