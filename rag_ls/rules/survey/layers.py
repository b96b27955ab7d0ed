"""Finds the layers of each stack: the order of its folders in which imports go one way."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from rag_ls.rules.survey.findings import MAX_EXAMPLES, MIN_COUNT, SourceLine, SurveyFinding

TOPIC = "layers"

_MIN_ROOT_SHARE = 0.9
_MAX_LAYERS = 30
_MAX_EXCEPTION_SHARE = 0.1
"""The share of the imports between two folders, or in a circle of folders, that may go the other way as exceptions."""
_MAX_EXCEPTIONS = 20
_MIN_DOWN = 6
"""Fewer imports between layers may be chance."""
_MIN_DOWN_PER_LAYER = 2
"""Folders that hardly import one another have an order by chance."""
_USUAL_ORDER = (
    "config database routes bootstrap pages views screens app apps cmd", "components internal", "hooks composables stores store context",
    "lib libs utils util helpers common shared packages pkg", "types type constants interfaces schemas",
)  # fmt: skip
_USUAL_RANKS = {name: rank for rank, names in enumerate(_USUAL_ORDER) for name in names.split()}
_MAX_FINDINGS = 2
_HELPERS = 3
_MAX_USUAL = 4
"""More folders in an order are worth a line."""
Edge = tuple[str, str, int]
"""The importing and the imported file, and the line of the import."""
_Between = dict[tuple[str, str], dict[tuple[str, int], Edge]]
"""By importing and imported layer: an edge for each line that imports."""


def layer_findings(edges: Sequence[Edge], folders: Iterable[str]) -> list[SurveyFinding]:
    """One finding for each folder of a stack whose layers have an order. The edges are between files of the product."""
    stacks = sorted(set(folders) | {""}, key=len, reverse=True)
    home_of = {path: _home(path, stacks) for path in {path for edge in edges for path in edge[:2]}}
    by_stack: dict[str, list[Edge]] = {}
    for edge in edges:
        home = home_of[edge[0]]
        by_stack.setdefault(home if home == home_of[edge[1]] else "", []).append(edge)
    found = [finding for stack in sorted(by_stack) for finding in _of_stack(stack, by_stack[stack])]
    # Of many small stacks, each with an order, only the largest are worth a line.
    kept = sorted(found, key=lambda finding: -finding.total)[:_MAX_FINDINGS]
    return [finding for finding in found if finding in kept]


def _home(path: str, folders: list[str]) -> str:
    return next((folder for folder in folders if not folder or path.startswith(folder + "/")), "")


def _of_stack(stack: str, edges: list[Edge]) -> Iterator[SurveyFinding]:
    root = source_root({path for edge in edges for path in edge[:2]})
    between: _Between = {}
    for edge in edges:
        layers = layer_of(edge[0], root), layer_of(edge[1], root)
        if layers[0] and layers[1] and layers[0] != layers[1]:
            between.setdefault((layers[0], layers[1]), {}).setdefault((edge[0], edge[2]), edge)
    uses = Counter(layer for pair, found in between.items() for layer in pair for _ in found)
    names = {name for name, count in uses.items() if count >= MIN_COUNT and not re.search(r"[][*?{}!,#]", name)}
    between = {pair: found for pair, found in between.items() if names.issuperset(pair)}
    if 2 <= len(names) <= _MAX_LAYERS and (levels := order_layers(names, between)) and not _is_usual(levels):
        yield from _finding(stack, levels, between)


def _is_usual(levels: Sequence[Sequence[str]]) -> bool:
    """Whether few folders are in the order that their names say: code above helpers, helpers above types."""
    names = [posixpath.basename(name) for level in levels for name in level]
    ranks = [[_USUAL_RANKS.get(posixpath.basename(name)) for name in level] for level in levels]
    if len(levels) == 2 and all(rank is not None and rank >= _HELPERS for rank in ranks[1]):
        return True
    known = [rank for level in ranks for rank in level if rank is not None]
    return len(known) == len(names) <= _MAX_USUAL and known == sorted(known)


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


def order_layers(names: Collection[str], between: _Between) -> list[list[str]]:
    """The layers from the highest to the lowest, those of one level together; empty where they have no order.

    Few imports that go up are exceptions. Folders that import each other in a circle are one level.
    """
    weights = {pair: len(found) for pair, found in between.items()}
    while True:
        reached = {name: _reach(name, weights) for name in names}
        in_circle = {
            pair: weight for pair, weight in weights.items() if pair[0] in reached[pair[1]] and pair[0] != pair[1]
        }
        weakest = min(in_circle, key=lambda pair: (in_circle[pair], pair), default=None)
        if weakest is None:
            break
        around = sum(weight for pair, weight in in_circle.items() if pair[1] in reached[weakest[1]])
        back = weights.get((weakest[1], weakest[0]), around)
        if in_circle[weakest] > _MAX_EXCEPTION_SHARE * max(back, around):
            break
        del weights[weakest]
    # Each circle once, by its first name.
    circle = {name: min({name} | {other for other in reached[name] if name in reached[other]}) for name in names}
    depth = dict.fromkeys(circle.values(), 0)
    for _ in depth:
        for importing, imported in weights:
            above, below = circle[importing], circle[imported]
            if above != below:
                depth[below] = max(depth[below], depth[above] + 1)
    levels = sorted(set(depth.values()))
    return [sorted(name for name in names if depth[circle[name]] == level) for level in levels] if levels[1:] else []


def _reach(name: str, weights: Collection[tuple[str, str]]) -> set[str]:
    """The layers that one imports, directly or through others."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        at = waiting.pop()
        new = {imported for importing, imported in weights if importing == at} - found
        found |= new
        waiting += new
    return found


def _finding(stack: str, levels: list[list[str]], between: _Between) -> Iterator[SurveyFinding]:
    level_of = {name: level for level, names in enumerate(levels) for name in names}
    down, up = list[Edge](), list[Edge]()
    for (importing, imported), found in between.items():
        if level_of[importing] != level_of[imported]:
            (down if level_of[importing] < level_of[imported] else up).extend(found.values())
    total = len(down) + len(up)
    if len(down) < max(_MIN_DOWN, _MIN_DOWN_PER_LAYER * len(level_of)) or len(up) > min(
        _MAX_EXCEPTIONS, _MAX_EXCEPTION_SHARE * total
    ):
        return
    shown = "; ".join(", ".join(f"`{name}`" for name in names) for names in levels)
    layers = [globs[0] if len(globs) == 1 else globs for globs in ([f"{name}/**" for name in each] for each in levels)]
    identity = "layers" + (f"-{re.sub(r'[^A-Za-z0-9]+', '-', stack).strip('-')}" if stack else "")
    yield SurveyFinding(
        topic=TOPIC,
        claim=f"Imports go down through the layers, never up; from the highest: {shown}",
        count=len(down),
        total=total,
        examples=_examples(down),
        exceptions=tuple(f"{importing} -> {imported}" for importing, imported, _ in sorted(up)),
        rule={"id": identity, "layers": layers, "indirect": False, "message": "Imports go down through the layers"},
    )


def _examples(edges: Iterable[Edge]) -> tuple[SourceLine, ...]:
    """The first edges of two files."""
    first: dict[str, SourceLine] = {}
    for importing, _, line in sorted(edges):
        first.setdefault(importing, SourceLine(importing, line))
    return tuple(first.values())[:MAX_EXAMPLES]
