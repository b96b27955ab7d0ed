"""Operations that tell the rules for a change, and what a file breaks."""

# ruff: noqa: N815 - the keys are in camel case

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from rag_ls.chunking import RuleKind, rule_kind
from rag_ls.engine import ProjectSession, SearchRequest, find_rules
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.model import Hit, StoredChunk
from rag_ls.operations.code.hits import CodeAnswer, CodeRecord, locate_file
from rag_ls.operations.code.lookup import note_secrets
from rag_ls.operations.code.preparation import QuestionScope, read_first
from rag_ls.operations.fields import argument, optional
from rag_ls.operations.operation import Caller, Tool, Verb, operation
from rag_ls.operations.rules.setup import SUCCESS
from rag_ls.operations.stats import Stats
from rag_ls.rules import (
    CLEAR_RELEVANCE,
    FileChange,
    FoundRules,
    RuleHit,
    Severity,
    Violation,
    applies,
    find_files,
    read_diff,
)
from rag_ls.search import Roles, is_data, is_docs
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import count_of, fold, lines_of

MAX_RESULTS = 20
LEAST_DESCRIPTION_CHARACTERS = 3
DEFAULT_RESULTS = 5
# A rule that applies with a lower probability is noise. The words of a path alone, without a change, tell less.
_MIN_RELEVANCE, _MIN_RELEVANCE_TO_PATH = 0.05, 0.01
_MAX_UNCLEAR = 3
_MAX_MISSING, _MAX_NAME_CHARACTERS = 3, 120
_MAX_CHECKS = 30
MAX_VIOLATIONS = 100
"""The places that break a rule which an answer names; the others are counted."""
MAX_QUERY_CHARACTERS = 4000
NO_RULES = (
    "this project has no rules yet: rag_setup writes ARCHITECTURE.yml and docs/patterns from the code, or write "
    "CONSTRAINTS.md by hand"
)
_EXAMPLE_CHARACTERS, _EXAMPLE_CANDIDATES = 1500, 4


@dataclass(frozen=True, slots=True)
class CheckConstraints:
    """A planned change in words, a diff, or a file that is about to be edited: one of the three is enough."""

    change_description: str = argument("", "what is to be changed, in words")
    num_results: int | None = argument(None, "how many results of each kind, 1 to 20 (default: 5)")
    diff: str = argument("", "a unified diff; `-` reads it from the standard input")
    file_path: str = argument("", "the file about to be edited", flag="--file", is_path=True)


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """A section of a rule document."""

    content: str
    filePath: str
    type: str
    relevance: float
    keyRules: tuple[str, ...]
    lines: str
    keyRuleLines: tuple[int, ...] = optional(())
    """The line of each key rule."""
    section: str = optional("")
    why: str = optional("")
    namesPath: bool = optional(False)
    """Whether it names a file of the change, or stands in a folder above one."""


@dataclass(frozen=True, slots=True)
class ExampleRecord:
    """Code that does what the change is about."""

    content: str
    filePath: str
    lines: str
    type: str
    relevance: float


@dataclass(frozen=True, slots=True)
class ViolationRecord:
    """A place that breaks a rule that a machine checks."""

    rule: str
    severity: str
    message: str
    filePath: str
    line: int
    see: str = optional("")
    """The pattern to follow."""


@dataclass(frozen=True, slots=True)
class ConstraintsAnswer:
    """The rules that apply to a planned change."""

    query: str
    constraints: tuple[RuleRecord, ...]
    patterns: tuple[RuleRecord, ...]
    examples: tuple[ExampleRecord, ...]
    summary: str
    violations: tuple[ViolationRecord, ...] = optional(())
    """The rules that the added lines of a diff break."""
    checks: tuple[str, ...] = optional(())
    """The rules that a machine checks in a file: `id: message`."""
    status: str = SUCCESS


