"""The arguments that several operations on memories take: metadata, filters, times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from rag_ls.engine.project_view import ProjectView
from rag_ls.errors import InvalidRequest
from rag_ls.model import MemoryFilters, MemoryMetadata, MemoryType, Scope
from rag_ls.operations.arguments import Arguments
from rag_ls.util.text import utc_stamp

SCOPE_NAMES = tuple(scope.value for scope in Scope)
TYPE_NAMES = tuple(kind.value for kind in MemoryType)
PLACE_KEYS = ("line", "symbol")
METADATA_KEYS = (
    "tags", "source_file", "language", "chunk_index", "parent_id", "ast_node_type", "importance_score", "custom",
    "memory_type", "source_uri", "branch", *PLACE_KEYS,
)  # fmt: skip
FILTER_KEYS = ("tags", "memory_type", "language", "time_range", "branch", "never_recalled", "anchor", "path")
ANCHOR_STATES = ("fresh", "drifted", "orphaned", "any")
# The branch of a filter that wants those of all branches.
ALL_BRANCHES = "*"


def metadata_of(args: Arguments, view: ProjectView) -> MemoryMetadata:
    """What a caller says about a memory. Raises `InvalidRequest`, and `PathOutsideProject` for its source file."""
    importance = args.fraction("importance_score")
    source_file = args.text("source_file").strip()
    return MemoryMetadata(
        tags=args.strings("tags"),
        source_file=view.relative(source_file) if source_file else None,
        language=args.text("language").strip() or None,
        chunk_index=args.integer("chunk_index", least=0),
        parent_id=args.text("parent_id") or None,
        ast_node_type=args.text("ast_node_type") or None,
        importance_score=0.5 if importance is None else importance,
        custom=dict(args.mapping("custom")),
    )


def branch_of(args: Arguments, view: ProjectView, scope: Scope) -> str | None:
    """The git branch that a memory is to be tied to: its name, or true for the one that is checked out."""
    given = args.raw("branch")
    if given in (None, False, ""):
        return None
    name = view.code_memories.branch() if given is True else args.text("branch").strip()
    if scope is not Scope.PROJECT:
        raise InvalidRequest(f"a memory of scope {scope} cannot be tied to a branch; use scope project")
    if not name:
        raise InvalidRequest("no branch is checked out here; name one, or leave branch out")
    return name


def scopes_of(args: Arguments) -> tuple[Scope, ...]:
    """The scope that is asked for, or all."""
    scope = args.choice("scope", (*SCOPE_NAMES, "all"))
    return tuple(Scope) if scope in (None, "all") else (Scope(scope),)


def filters_of(args: Arguments) -> MemoryFilters:
    """The filters, given in `filters` or beside it. Anchors' states are the operation's business."""
    nested = Arguments("filters", args.mapping("filters"), FILTER_KEYS)
    kind = nested.choice("memory_type", TYPE_NAMES) or args.choice("memory_type", TYPE_NAMES)
    given = nested.mapping("time_range") or args.mapping("time_range")
    since, until = time_range(Arguments("time_range", given, ("start", "end")))
    branch = nested.text("branch").strip() or args.text("branch").strip()
    return MemoryFilters(
        scopes=scopes_of(args),
        tags=nested.strings("tags") or args.strings("tags"),
        memory_type=MemoryType(kind) if kind else None,
        language=(nested.text("language") or args.text("language")).strip(),
        since=since,
        until=until,
        branch=branch or None,
        never_used=nested.flag("never_recalled") or args.flag("never_recalled"),
    )


def on_branch(filters: MemoryFilters, view: ProjectView) -> MemoryFilters:
    """The filters with the branch that counts: the one named, else the one that is checked out; `*` for all."""
    if filters.branch == ALL_BRANCHES:
        return replace(filters, branch=None)
    return filters if filters.branch else replace(filters, branch=view.code_memories.branch())


def time_range(args: Arguments) -> tuple[str, str]:
    """Start and end as records hold times; empty where there is none. A day alone means all of it.

    Raises `InvalidRequest` for what is no time.
    """
    return _time(args, "start", timedelta()), _time(args, "end", timedelta(days=1, milliseconds=-1))


def _time(args: Arguments, key: str, rest_of_day: timedelta) -> str:
    text = args.text(key).strip()
    if not text:
        return ""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidRequest(
            f"time_range: {key} = {text!r} is no time; write 2026-01-31 or 2026-01-31T12:00:00Z"
        ) from error
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    try:
        return utc_stamp(at + rest_of_day if len(text) <= 10 else at)
    except OverflowError as error:
        raise InvalidRequest(f"time_range: {key} = {text!r} is out of range") from error


def patched(present: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON object with changes merged in: objects key by key, null removes a key (RFC 7396, "JSON Merge Patch")."""
    result = dict(present)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            former = result.get(key)
            result[key] = patched(former if isinstance(former, Mapping) else {}, value)
        else:
            result[key] = value
    return result
