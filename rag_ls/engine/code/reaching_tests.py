"""Finds the tests that reach a document over several imports, where no test imports it itself."""

from __future__ import annotations

from collections.abc import Collection

from rag_ls.rules.impact import ImpactFinder
from rag_ls.search.roles import Roles
from rag_ls.util.records import dataclass
from rag_ls.util.text import count_of

_MAX_STEPS = 4
_MAX_TESTS = 50
# A number of documents and no time limit, so that an answer is the same each time.
_MAX_FOLLOWED = 2000


@dataclass(frozen=True, slots=True)
class ReachingTest:
    """A test that imports what depends on a document."""

    path: str
    through: str
    """The dependent of the document through which it gets there."""


def find_reaching_tests(
    finder: ImpactFinder, roles: Roles, path: str, direct: Collection[str]
) -> tuple[ReachingTest, ...]:
    """The tests that reach a document through its direct dependents, the nearest first; some, where there are many."""
    through = {each: each for each in sorted(direct) if not roles.is_test(each)}
    frontier, found = dict(through), dict[str, str]()
    for _ in range(_MAX_STEPS):
        if not frontier or len(found) >= _MAX_TESTS or len(through) > _MAX_FOLLOWED:
            break
        following: dict[str, str] = {}
        for imported, importers in sorted(finder.importers(frontier).items()):
            for importer in sorted(importers - {path, *through}):
                through[importer] = frontier[imported]
                (found if roles.is_test(importer) else following)[importer] = frontier[imported]
        frontier = following
    return tuple(ReachingTest(test, dependent) for test, dependent in list(found.items())[:_MAX_TESTS])


def describe_cover(count: int) -> str:
    """The number of tests that import a file, or reach it, in words."""
    # A test may reach a file in a way that no import shows: through a fixture, an address or a program.
    return f"{count_of(count, 'test covers', 'tests cover')} it" if count else "no test is known to import or reach it"


def describe_reach(tests: Collection[ReachingTest]) -> str:
    """The tests and their ways in a sentence: `no test imports it directly; 3 reach it through serializers.py`."""
    ways = list(dict.fromkeys(test.through.rsplit("/", 1)[-1] for test in tests))
    shown = ", ".join(ways[:3]) + (f" and {len(ways) - 3} more" if len(ways) > 3 else "")
    return f"no test imports it directly; {len(tests)} {'reaches' if len(tests) == 1 else 'reach'} it through {shown}"
