"""Finds how files import one another, relatively, absolutely or by a prefix, from the import graph."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from rag_ls.languages import family_of
from rag_ls.rules.checks.graph import Edge
from rag_ls.rules.survey.findings import MIN_COUNT, MIN_SHARE, SourceLine, SurveyFinding, Tally

TOPIC = "imports"
Imports = Iterable[tuple[str, Edge]]
"""Each import with the file that has it."""
_USUAL_PREFIXES = ("@/", "~/", "#/", "$lib/", "@@/", "~~/")
_ABOVE = re.compile(r"(?:\.\./)+\w[\w-]*(?=/)")
_RELATIVE, _ABSOLUTE = "relative", "absolute"
_MAX_PREFIXES = 8


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
    tally = ways["typescript"]
    if (name := tally.convention()) and name != _RELATIVE and _is_kept_by_files(tally, name):
        yield tally.finding(TOPIC, f"Files import one another by the prefix `{name}`", name)
    tally = ways["python"]
    if tally.convention() == _RELATIVE:
        claim = "Python modules import one another relatively (`from .module import ...`)"
        yield tally.finding(TOPIC, claim, _RELATIVE)
    elif tally.convention() == _ABSOLUTE and _is_kept_by_files(tally, _ABSOLUTE):
        claim = "Python modules import one another by the package's full name"
        rule = {"id": "absolute-imports", "language": "python", "forbid": {"kind": "relative_import"}, "message": claim}
        judged = frozenset(path for files in tally.files.values() for path in files)
        yield replace(tally.finding(TOPIC, claim, _ABSOLUTE), rule=rule, judged=judged, marks=("from .",))


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