@operation(
    tool=Tool(
        "rules",
        "Which rules apply to a change, in words, a diff or a file? Ask before you write code.",
        ("change_description", "num_results", "diff", "file_path"),
        ("summary",),
        is_idempotent=True,
    ),
    command="ragLs.checkConstraints",
    verb=Verb(
        "rules check",
        "show the rules for a planned change, a diff, or a file",
        ("change_description",),
        example='rag-ls rules check "let the cart call the bank"',
    ),
)
def rag_check_constraints(caller: Caller, request: CheckConstraints) -> ConstraintsAnswer:
    """The rules for a planned change, a diff, or a file about to be edited."""
    count = check_count("num_results", request.num_results)
    if not (request.change_description.strip() or request.diff.strip() or request.file_path.strip()):
        raise InvalidRequest("rag_check_constraints needs change_description (the change in words), diff, or file_path")
    description = request.change_description.strip()
    if description and len(description) < LEAST_DESCRIPTION_CHARACTERS:
        raise InvalidRequest(f"the change {description!r} is too short: say in a few words what is to be changed")
    view = caller.rule_projects.current()
    changes, missing = find_files(view.project.root, read_diff(request.diff) if request.diff.strip() else [])
    lost = _tell_missing_files(view, missing)
    if missing and len(missing) == len(changes):
        raise InvalidRequest(f"{lost}; nothing was checked: give a diff whose paths count from there")
    paths = [change.path for change in changes]
    if request.file_path.strip():
        paths.insert(0, view.relative(request.file_path))
    text = "\n".join(filter(None, (description, *(change.text for change in changes))))[:MAX_QUERY_CHARACTERS]
    query = text or " ".join(paths)
    if text or not view.store.counts().documents:
        # A question about a file alone is asked before each edit, and waits for nothing but an index.
        read_first(caller, [view], QuestionScope(query, paths[0] if paths else "", rules=True), compares=True)
    if not view.store.counts().documents:
        raise NotFound(f"the index of {view.project.root} is empty; rag_index makes it")
    found = find_rules(view, query, paths, wait_for_model_s=caller.wait_s)
    least = _MIN_RELEVANCE if text else _MIN_RELEVANCE_TO_PATH
    told = [hit for hit in found.hits if hit.relevance >= least or hit.names_path]
    is_clear = any(hit.relevance >= CLEAR_RELEVANCE or (hit.names_file if text else hit.names_path) for hit in told)
    most = count if is_clear else min(count, _MAX_UNCLEAR)
    shown = {kind: _choose([hit for hit in told if hit.kind is kind])[:most] for kind in RuleKind}
    constraints, patterns = (
        [_make_rule_record(hit) for hit in shown[kind]] for kind in (RuleKind.CONSTRAINT, RuleKind.PATTERN)
    )
    examples = _find_examples(caller, view, text, count) if description else ()
    broken = tuple(each for change in changes for each in find_broken(view, change))
    checks = tuple(
        f"{rule.id}: {rule.message}" if rule.message else rule.id
        for rule in (view.checks.rules().rules if request.file_path.strip() else ())
        if applies(rule, paths[0])
    )
    unread = "" if constraints or patterns else tell_unread_rules(view)
    summary = _summarize_constraints(constraints, patterns, examples, found, is_clear=is_clear, unread=unread)
    summary = "; ".join(filter(None, (summary, lost, note_secrets([view]))))
    if broken:
        rules = count_of(len({each.rule for each in broken}), "rule is", "rules are")
        see = f"violations has the gravest {MAX_VIOLATIONS}" if len(broken) > MAX_VIOLATIONS else "see violations"
        summary = f"{rules} broken by the diff in {count_of(len(broken), 'place')}: {see}; {summary}"
    return ConstraintsAnswer(
        query=query,
        constraints=tuple(constraints),
        patterns=tuple(patterns),
        examples=examples,
        summary=summary,
        violations=keep_gravest(broken),
        checks=checks[:_MAX_CHECKS],
    )


def _choose(hits: Iterable[RuleHit]) -> list[RuleHit]:
    """The rules of one kind as they are told: those of the team's own that clearly speak of the change before all that set-up wrote."""
    return sorted(hits, key=lambda hit: (hit.is_surveyed or hit.relevance < CLEAR_RELEVANCE, -hit.relevance))


