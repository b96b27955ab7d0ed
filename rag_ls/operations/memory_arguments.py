"""Reads the arguments that operations on memories share: metadata, filters, times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from rag_ls.engine.project_view import ProjectView
from rag_ls.errors import InvalidRequest
from rag_ls.model import MemoryFilters, MemoryMetadata, MemoryType, Scope
from rag_ls.operations.parsing import parsed
from rag_ls.operations.requests import Filters, Metadata, TimeRange
from rag_ls.util.text import utc_stamp

PLACE_KEYS = ("line", "symbol")
# The value of a filter's `branch` that stands for all branches.
ALL_BRANCHES = "*"
_REST_OF_DAY = timedelta(days=1, milliseconds=-1)


class Filtering(Protocol):
    """A request with filters, in its `filters` object or as arguments of its own."""

    @property
    def scope(self) -> str:
        """A scope's name, `all` or nothing."""
        ...

    @property
    def filters(self) -> Mapping[str, Any]:
        """The object."""
        ...


def metadata_of(meta: Metadata, view: ProjectView) -> MemoryMetadata:
    """The metadata in a request. Raises `InvalidRequest`, and `PathOutsideProject` for the source file."""
    source_file = meta.source_file.strip()
    return MemoryMetadata(
        tags=meta.tags,
        source_file=view.relative(source_file) if source_file else None,
        language=meta.language.strip() or None,
        chunk_index=meta.chunk_index,
        parent_id=meta.parent_id or None,
        ast_node_type=meta.ast_node_type or None,
        importance_score=0.5 if meta.importance_score is None else meta.importance_score,
        custom=dict(meta.custom),
    )


def branch_of(meta: Metadata, operation: str, view: ProjectView, scope: Scope) -> str | None:
    """The git branch to tie a memory to: the given name, or for true the one that is checked out; None for none."""
    if meta.branch in (None, False, ""):
        return None
    if meta.branch is not True and not isinstance(meta.branch, str):
        raise InvalidRequest(f"{operation}: branch must be a string, or true for the one checked out")
    name = view.code_memories.branch() if meta.branch is True else meta.branch.strip()
    if scope is not Scope.PROJECT:
        raise InvalidRequest(f"a memory of scope {scope} cannot be tied to a branch; use scope project")
    if not name:
        raise InvalidRequest("no branch is checked out here; name one, or leave branch out")
    return name


def scopes_of(name: str) -> tuple[Scope, ...]:
    """The scope of this name, or all scopes."""
    return tuple(Scope) if name in ("", "all") else (Scope(name),)


def all_filters(asked: Filtering) -> Filters:
    """The filters of a request; those in `filters` take precedence over arguments of the same name."""
    nested = parsed("filters", Filters, asked.filters)
    beside = {key: value for key in Filters.__dataclass_fields__ if (value := getattr(asked, key, None))}
    changed = {key: value for key, value in beside.items() if not getattr(nested, key)}
    return replace(nested, **changed)


def filters_of(scope: str, asked: Filters) -> MemoryFilters:
    """The filters for the stores. The operation itself filters by anchor state and path."""
    since, until = times_of(asked.time_range)
    return MemoryFilters(
        scopes=scopes_of(scope),
        tags=asked.tags,
        memory_type=MemoryType(asked.memory_type) if asked.memory_type else None,
        language=asked.language.strip(),
        since=since,
        until=until,
        branch=asked.branch.strip() or None,
        never_used=asked.never_recalled,
    )


def on_branch(filters: MemoryFilters, view: ProjectView) -> MemoryFilters:
    """The filters with their branch set: the one named, else the one that is checked out; none for `*`."""
    if filters.branch == ALL_BRANCHES:
        return replace(filters, branch=None)
    return filters if filters.branch else replace(filters, branch=view.code_memories.branch())


def times_of(time_range: Mapping[str, Any]) -> tuple[str, str]:
    """Start and end in the format of records, empty where not given. An end without a time means the end of that day.

    Raises `InvalidRequest` for an unreadable time.
    """
    asked = parsed("time_range", TimeRange, time_range)
    return _time("start", asked.start, timedelta()), _time("end", asked.end, _REST_OF_DAY)


def _time(key: str, text: str, rest_of_day: timedelta) -> str:
    text = text.strip()
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
