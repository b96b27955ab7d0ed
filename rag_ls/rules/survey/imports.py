"""Finds how files import one another, from the import graph: relatively, absolutely, by a prefix, and down through layers."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from rag_ls.languages import family_of
from rag_ls.rules.checks.contracts import Edge
from rag_ls.rules.survey.findings import MAX_EXAMPLES, MIN_COUNT, MIN_SHARE, SourceLine, SurveyFinding, Tally

Imports = Iterable[tuple[str, Edge]]
"""Each import with the file that has it."""
Links = dict[tuple[str, str], dict[tuple[str, int], str]]
"""By importing and imported folder: each line that imports, with the imported file."""

_USUAL_PREFIXES = ("@/", "~/", "#/", "$lib/", "@@/", "~~/")
_ABOVE = re.compile(r"(?:\.\./)+\w[\w-]*(?=/)")
_RELATIVE, _ABSOLUTE = "relative", "absolute"
_MAX_PREFIXES = 8
_MIN_ROOT_SHARE = 0.9
_MAX_LAYERS = 30
_MAX_EXCEPTION_SHARE = 0.05
"""The share of the imports between two folders that may go the other way as exceptions."""
_MAX_EXCEPTIONS = 20
_MIN_DOWN = 6
"""Fewer imports between layers may be chance."""
_MIN_DOWN_PER_LAYER = 2
"""Folders that hardly import one another have an order by chance."""
_MAX_LAYER_FINDINGS = 2


def import_findings(
    imports: Imports, languages: Mapping[str, str], packages: Collection[str]
) -> Iterator[SurveyFinding]:
    """The way in which nearly all files of a language import one another; `packages` are those that the project itself declares."""
    ways: dict[str, Tally] = {"typescript": Tally(), "python": Tally()}
    # A line may import several files.
    for (path, _), edge in {(path, edge.line): edge for path, edge in imports}.items():
        family = family_of(languages[path])
        if way := _way_of(edge, family, packages):
            ways[family].add(way, SourceLine(path, edge.line))
    claims = {
        _RELATIVE: "Python modules import one another relatively (`from .module import ...`)",
        _ABSOLUTE: "Python modules import one another by the package's full name",
    }
    for family, tally in ways.items():
        name = tally.convention()
        # That files of TypeScript import one another relatively is usual.
        if name and (family == "python" or name != _RELATIVE) and _is_kept_by_files(tally, name):
            yield tally.finding("imports", claims.get(name, f"Files import one another by the prefix `{name}`"), name)


def frontend_prefixes(imports: Imports, languages: Mapping[str, str], packages: Collection[str]) -> tuple[str, ...]:
    """The prefixes, also of folders (`../hooks`), with three imports, or half of a small project's."""
    tally = Tally()
    for path, edge in imports:
        above = _ABOVE.match(edge.module)
        way = _way_of(edge, family_of(languages[path]), packages)
        if way.endswith("/") or (way == _RELATIVE and above):
            tally.add(above[0] if above else way)
    least = MIN_COUNT if tally.total > 2 * MIN_COUNT else max(1, min(MIN_COUNT, (tally.total + 1) // 2))
    return tuple(tally.most_common(least)[:_MAX_PREFIXES])


def _way_of(edge: Edge, family: str, packages: Collection[str]) -> str:
    """The way in which an import names a file of the project; "" for one of a package, and of other languages."""
    module = edge.module
    if family == "python":
        return _RELATIVE if module.startswith(".") else _ABSOLUTE if edge.target and module else ""
    if family != "typescript" or module.startswith("."):
        return _RELATIVE if family == "typescript" else ""
    head, slash, rest = module.partition("/")
    is_package = head in packages or f"{head}/{rest.partition('/')[0]}" in packages
    is_own = module.startswith(_USUAL_PREFIXES) or (bool(edge.target and slash) and not is_package)
    return f"{head}/" if is_own else ""


def _is_kept_by_files(tally: Tally, way: str) -> bool:
    """Whether nearly all files import in a way alone: most imports may be of a few files."""
    every = {path for files in tally.files.values() for path in files}
    others = {path for other, files in tally.files.items() if other != way for path in files}
    return len(others) <= (1 - MIN_SHARE) * len(every)


def layer_findings(imports: Imports, files: Collection[str], stacks: Iterable[str]) -> list[SurveyFinding]:
    """One finding for each folder of a stack whose folders have an order in which imports go one way."""
    folders = sorted({*stacks, ""}, key=len, reverse=True)
    home = {path: next(each for each in folders if not each or path.startswith(f"{each}/")) for path in files}
    by_stack: dict[str, set[tuple[str, str, int]]] = {}
    for path, edge in imports:
        if edge.target in home:
            stack = home[path] if home[path] == home[edge.target] else ""
            by_stack.setdefault(stack, set()).add((path, edge.target, edge.line))
    found = [finding for stack in sorted(by_stack) for finding in _find_layers(stack, by_stack[stack])]
    # Of many small stacks, each with an order, only the largest are worth a line.
    kept = sorted(found, key=lambda finding: -finding.total)[:_MAX_LAYER_FINDINGS]
    return [finding for finding in found if finding in kept]


def _find_layers(stack: str, imports: Collection[tuple[str, str, int]]) -> Iterator[SurveyFinding]:
    root = _source_root([posixpath.dirname(path) for path in {path for each in imports for path in each[:2]}])
    links: Links = {}
    for importing, imported, line in sorted(imports):
        pair = _layer_of(importing, root), _layer_of(imported, root)
        if all(pair) and pair[0] != pair[1]:
            links.setdefault(pair, {}).setdefault((importing, line), imported)
    uses = Counter(layer for pair, found in links.items() for layer in pair for _ in found)
    names = {name for name, count in uses.items() if count >= MIN_COUNT and not re.search(r"[][*?{}!,#]", name)}
    links = {pair: found for pair, found in links.items() if names.issuperset(pair)}
    levels = order_layers({pair: len(found) for pair, found in links.items()}) if len(names) <= _MAX_LAYERS else []
    if len(levels) > 1:
        yield from _make_finding(stack, levels, links)


def _source_root(folders: Collection[str]) -> str:
    """The folder below which nearly all of some folders lie, as far down as that is one."""
    root = ""
    while True:
        below = [folder.removeprefix(f"{root}/") for folder in folders if not root or folder.startswith(f"{root}/")]
        children = Counter(folder.partition("/")[0] for folder in below if folder)
        child, count = next(iter(children.most_common(1)), ("", 0))
        if count < _MIN_ROOT_SHARE * len(folders) or not child:
            return root
        root = posixpath.join(root, child)


def _layer_of(path: str, root: str) -> str:
    """The folder below the source root; "" for a file that lies in none."""
    if root and not path.startswith(f"{root}/"):
        return ""
    folder, slash, _ = path[len(root) :].lstrip("/").partition("/")
    return posixpath.join(root, folder) if slash else ""


def order_layers(weights: Mapping[tuple[str, str], int]) -> list[list[str]]:
    """The layers from the highest to the lowest, those of one level together; none where imports go in a circle.

    `weights` has the number of imports by importing and imported layer. Few imports that go up are exceptions.
    """
    down = dict(weights)
    while True:
        sorter = TopologicalSorter[str]()
        for above, below in sorted(down):
            sorter.add(below, above)
        try:
            sorter.prepare()
            break
        except CycleError as error:
            circle: list[str] = error.args[1]
            pairs = [pair for pair in pairwise(circle) if pair in down]
            weakest = min(pairs, key=lambda pair: (down[pair], pair))
            if down[weakest] > _MAX_EXCEPTION_SHARE * sum(down[pair] for pair in pairs):
                return []
            del down[weakest]
    levels = []
    while sorter.is_active():
        levels.append(sorted(sorter.get_ready()))
        sorter.done(*levels[-1])
    return levels


def _make_finding(stack: str, levels: list[list[str]], links: Links) -> Iterator[SurveyFinding]:
    level_of = {name: level for level, names in enumerate(levels) for name in names}
    down, up = list[tuple[str, str, int]](), list[tuple[str, str, int]]()
    for (importing, imported), found in links.items():
        kept = down if level_of[importing] < level_of[imported] else up
        kept += ((path, target, line) for (path, line), target in found.items())
    total = len(down) + len(up)
    if len(down) < max(_MIN_DOWN, _MIN_DOWN_PER_LAYER * len(level_of)) or len(up) > min(
        _MAX_EXCEPTIONS, _MAX_EXCEPTION_SHARE * total
    ):
        return
    shown = "; ".join(", ".join(f"`{name}`" for name in names) for names in levels)
    globs = [[f"{name}/**" for name in names] for names in levels]
    identity = "layers" + (f"-{re.sub(r'[^A-Za-z0-9]+', '-', stack).strip('-')}" if stack else "")
    first = {path: SourceLine(path, line) for path, _, line in sorted(down, reverse=True)}
    yield SurveyFinding(
        topic="layers",
        claim=f"Imports go down through the layers, never up; from the highest: {shown}",
        count=len(down),
        total=total,
        examples=tuple(sorted(first.values())[:MAX_EXAMPLES]),
        exceptions=tuple(dict.fromkeys(f"{importing} -> {imported}" for importing, imported, _ in sorted(up))),
        rule={
            "id": identity, "layers": [each[0] if len(each) == 1 else each for each in globs], "indirect": False,
            "message": "Imports go down through the layers",
        },
    )  # fmt: skip
