"""Operations that tell how the rules of a project stand."""

# ruff: noqa: N815 - the keys are in camel case

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime

from rag_ls.engine import ProjectSession, count_rule_chunks, find_rules
from rag_ls.errors import RagLsError
from rag_ls.memory import utc_now
from rag_ls.operations.fields import NoArguments
from rag_ls.operations.operation import Caller, Tool, Verb, operation
from rag_ls.operations.rules.constraints import NO_RULES, tell_unread_rules
from rag_ls.operations.rules.setup import SUCCESS, CollectionStats
from rag_ls.rules import Decisions, read_decisions
from rag_ls.util.records import dataclass

_OLD_S = 7 * 24 * 3600.0
_CONSTRAINT_FILES = ("ARCHITECTURE.yml", "CONSTRAINTS.md", "CLAUDE.md")


@dataclass(frozen=True, slots=True)
class CollectionRecord:
    """Whether a collection exists, and its size."""

    exists: bool
    chunks: int


@dataclass(frozen=True, slots=True)
class RulesHealthAnswer:
    """Whether rules can be asked for."""

    healthy: bool
    collections: Mapping[str, CollectionRecord]
    constraintFiles: Mapping[str, bool]
    queryTest: str
    lastIndexed: str | None
    issues: tuple[str, ...]
    warnings: tuple[str, ...]
    status: str = SUCCESS


@operation(
    tool=Tool(
        "rules",
        "Why do rules or impact not answer? What to do.",
        (),
        ("healthy",),
        is_idempotent=True,
    ),
    command="ragLs.rulesHealth",
    verb=Verb("rules health", "show whether `rules check` and `rules impact` can answer, and what is missing"),
)
def rag_health_check(caller: Caller, request: NoArguments) -> RulesHealthAnswer:
    """Whether rules and impact can be asked for, and what is missing."""
    view = caller.rule_projects.current()
    root, counts = view.project.root, count_rule_chunks(view)
    decisions = read_decisions(root)
    issues, warnings = list[str](), list[str]()
    query_test = "failed"
    try:
        found = find_rules(view, "health check", ())
        # A question of nothing proves nothing.
        query_test = "passed" if found.has_rules and counts["codebase"] else "failed"
        warnings += [] if found.has_rules else [tell_unread_rules(view) or NO_RULES]
    except RagLsError as error:
        issues.append(str(error))
    if not counts["codebase"]:
        issues.append("the index is empty: rag_index makes it")
    files = {name: os.path.isfile(root / name) for name in _CONSTRAINT_FILES}
    warnings += [f"{name} is missing" for name, exists in files.items() if not exists]
    last = _find_last_indexed(view, decisions)
    if last and (utc_now() - datetime.fromisoformat(last)).total_seconds() > _OLD_S:
        warnings.append(f"the index is older than 7 days ({last}): rag_index makes it anew")
    if decisions is None:
        warnings.append("the project was never set up: rag_setup does that")
    collections = {name: CollectionRecord(chunks > 0, chunks) for name, chunks in counts.items()}
    return RulesHealthAnswer(
        healthy=not issues,
        collections=collections,
        constraintFiles=files,
        queryTest=query_test,
        lastIndexed=last,
        issues=tuple(issues),
        warnings=tuple(warnings),
    )


@dataclass(frozen=True, slots=True)
class RulesStatusAnswer:
    """The state of the project's rules."""

    initialized: bool
    projectRoot: str | None
    indexed: bool | None
    lastIndexed: str | None
    totalChunks: int | None
    collectionCounts: CollectionStats | None
    status: str = SUCCESS


@operation(
    needs_code=False,
    tool=Tool("rules", "How many rules are indexed, since when?", (), ("initialized",), is_idempotent=True),
    command="ragLs.rulesStatus",
    verb=Verb("rules status", "show how the rules of the project stand"),
)
def rag_status(caller: Caller, request: NoArguments) -> RulesStatusAnswer:
    """The state of the project's rules."""
    try:
        view = caller.rule_projects.current()
    except RagLsError:
        return RulesStatusAnswer(
            initialized=False, projectRoot=None, indexed=None, lastIndexed=None, totalChunks=None, collectionCounts=None
        )
    counts, decisions = count_rule_chunks(view), read_decisions(view.project.root)
    return RulesStatusAnswer(
        initialized=decisions is not None, projectRoot=str(view.project.root), indexed=counts["codebase"] > 0,
        lastIndexed=_find_last_indexed(view, decisions), totalChunks=sum(counts.values()),
        collectionCounts=CollectionStats(**counts),
    )  # fmt: skip


def _find_last_indexed(view: ProjectSession, decisions: Decisions | None) -> str | None:
    return view.project.last_sync or (decisions.last_indexed if decisions else None) or None
