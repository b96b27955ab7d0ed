"""The operation that tells what a change of a file would touch."""

from __future__ import annotations

from collections.abc import Sequence

from rag_ls.chunking import stem_of
from rag_ls.engine.code.impact import Impact, find_impact
from rag_ls.engine.code.references.code_files import split_owner
from rag_ls.engine.code.related_tests import ReachingTest, describe_cover, describe_reach
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.operations.code.lookup import count_unread, note_unread
from rag_ls.operations.code.preparation import QuestionScope, read_all, read_first
from rag_ls.operations.code.references import describe_lines
from rag_ls.operations.fields import argument
from rag_ls.operations.operation import Caller, Tool, Verb, operation
from rag_ls.operations.rules.change_impact import (
    AnchoredMemory,
    ImpactAnswer,
    ReachingRecord,
    SimilarRecord,
    answer_change,
    make_dependent,
)
from rag_ls.operations.rules.constraints import check_count
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import count_of

_MAX_DEPENDENTS = 200


@dataclass(frozen=True, slots=True)
class QueryImpact:
    file_path: str = argument("", "a file, relative to the project's root", is_path=True)
    num_similar: int | None = argument(None, "how many similar files, 1 to 20 (default: 5)")
    symbol: str = argument("", "only this exported name; file_path can be left out if only one file declares it")
    changed: str = argument(
        "",
        "all that differs from this git revision, uncommitted work included: for a review",
        agents="a git revision",
    )

    @property
    def scope(self) -> QuestionScope:
        """The subject of the question: what depends on a file names it."""
        path = self.file_path.strip()
        return QuestionScope(self.symbol.strip() or stem_of(path), path)


@operation(
    tool=Tool(
        "rules",
        "What breaks if a file or symbol changes? Dependents with lines, tests, endpoints.",
        ("file_path", "symbol", "changed", "num_similar"),
        ("summary",),
        is_idempotent=True,
    ),
    command="ragLs.impact",
    verb=Verb(
        "rules impact",
        "show what a change of a file would touch, or what a branch touches",
        ("file_path",),
        ("changed",),
        example="rag-ls impact --changed main",
    ),
)
def rag_query_impact(caller: Caller, request: QueryImpact) -> ImpactAnswer:
    """The things that a change of a file would touch: dependents, tests, endpoints, similar files, memories."""
    count = check_count("num_similar", request.num_similar)
    revision = request.changed.strip()
    if revision and (request.file_path.strip() or request.symbol.strip()):
        raise InvalidRequest("`changed` is about all files that differ: give it alone, or a file or symbol")
    if not (revision or request.file_path.strip() or request.symbol.strip()):
        raise InvalidRequest("give file_path, relative to the project's root, or symbol")
    view = caller.rule_projects.current(request.file_path)
    if revision:
        read_all(caller, view)
    else:
        read_first(caller, [view], request.scope, compares=True)
    if not view.store.counts().documents:
        raise NotFound(f"the index of {view.project.root} is empty; rag_index makes it")
    if revision:
        return answer_change(caller, view, revision)
    found = find_impact(view, request.file_path, request.symbol.strip(), count)
    direct = found.dependents.direct
    answer = ImpactAnswer(
        filePath=found.path,
        exports=tuple(dict.fromkeys(item.symbol for item in found.exports)),
        apiEndpoints=tuple(dict.fromkeys(f"{each.method} {each.route}" for each in found.endpoints)),
        websocketEvents=tuple(dict.fromkeys(each.name for each in found.events)),
        dependents=tuple(make_dependent(each) for each in direct[:_MAX_DEPENDENTS]),
        similarFiles=tuple(SimilarRecord(each.path, each.similarity, each.reason) for each in found.similar),
        summary="", tests=found.tests,
        testsThrough=tuple(ReachingRecord(each.path, each.through) for each in found.reaching_tests),
        memories=tuple(
            AnchoredMemory(item.id, item.content, item.anchor.start_line if item.anchor else None)
            for item in found.memories
        ),
        dependentsTotal=len(direct), dependentsBeyond=found.dependents.beyond,
    )  # fmt: skip
    so_far = " so far" if count_unread([view]) else ""
    summary = _summarize_impact(answer, found.reaching_tests, so_far, is_all=found.dependents.is_all)
    notes = (caller.projects.note_elsewhere([view]), note_unread([view]), _note_lines(view, request, answer, found))
    return replace(answer, summary=summary, notes=tuple(filter(None, notes)))


def _note_lines(view: ProjectSession, request: QueryImpact, answer: ImpactAnswer, found: Impact) -> str:
    """The lines that hold the name of a symbol on which no file depends: an answer of none would deny them."""
    if not request.symbol.strip() or answer.dependents:
        return ""
    declared = {(item.path, item.start_line) for item in found.exports}
    return describe_lines([view], split_owner(request.symbol.strip())[1], declared)


def _summarize_impact(answer: ImpactAnswer, reaching: Sequence[ReachingTest], so_far: str, *, is_all: bool) -> str:
    """The numbers of an answer in a sentence; `so_far` where files that are not read yet may add to them."""
    beyond = (
        f" ({'' if is_all else 'at least '}{answer.dependentsBeyond} more beyond)" if answer.dependentsBeyond else ""
    )
    by_name = sum(each.byName for each in answer.dependents)
    beyond = (f", {by_name} of them by name alone" if by_name else "") + beyond
    parts = [
        f"{answer.filePath} exports {count_of(len(answer.exports), 'name')}",
        f"{count_of(answer.dependentsTotal, 'file depends', 'files depend')} on it{so_far}{beyond}",
        (describe_reach(reaching) if reaching else describe_cover(len(answer.tests))) + so_far,
    ]
    if answer.apiEndpoints:
        parts.append(f"it serves {count_of(len(answer.apiEndpoints), 'endpoint')}")
    if answer.websocketEvents:
        parts.append(f"it handles {count_of(len(answer.websocketEvents), 'event')}")
    if answer.dependentsTotal > _MAX_DEPENDENTS:
        parts.append(f"the first {_MAX_DEPENDENTS} are listed")
    return "; ".join(parts)
