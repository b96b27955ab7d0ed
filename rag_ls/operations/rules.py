"""Questions about rules: constraints for a change, what a file breaks, impact, and how it all stands."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from rag_ls.chunking import RuleKind
from rag_ls.engine.project_view import ProjectView
from rag_ls.engine.requests import SearchRequest
from rag_ls.errors import InvalidRequest, NotFound, RagLsError
from rag_ls.model import Hit, StoredChunk
from rag_ls.operations import rule_records as records
from rag_ls.operations.records import CodeAnswer, CodeRecord, Stats
from rag_ls.operations.records_of import file_of
from rag_ls.operations.requests import NoArguments
from rag_ls.operations.rule_projects import RuleProjects
from rag_ls.operations.rule_requests import (
    LEAST_DESCRIPTION_CHARACTERS,
    MAX_RESULTS,
    CheckConstraints,
    CheckFile,
    QueryImpact,
)
from rag_ls.rules.checks.checker import applies
from rag_ls.rules.checks.records import Violation
from rag_ls.rules.decisions import Decisions, read_decisions
from rag_ls.rules.diffs import FileChange, read_diff
from rag_ls.rules.finding import RuleHit
from rag_ls.search import is_data, is_docs, is_test
from rag_ls.util.paths import portable
from rag_ls.util.text import lines_of

DEFAULT_RESULTS = 5
# A rule that applies with a lower probability is noise for an agent.
_LEAST_RELEVANCE = 0.01
_MAX_DEPENDENTS = 200
_MAX_CHECKS = 30
_MAX_QUERY_CHARACTERS = 4000
_EXAMPLE_CHARACTERS, _EXAMPLE_CANDIDATES = 1500, 4
_OLD_S = 7 * 24 * 3600.0
_CONSTRAINT_FILES = ("ARCHITECTURE.yml", "CONSTRAINTS.md", "CLAUDE.md")


class RuleQuestions:
    """Answers from the rules of a client's projects."""

    def __init__(self, projects: RuleProjects, *, wait_s: float, now: Callable[[], datetime]) -> None:
        """A question waits `wait_s` for a model that is still loading."""
        self._projects = projects
        self._wait_s = wait_s
        self._now = now

    def check_constraints(self, asked: CheckConstraints) -> records.ConstraintsAnswer:
        """The constraints, patterns and examples for a planned change, a diff or a file."""
        count = _count("num_results", asked.num_results)
        if not (asked.change_description.strip() or asked.diff.strip() or asked.file_path.strip()):
            raise InvalidRequest(
                "rag_check_constraints needs change_description (the change in words), diff, or file_path"
            )
        description = asked.change_description.strip()
        if description and len(description) < LEAST_DESCRIPTION_CHARACTERS:
            raise InvalidRequest(
                f"change_description = {description!r} is too short: say in a few words what is to be changed"
            )
        view = self._projects.current()
        changes = read_diff(asked.diff) if asked.diff.strip() else []
        paths = [change.path for change in changes]
        if asked.file_path.strip():
            paths.insert(0, view.relative(portable(asked.file_path)))
        text = "\n".join(filter(None, (description, *(change.text for change in changes))))[:_MAX_QUERY_CHARACTERS]
        query = text or " ".join(paths)
        if not view.store.counts().documents:
            raise NotFound(f"the index of {view.project.root} is empty; rag_index makes it")
        found = view.rules.find(f"{query}\n{' '.join(paths)}" if text else query, paths, wait_for_model_s=self._wait_s)
        told = [hit for hit in found if hit.relevance >= _LEAST_RELEVANCE or hit.names_path]
        constraints, patterns = (
            [_rule_record(hit) for hit in told if hit.kind is kind][:count]
            for kind in (RuleKind.CONSTRAINT, RuleKind.PATTERN)
        )
        examples = self._examples(view, text, count) if description else ()
        broken = tuple(each for change in changes for each in _broken_by(view, change))
        checks = tuple(
            f"{rule.id}: {rule.message}" if rule.message else rule.id
            for rule in (view.checks.rules().rules if asked.file_path.strip() else ())
            if applies(rule, paths[0])
        )
        summary = _constraints_summary(constraints, patterns, examples, has_rules=bool(found))
        if broken:
            summary = f"{len(broken)} rules are broken by the diff: see violations; {summary}"
        return records.ConstraintsAnswer(
            query, tuple(constraints), tuple(patterns), examples, summary, broken, checks[:_MAX_CHECKS]
        )

    def check_file(self, asked: CheckFile) -> records.CheckedFileAnswer:
        """What breaks a rule that a machine checks in a file, as it is on disk or typed."""
        view = self._projects.current(asked.file_path)
        path = view.relative(portable(asked.file_path))
        found = view.checks.violations(path, view.checks.text_of(path))
        return records.CheckedFileAnswer(path, tuple(_violation_record(each) for each in found))

    def query_impact(self, asked: QueryImpact) -> records.ImpactAnswer:
        """What a change of a file would touch."""
        count = _count("num_similar", asked.num_similar)
        view = self._projects.current(asked.file_path)
        if not view.store.counts().documents:
            raise NotFound(f"the index of {view.project.root} is empty; rag_index makes it")
        found = view.rules.impact(asked.file_path, asked.symbol.strip(), count)
        direct = found.dependents.direct
        answer = records.ImpactAnswer(
            found.path,
            tuple(dict.fromkeys(item.symbol for item in found.exports)),
            tuple(dict.fromkeys(f"{each.method} {each.route}" for each in found.endpoints)),
            tuple(dict.fromkeys(each.name for each in found.events)),
            tuple(records.DependentRecord(each.path, each.imports, each.names) for each in direct[:_MAX_DEPENDENTS]),
            tuple(records.SimilarRecord(each.path, each.similarity, each.reason) for each in found.similar),
            "", found.tests,
            tuple(
                records.AnchoredMemory(item.id, item.content, item.anchor.start_line if item.anchor else None)
                for item in found.memories
            ),
            len(direct), found.dependents.beyond,
        )  # fmt: skip
        return replace(answer, summary=_impact_summary(answer, is_all=found.dependents.is_all))

    def search(self, query: str, k: int | None) -> CodeAnswer:
        """The sections of rule documents that fit a question, as hits."""
        views, started = self._projects.asked(), time.perf_counter()
        found = [
            _hit_record(view, hit)
            for view in views
            for hit in view.rules.find(query, (), wait_for_model_s=self._wait_s)
        ]
        found.sort(key=lambda record: -record.score)
        queued, pending = (sum(counts) for counts in zip(*(view.store.queue_lengths() for view in views), strict=True))
        stats = Stats(
            round((time.perf_counter() - started) * 1000, 1), views[0].model(0.0) is not None, len(found),
            all(view.indexing.scanned for view in views) and not (queued or pending), queued or None, pending or None,
        )  # fmt: skip
        return CodeAnswer(query, tuple(found[: k or DEFAULT_RESULTS]), stats)

    # --- how it stands

    def health(self, asked: NoArguments) -> records.RulesHealthAnswer:
        """Whether rules and impact can be asked for, and what is missing."""
        view = self._projects.current()
        root, counts = view.project.root, view.rules.chunk_counts()
        decisions = read_decisions(root)
        issues, warnings = list[str](), list[str]()
        query_test = "passed"
        try:
            view.rules.find("health check", ())
        except RagLsError as error:
            query_test = "failed"
            issues.append(str(error))
        if not counts["codebase"]:
            issues.append("the index is empty: rag_index makes it")
        if not counts["constraints"]:
            warnings.append("no constraints are indexed: rag_setup writes ARCHITECTURE.yml, or write CONSTRAINTS.md")
        files = {name: os.path.isfile(root / name) for name in _CONSTRAINT_FILES}
        warnings += [f"{name} is missing" for name, exists in files.items() if not exists]
        last = _last_indexed(view, decisions)
        if last and (self._now() - datetime.fromisoformat(last)).total_seconds() > _OLD_S:
            warnings.append(f"the index is older than 7 days ({last}): rag_index makes it anew")
        if decisions is None:
            warnings.append("the project was never set up: rag_setup does that")
        collections = {name: records.CollectionRecord(chunks > 0, chunks) for name, chunks in counts.items()}
        return records.RulesHealthAnswer(
            not issues, collections, files, query_test, last, tuple(issues), tuple(warnings)
        )

    def status(self, asked: NoArguments) -> records.RulesStatusAnswer:
        """How the rules of the project stand; without a project, that there is none."""
        try:
            view = self._projects.current()
        except RagLsError:
            return records.RulesStatusAnswer(False, None, None, None, None, None)
        counts, decisions = view.rules.chunk_counts(), read_decisions(view.project.root)
        return records.RulesStatusAnswer(
            decisions is not None, str(view.project.root), counts["codebase"] > 0, _last_indexed(view, decisions),
            sum(counts.values()), records.CollectionStats(**counts),
        )  # fmt: skip

    def _examples(self, view: ProjectView, query: str, count: int) -> tuple[records.ExampleRecord, ...]:
        # More than is shown, instead of a filter: a filtered search looks at every document.
        answer = view.search(SearchRequest(query, _EXAMPLE_CANDIDATES * count), wait_for_model_s=self._wait_s)
        return tuple(_example(hit) for hit in answer.hits if _is_code(hit))[:count]


