"""The operation that tells what a change of a file, or all that differs from a git revision, would touch."""

# ruff: noqa: N815 - the keys are in camel case

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_ls.chunking import stem_of
from rag_ls.engine import (
    FileImpact,
    Impact,
    ProjectSession,
    ReachingTest,
    describe_cover,
    describe_reach,
    find_change_impact,
    find_impact,
    find_rules,
    merge_dependents,
    read_facts_apart,
    split_owner,
)
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.model import Memory
from rag_ls.operations.code.lookup import count_unread, note_secrets, note_unread
from rag_ls.operations.code.preparation import QuestionScope, read_all, read_first
from rag_ls.operations.code.references import describe_lines
from rag_ls.operations.fields import argument, optional
from rag_ls.operations.operation import Caller, Tool, Verb, operation
from rag_ls.operations.rules.constraints import (
    MAX_QUERY_CHARACTERS,
    ViolationRecord,
    check_count,
    find_broken,
    keep_gravest,
)
from rag_ls.operations.rules.setup import SUCCESS
from rag_ls.rules import CLEAR_RELEVANCE, ChangedFile, Dependent, FileChange, read_changes
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import count_of

_MAX_FILES = 300
_MAX_MUST_CHANGE = 100
_MAX_RULES = 8
_LEFT_OUT = "left out of the index: not looked into"


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
    byName: bool = optional(False)
    """Whether it uses the name alone, and may mean another declaration."""


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
    filePath: str = optional("")
    state: str = optional("")
    """The state of its anchor, for a change: `fresh`, `drifted` or `orphaned`."""


@dataclass(frozen=True, slots=True)
class ChangedNameRecord:
    """A public name that a change touches."""

    name: str
    line: int
    change: str
    """`added`, `removed`, `signature` (its declaration changed) or `body`."""


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """A file that differs from the revision."""

    filePath: str
    status: str
    """`added`, `changed`, `deleted` or `renamed`."""
    formerPath: str = optional("")
    """Its path before it was renamed."""
    names: tuple[ChangedNameRecord, ...] = optional(())
    """The public names that the change touches."""
    mustChange: tuple[DependentRecord, ...] = optional(())
    """The files that use a name that is gone, and those outside the change that use one whose declaration changed, with lines."""
    dependentsTotal: int = 0
    """The number of files outside the change that depend on it."""
    tests: tuple[str, ...] = optional(())
    note: str = optional("")
    """The reason why its names were not compared."""


@dataclass(frozen=True, slots=True)
class SpeakingRule:
    """A section of a rule document that a change should heed."""

    filePath: str
    lines: str
    section: str
    relevance: float
    keyRules: tuple[str, ...] = optional(())


@dataclass(frozen=True, slots=True)
class ImpactAnswer:
    """The files, tests, memories and rules that a change of a file would touch."""

    filePath: str
    exports: tuple[str, ...]
    apiEndpoints: tuple[str, ...]
    websocketEvents: tuple[str, ...]
    dependents: tuple[DependentRecord, ...]
    similarFiles: tuple[SimilarRecord, ...]
    summary: str
    tests: tuple[str, ...] = ()
    testsThrough: tuple[ReachingRecord, ...] = optional(())
    """The tests that reach it through other files, if no test imports it."""
    memories: tuple[AnchoredMemory, ...] = optional(())
    dependentsTotal: int = 0
    dependentsBeyond: int = 0
    """The number of files that depend on the dependents, and on these, and so on."""
    base: str = optional("")
    """The commit that a change was compared with."""
    changes: tuple[ChangeRecord, ...] = optional(())
    """The files that differ from it; `dependents` are then the files that must change too, `exports` the names that change."""
    rules: tuple[SpeakingRule, ...] = optional(())
    """The rules for the change."""
    violations: tuple[ViolationRecord, ...] = optional(())
    """The rules that its new lines break."""
    notes: tuple[str, ...] = optional(())
    """Notes on parts that the answer leaves out."""
    status: str = SUCCESS


def make_dependent(found: Dependent) -> DependentRecord:
    uses = tuple(UseRecord(line, name) for line, name in found.uses)
    return DependentRecord(
        filePath=found.path, imports=found.imports, names=found.names, lines=found.lines, uses=uses, byName=found.is_by_name
    )  # fmt: skip


