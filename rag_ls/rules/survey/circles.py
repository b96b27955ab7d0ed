"""Finds stacks whose files never import each other in a circle."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from rag_ls.languages import family_of
from rag_ls.rules.survey.findings import SourceLine, SurveyFinding
from rag_ls.rules.survey.layers import Edge, source_root

TOPIC = "layers"

_MIN_FILES, _MIN_EDGES = 20, 30
# In other languages an import names a package and not a file, or the compiler refuses circles.
_FAMILIES = {
    "python": ("Python", ["py"]),
    "typescript": ("JavaScript or TypeScript", ["ts", "tsx", "js", "jsx", "vue", "svelte"]),
}


def circle_findings(edges: Sequence[Edge], languages: Mapping[str, str]) -> Iterator[SurveyFinding]:
    """One finding for each family of languages in which no import leads back; the edges are between files of the product."""
    for family, (title, suffixes) in _FAMILIES.items():
        own = [edge for edge in edges if family_of(languages[edge[0]]) == family]
        files = {path for edge in own for path in edge[:2]}
        if len(own) < _MIN_EDGES or has_circle(own):
            continue
        root = source_root(files)
        # Those that the rule looks at count.
        ends = tuple(f".{suffix}" for suffix in suffixes)
        files = {path for path in files if path.startswith(f"{root}/" if root else "") and path.endswith(ends)}
        own = [edge for edge in own if edge[0] in files]
        if len(files) < _MIN_FILES or len(own) < _MIN_EDGES:
            continue
        where = f" below `{root}`" if root else ""
        claim = f"No {title} file{where} imports itself in a circle"
        globs = [f"{root}/**/*.{suffix}" if root else f"**/*.{suffix}" for suffix in suffixes]
        rule = {
            "id": f"no-circles-{family}",
            "no_cycles": True,
            "files": globs,
            "message": "Files do not import each other in a circle",
        }
        first = {edge[0]: SourceLine(edge[0], edge[2]) for edge in sorted(own, reverse=True)}
        places = tuple(first.values())[-1:-3:-1]
        yield SurveyFinding(topic=TOPIC, claim=claim, count=len(files), total=len(files), examples=places, rule=rule)


def has_circle(edges: Collection[Edge]) -> bool:
    """Whether some chain of imports leads back: what remains after files without imports are taken away, again and again."""
    imported: dict[str, set[str]] = {}
    importers: dict[str, set[str]] = {}
    for importing, target, _ in edges:
        imported.setdefault(importing, set()).add(target)
        importers.setdefault(target, set()).add(importing)
    waiting = [path for path in importers if path not in imported]
    while waiting:
        done = waiting.pop()
        for path in importers.get(done, ()):
            imported[path].discard(done)
            if not imported[path]:
                del imported[path]
                waiting.append(path)
    return bool(imported)
