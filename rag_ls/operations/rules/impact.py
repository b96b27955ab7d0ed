"""The operation that tells what a change of a file would touch."""

# ruff: noqa: N815 - the keys are in camel case

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_ls.engine.code.impact import find_impact
from rag_ls.engine.code.reaching_tests import ReachingTest, describe_reach
from rag_ls.errors import NotFound
from rag_ls.operations.caller import Caller
from rag_ls.operations.fields import argument, optional
from rag_ls.operations.operation import Tool, Verb, operation
from rag_ls.operations.rules.constraints import check_count
from rag_ls.operations.rules.setup import SUCCESS
from rag_ls.rules.impact import Dependent
from rag_ls.util.text import count_of

_MAX_DEPENDENTS = 200


@dataclass(frozen=True, slots=True)
class QueryImpact:
    """A file, or a symbol in it, that is about to be changed."""

    file_path: str = argument("", "a file, relative to the project's root", is_path=True)
    num_similar: int | None = argument(None, "similar files, 1 to 20 (default: 5)")
    symbol: str = argument("", "only this exported name; without file_path where one file declares it")


@dataclass(frozen=True, slots=True)
class UseRecord:
    """A line that uses a name."""

    line: int
    name: str
    """As it is declared."""


@dataclass(frozen=True, slots=True)
class DependentRecord:
    """A file that depends on another one."""

    filePath: str
    imports: tuple[str, ...]
    """As the file writes them."""
    names: tuple[str, ...] = optional(())
    """The names that it takes; `*` where it imports all."""
    lines: tuple[int, ...] = optional(())
    """All lines that depend on it: imports and uses."""
    uses: tuple[UseRecord, ...] = optional(())
    """Those of them that use a name."""


@dataclass(frozen=True, slots=True)
class ReachingRecord:
    """A test that reaches a file through another one."""

    filePath: str
    through: str


@dataclass(frozen=True, slots=True)
class SimilarRecord:
    """A file like another one."""

    filePath: str
    similarity: float
    reason: str


@dataclass(frozen=True, slots=True)
class AnchoredMemory:
    """A memory about a place in a file."""

    id: str
    content: str
    line: int | None = optional()


@dataclass(frozen=True, slots=True)
class ImpactAnswer:
    """The things that a change of a file would touch."""

    filePath: str
    exports: tuple[str, ...]
    apiEndpoints: tuple[str, ...]
    websocketEvents: tuple[str, ...]
    dependents: tuple[DependentRecord, ...]
    similarFiles: tuple[SimilarRecord, ...]
    summary: str
    tests: tuple[str, ...] = ()
    testsThrough: tuple[ReachingRecord, ...] = optional(())
    """The tests that reach it over several imports, where none imports it."""
    memories: tuple[AnchoredMemory, ...] = optional(())
    dependentsTotal: int = 0
    dependentsBeyond: int = 0
    """The number of files that depend on the dependents, and on these, and so on."""
    status: str = SUCCESS


@operation(
    tool=Tool(
        "rules",
        "What breaks if a file or symbol changes? Gives the files that depend on it, its tests and endpoints.",
        ("file_path", "symbol", "num_similar"),
        ("dependents",),
        is_idempotent=True,
    ),
    command="ragLs.impact",
    verb=Verb("rules impact", "show what a change of a file would touch", ("file_path",)),
)
def rag_query_impact(caller: Caller, request: QueryImpact) -> ImpactAnswer:
    """The things that a change of a file would touch: dependents, tests, endpoints, similar files, memories."""
    count = check_count("num_similar", request.num_similar)
    view = caller.rule_projects.current(request.file_path)
    if not view.store.counts().documents:
        raise NotFound(f"the index of {view.project.root} is empty; rag_index makes it")
    found = find_impact(view, request.file_path, request.symbol.strip(), count)
    direct = found.dependents.direct
    answer = ImpactAnswer(
        filePath=found.path,
        exports=tuple(dict.fromkeys(item.symbol for item in found.exports)),
        apiEndpoints=tuple(dict.fromkeys(f"{each.method} {each.route}" for each in found.endpoints)),
        websocketEvents=tuple(dict.fromkeys(each.name for each in found.events)),
        dependents=tuple(_make_dependent(each) for each in direct[:_MAX_DEPENDENTS]),
        similarFiles=tuple(SimilarRecord(each.path, each.similarity, each.reason) for each in found.similar),
        summary="", tests=found.tests,
        testsThrough=tuple(ReachingRecord(each.path, each.through) for each in found.reaching_tests),
        memories=tuple(
            AnchoredMemory(item.id, item.content, item.anchor.start_line if item.anchor else None)
            for item in found.memories
        ),
        dependentsTotal=len(direct), dependentsBeyond=found.dependents.beyond,
    )  # fmt: skip
    return replace(answer, summary=_summarize_impact(answer, found.reaching_tests, is_all=found.dependents.is_all))


def _describe_tests(count: int) -> str:
    # A test may reach a file by what no import shows: a fixture, an address, a program.
    return f"{count_of(count, 'test covers', 'tests cover')} it" if count else "no test is known to import or reach it"


def _make_dependent(found: Dependent) -> DependentRecord:
    uses = tuple(UseRecord(line, name) for line, name in found.uses)
    return DependentRecord(found.path, found.imports, found.names, found.lines, uses)


def _summarize_impact(answer: ImpactAnswer, reaching: Sequence[ReachingTest], *, is_all: bool) -> str:
    beyond = (
        f" ({'' if is_all else 'at least '}{answer.dependentsBeyond} more beyond)" if answer.dependentsBeyond else ""
    )
    parts = [
        f"{answer.filePath} exports {count_of(len(answer.exports), 'name')}",
        f"{count_of(answer.dependentsTotal, 'file depends', 'files depend')} on it{beyond}",
        describe_reach(reaching) if reaching else _describe_tests(len(answer.tests)),
    ]
    if answer.apiEndpoints:
        parts.append(f"it serves {len(answer.apiEndpoints)} endpoints")
    if answer.websocketEvents:
        parts.append(f"it handles {len(answer.websocketEvents)} events")
    if answer.dependentsTotal > _MAX_DEPENDENTS:
        parts.append(f"the first {_MAX_DEPENDENTS} are listed")
    return "; ".join(parts)