def _broken_by(view: ProjectView, change: FileChange) -> list[records.ViolationRecord]:
    """The rules that the added lines of a file break: in the file, if it holds them already, else in these lines alone."""
    text = view.checks.text_of(change.path)
    lines = lines_of(text)
    numbers = {number for number, _ in change.lines}
    is_there = all(number <= len(lines) and lines[number - 1] == line for number, line in change.lines)
    if is_there:
        found = view.checks.violations(change.path, text)
        return [_violation_record(each) for each in found if each.place.line in numbers]
    found = view.checks.violations(change.path, change.text)
    added = [number for number, _ in change.lines]
    return [replace(_violation_record(each), line=added[each.place.line - 1]) for each in found]


def _violation_record(found: Violation) -> records.ViolationRecord:
    return records.ViolationRecord(
        found.rule, found.severity.value, found.message, found.path, found.place.line, found.see
    )


def _count(name: str, given: int | None) -> int:
    count = DEFAULT_RESULTS if given is None else given
    if not 1 <= count <= MAX_RESULTS:
        raise InvalidRequest(f"{name} = {count} is not within 1 to {MAX_RESULTS}")
    return count


def _lines(start: int, end: int) -> str:
    return f"{start}-{end}"


def _rule_record(hit: RuleHit) -> records.RuleRecord:
    chunk = hit.row.stored.chunk
    return records.RuleRecord(
        chunk.text.strip(), chunk.path, hit.kind.value, hit.relevance, tuple(rule.text for rule in hit.key_rules),
        _lines(chunk.start_line, chunk.end_line), tuple(rule.line for rule in hit.key_rules), chunk.symbol, hit.why, hit.names_path,
    )  # fmt: skip