def _tell_missing_files(view: ProjectSession, missing: Sequence[str]) -> str:
    """A sentence about the files of a diff that are not there; "" if all are."""
    more = f" and {len(missing) - _MAX_MISSING} more" if len(missing) > _MAX_MISSING else ""
    named = ", ".join(fold(path, _MAX_NAME_CHARACTERS) for path in missing[:_MAX_MISSING]) + more
    verb = "is" if len(missing) == 1 else "are"
    return f"{named} of the diff {verb} not in {view.project.root}" if missing else ""


def _find_examples(caller: Caller, view: ProjectSession, query: str, count: int) -> tuple[ExampleRecord, ...]:
    # Fetch more than is shown instead of filtering: a filtered search looks at every document.
    answer = view.search(SearchRequest(query, _EXAMPLE_CANDIDATES * count), wait_for_model_s=caller.wait_s)
    return tuple(_make_example(hit) for hit in answer.hits if _is_code(hit, view.project.roles))[:count]


def find_broken(view: ProjectSession, change: FileChange) -> list[ViolationRecord]:
    """The rules that the added lines of a file break: in the file, if it holds them already, else in these lines alone."""
    text = view.checks.text_of(change.path)
    lines = lines_of(text)
    numbers = {number for number, _ in change.lines}
    is_there = all(number <= len(lines) and lines[number - 1] == line for number, line in change.lines)
    if is_there:
        found = view.checks.violations(change.path, text)
        return [_make_violation(each) for each in found if each.place.line in numbers]
    found = view.checks.violations(change.path, change.text)
    added = [number for number, _ in change.lines]
    return [replace(_make_violation(each), line=added[each.place.line - 1]) for each in found]


def keep_gravest(broken: Sequence[ViolationRecord]) -> tuple[ViolationRecord, ...]:
    """The places that an answer names: of too many the gravest, or a rule that matches everything would hide an error."""
    if len(broken) <= MAX_VIOLATIONS:
        return tuple(broken)
    order = [each.value for each in Severity]
    return tuple(sorted(broken, key=lambda each: order.index(each.severity))[:MAX_VIOLATIONS])


def _make_violation(found: Violation) -> ViolationRecord:
    return ViolationRecord(
        rule=found.rule,
        severity=found.severity.value,
        message=found.message,
        filePath=found.path,
        line=found.place.line,
        see=found.see,
    )


@dataclass(frozen=True, slots=True)
class CheckFile:
    file_path: str = argument(doc="a file, relative to the project's root", is_path=True)
    former_text: str | None = argument(None, "its text before an edit: only what the edit made is listed")


@dataclass(frozen=True, slots=True)
class CheckedFileAnswer:
    """The places in a file that break a rule."""

    filePath: str
    violations: tuple[ViolationRecord, ...]
    """The first hundred, errors before all others."""
    total: int
    status: str = SUCCESS


@operation(command="ragLs.checkFile")
def check_file(caller: Caller, request: CheckFile) -> CheckedFileAnswer:
    """The places that break a checkable rule in a file as it is now."""
    view = caller.rule_projects.current(request.file_path)
    path, checks, former = view.relative(request.file_path), view.checks, request.former_text
    text = checks.text_of(path)
    found = checks.violations(path, text) if former is None else checks.violations_of_edit(path, former, text)
    return CheckedFileAnswer(path, keep_gravest([*map(_make_violation, found)]), len(found))


def search_rules(caller: Caller, query: str, k: int | None) -> CodeAnswer:
    """The sections of rule documents that fit a question, as hits."""
    views, started = caller.rule_projects.all(), time.perf_counter()
    found = [
        _make_rule_hit(view, hit)
        for view in views
        for hit in find_rules(view, query, (), wait_for_model_s=caller.wait_s).hits
    ]
    found.sort(key=lambda record: -record.score)
    queued, pending = (sum(counts) for counts in zip(*(view.count_awaited() for view in views), strict=True))
    stats = Stats(
        took_ms=round((time.perf_counter() - started) * 1000, 1), dense=views[0].project.model() is not None,
        candidates=len(found), complete=all(view.indexing.scanned for view in views) and not (queued or pending),
        pending_documents=queued or None, pending_embeddings=pending or None,
    )  # fmt: skip
    return CodeAnswer(query, tuple(found[: k or DEFAULT_RESULTS]), stats)