def answer_change(caller: Caller, view: ProjectSession, revision: str) -> ImpactAnswer:
    """The impact of all that differs from a git revision. Raises `InvalidRequest` where git cannot tell."""
    changes = read_changes(view.project.root, revision)
    files = _without_secrets(view, changes.files[:_MAX_FILES])
    found = find_change_impact(view, files)
    breaking = merge_dependents([each for impact in found for each in impact.breaking])
    notes = [*changes.notes, *_note_partial(view, len(changes.files))]
    added = [impact.file.added_lines for impact in found]
    rules = _find_speaking(caller, view, added)
    violations = tuple(
        each
        for impact, lines in zip(found, added, strict=True)
        if impact.file.after
        for each in find_broken(view, lines)
    )
    tests = tuple(sorted({test for impact in found for test in impact.tests}))
    records = tuple(map(_make_change, found))
    endpoints = list(dict.fromkeys(each for impact in found for each in _endpoints(view, impact, impact.file.after)))
    former = dict.fromkeys(each for impact in found for each in _endpoints(view, impact, impact.file.before))
    gone = [each for each in former if each not in endpoints]
    notes += [f"{each} is gone: who calls it from elsewhere cannot be seen here" for each in gone]
    return ImpactAnswer(
        filePath="", exports=tuple(dict.fromkeys(each.name for impact in found for each in impact.names)),
        apiEndpoints=(*endpoints, *gone), websocketEvents=(), dependents=tuple(map(make_dependent, breaking[:_MAX_MUST_CHANGE])),
        similarFiles=(), summary=_summarize(found, len(breaking), len(tests), len(rules), len(violations), changes.base),
        tests=tests, memories=tuple(_make_memories(found)), dependentsTotal=len(breaking), base=changes.base, changes=records,
        rules=rules, violations=keep_gravest(violations), notes=tuple(notes),
    )  # fmt: skip


def _without_secrets(view: ProjectSession, files: Sequence[ChangedFile]) -> list[ChangedFile]:
    """The files without the texts of those that the index leaves out: what is excluded is read by nobody."""
    admitted = view.project.admissions.files([file.path for file in files if file.after])
    return [
        file if not file.after or file.path in admitted else replace(file, before="", after="", note=_LEFT_OUT)
        for file in files
    ]


def _note_partial(view: ProjectSession, files: int) -> Iterator[str]:
    if files > _MAX_FILES:
        yield f"{files} files differ: the first {_MAX_FILES} were looked at"
    queued = view.store.queue.count()
    if queued or not view.indexing.scanned:
        unread = (
            f"{count_of(queued, 'file is', 'files are')} not read yet" if queued else "the files are still compared"
        )
        yield f"{unread}: dependents and tests may be missing; `rag-ls index` reads all"
    if note := note_secrets([view]):
        yield note


def _find_speaking(caller: Caller, view: ProjectSession, added: Sequence[FileChange]) -> tuple[SpeakingRule, ...]:
    paths = [each.path for each in added]
    text = "\n".join([*paths, *(each.text for each in added)])[:MAX_QUERY_CHARACTERS]
    found = find_rules(view, text, paths, wait_for_model_s=caller.wait_s).hits if paths else []
    told = [hit for hit in found if hit.names_path or hit.relevance >= CLEAR_RELEVANCE][:_MAX_RULES]
    return tuple(
        SpeakingRule(
            filePath=hit.row.stored.chunk.path,
            lines=f"{hit.row.stored.chunk.start_line}-{hit.row.stored.chunk.end_line}",
            section=hit.row.stored.chunk.symbol, relevance=hit.relevance,
            keyRules=tuple(rule.text for rule in hit.key_rules),
        )
        for hit in told
    )  # fmt: skip


def _endpoints(view: ProjectSession, impact: FileImpact, text: str) -> Iterator[str]:
    """The endpoints of one of the two texts of a file that is no test."""
    if impact.language and text and not view.project.roles.is_test(impact.file.path):
        for each in read_facts_apart(view, impact.file.path, impact.language, text).endpoints:
            yield f"{each.method} {each.route}"


def _make_change(impact: FileImpact) -> ChangeRecord:
    file = impact.file
    return ChangeRecord(
        filePath=file.path, status=file.status.value, formerPath=file.former_path if file.former_path != file.path else "",
        names=tuple(ChangedNameRecord(each.name, each.line, each.change.value) for each in impact.names),
        mustChange=tuple(map(make_dependent, impact.breaking[:_MAX_MUST_CHANGE])), dependentsTotal=len(impact.dependents),
        tests=impact.tests, note=file.note,
    )  # fmt: skip


def _make_memories(found: Sequence[FileImpact]) -> Iterator[AnchoredMemory]:
    known: dict[str, tuple[str, Memory]] = {}
    for impact in found:
        for item in impact.memories:
            known.setdefault(item.id, (impact.file.path, item))
    for path, item in known.values():
        anchor = item.anchor
        yield AnchoredMemory(
            item.id, item.content, anchor.start_line if anchor else None, filePath=path,
            state=anchor.state.value if anchor else "",
        )  # fmt: skip


def _summarize(found: Sequence[FileImpact], breaking: int, tests: int, rules: int, violations: int, base: str) -> str:
    if not found:
        return f"nothing differs from {base}"
    names = sum(len(impact.names) for impact in found)
    parts = [
        f"{count_of(len(found), 'file differs', 'files differ')} from {base}",
        f"{count_of(names, 'public name')} touched",
        f"{count_of(breaking, 'file')} must still change along" if breaking else "no other file must change along",
        describe_cover(tests),
        *([f"{count_of(rules, 'section of rules speaks', 'sections of rules speak')} of it"] if rules else []),
        *([f"it breaks a checked rule in {count_of(violations, 'place')}"] if violations else []),
    ]
    return "; ".join(parts)


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