def _hit_record(view: ProjectView, hit: RuleHit) -> CodeRecord:
    chunk, stored = hit.row.stored.chunk, hit.row.stored
    return CodeRecord(
        "rule", stored.id, chunk.path, chunk.start_line, chunk.end_line, chunk.language, chunk.symbol, chunk.node_type,
        hit.relevance, (hit.kind.value,), "buffer" if stored.session else "disk", file=file_of(view, chunk.path),
        why=hit.why, text=chunk.text,
    )  # fmt: skip


def _is_code(hit: Hit) -> bool:
    if not isinstance(hit.item, StoredChunk):
        return False
    chunk = hit.item.chunk
    return not (is_test(chunk.path) or is_docs(chunk.language) or is_data(chunk.language))


def _example(hit: Hit) -> records.ExampleRecord:
    assert isinstance(hit.item, StoredChunk)
    chunk = hit.item.chunk
    text = chunk.text if len(chunk.text) <= _EXAMPLE_CHARACTERS else chunk.text[:_EXAMPLE_CHARACTERS] + "\n…"
    return records.ExampleRecord(
        text, chunk.path, _lines(chunk.start_line, chunk.end_line), "code", round(max(0.0, min(1.0, hit.score)), 4)
    )


def _last_indexed(view: ProjectView, decisions: Decisions | None) -> str | None:
    return view.shared.last_sync or (decisions.last_indexed if decisions else None) or None


def _constraints_summary(
    constraints: Sequence[records.RuleRecord], patterns: Sequence[records.RuleRecord],
    examples: Sequence[records.ExampleRecord], *, has_rules: bool,
) -> str:  # fmt: skip
    if not has_rules:
        return (
            "this project has no rules yet: rag_setup writes ARCHITECTURE.yml and docs/patterns from the code, or write "
            f"CONSTRAINTS.md by hand; {len(examples)} examples in code"
        )
    rules = sum(len(record.keyRules) for record in constraints)
    if not constraints and not patterns:
        return f"no rule seems to be about this; {len(examples)} examples in code"
    return f"{len(constraints)} constraints with {rules} key rules, {len(patterns)} patterns, {len(examples)} examples in code"


def _impact_summary(answer: records.ImpactAnswer, *, is_all: bool) -> str:
    beyond = (
        f" ({'' if is_all else 'at least '}{answer.dependentsBeyond} more beyond)" if answer.dependentsBeyond else ""
    )
    parts = [
        f"{answer.filePath} exports {len(answer.exports)} names",
        f"{answer.dependentsTotal} files depend on it{beyond}",
        f"{len(answer.tests)} tests cover it",
    ]
    if answer.apiEndpoints:
        parts.append(f"it serves {len(answer.apiEndpoints)} endpoints")
    if answer.websocketEvents:
        parts.append(f"it handles {len(answer.websocketEvents)} events")
    if answer.dependentsTotal > _MAX_DEPENDENTS:
        parts.append(f"the first {_MAX_DEPENDENTS} are listed")
    return "; ".join(parts)