def check_count(name: str, given: int | None) -> int:
    count = DEFAULT_RESULTS if given is None else given
    if not 1 <= count <= MAX_RESULTS:
        raise InvalidRequest(f"{name} = {count} is not within 1 to {MAX_RESULTS}")
    return count


def _make_rule_record(hit: RuleHit) -> RuleRecord:
    chunk = hit.row.stored.chunk
    return RuleRecord(
        content=chunk.text.strip(), filePath=chunk.path, type=hit.kind.value, relevance=hit.relevance,
        keyRules=tuple(rule.text for rule in hit.key_rules), lines=f"{chunk.start_line}-{chunk.end_line}",
        keyRuleLines=tuple(rule.line for rule in hit.key_rules), section=chunk.symbol, why=hit.why,
        namesPath=hit.names_path,
    )  # fmt: skip


def _make_rule_hit(view: ProjectSession, hit: RuleHit) -> CodeRecord:
    chunk, stored = hit.row.stored.chunk, hit.row.stored
    return CodeRecord(
        kind="rule", id=stored.id, path=chunk.path, start_line=chunk.start_line, end_line=chunk.end_line,
        language=chunk.language, symbol=chunk.symbol, node_type=chunk.node_type, score=hit.relevance,
        matched_by=(hit.kind.value,), freshness="buffer" if stored.session else "disk",
        file=locate_file(view, chunk.path), why=hit.why, text=chunk.text,
    )  # fmt: skip


def _is_code(hit: Hit, roles: Roles) -> bool:
    if not isinstance(hit.item, StoredChunk):
        return False
    chunk = hit.item.chunk
    return not (roles.is_test(chunk.path) or is_docs(chunk.language) or is_data(chunk.language))


def _make_example(hit: Hit) -> ExampleRecord:
    assert isinstance(hit.item, StoredChunk)
    chunk = hit.item.chunk
    text = chunk.text if len(chunk.text) <= _EXAMPLE_CHARACTERS else chunk.text[:_EXAMPLE_CHARACTERS] + "\n…"
    return ExampleRecord(
        text,
        chunk.path,
        f"{chunk.start_line}-{chunk.end_line}",
        "code",
        round(max(0.0, min(1.0, hit.score)), 4),
    )


def tell_unread_rules(view: ProjectSession) -> str:
    """The documents of rules that may be unread; "" where all are read."""
    if not view.indexing.scanned:
        return "the files are still compared, and rules may be missing: ask again"
    count = sum(rule_kind(path) is not None for path in view.store.queue.paths())
    unread = count_of(count, "document of rules is", "documents of rules are")
    return f"{unread} not read yet: ask again" if count else ""


def _summarize_constraints(
    constraints: Sequence[RuleRecord], patterns: Sequence[RuleRecord],
    examples: Sequence[ExampleRecord], found: FoundRules, *, is_clear: bool, unread: str,
) -> str:  # fmt: skip
    rules = count_of(sum(len(record.keyRules) for record in constraints), "key rule")
    if unread:
        said = f"no rule that is read seems to be about this; {unread}"
    elif not found.has_rules:
        said = NO_RULES
    elif not constraints and not patterns:
        said = "no rule seems to be about this"
    elif not is_clear:
        said = "no rule clearly speaks of this; the nearest sections are shown"
    else:
        sections = count_of(len(constraints), "section")
        said = f"{sections} of constraints with {rules}, {len(patterns)} of patterns"
    separator = ", " if is_clear else "; "
    return f"{said}{separator}{count_of(len(examples), 'example')} in code"
