"""Reads the arguments that operations on memories share: metadata, filters, times."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from rag_ls.engine import ProjectSession
from rag_ls.errors import InvalidRequest
from rag_ls.memory import SUPERSEDES
from rag_ls.model import MemoryFilters, MemoryMetadata, MemoryType, Scope
from rag_ls.operations.fields import argument
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import utc_stamp

SCOPE_NAMES = tuple(scope.value for scope in Scope)
SCOPES_OR_ALL = (*SCOPE_NAMES, "all")
TYPE_NAMES = tuple(kind.value for kind in MemoryType)
ANCHOR_STATES = ("fresh", "drifted", "orphaned", "unknown", "any")
PLACE_KEYS = ("line", "symbol")
# The value of the filter `branch` that stands for all branches.
ALL_BRANCHES = "*"
_REST_OF_DAY = timedelta(days=1, milliseconds=-1)


@dataclass(frozen=True, slots=True)
class TimeRange:
    """Start and end of a time: days, or moments (RFC 3339)."""

    start: str = argument("", "e.g. 2026-01-01", agents_required=True)
    end: str = argument("", "e.g. 2026-01-31 (default: now)")


@dataclass(frozen=True, slots=True)
class Metadata:
    """Facts that a caller states about a memory."""

    tags: tuple[str, ...] = argument((), "words to find it by")
    source_file: str = argument("", "the file it is about", is_path=True)
    line: int | None = argument(None, "a line of that file, from 1", least=1)
    symbol: str = argument("", "a symbol of that file")
    memory_type: str = argument("", "what kind of knowledge it is", choices=TYPE_NAMES)
    importance_score: float | None = argument(None, "0 to 1; it ranks a little higher")
    language: str = argument("", "a programming language")
    chunk_index: int | None = argument(None, "its place among the parts of a text", least=0)
    parent_id: str = argument("", "the memory or text that it is a part of")
    ast_node_type: str = argument("", "the kind of code that it is about")
    custom: Mapping[str, Any] = argument({}, "anything else, as JSON")
    source_uri: str = argument("", "where it comes from")
    supersedes: str = argument("", "the id of a memory that this one takes the place of")
    branch: bool | str = argument("", "the git branch that it counts on; true for the one checked out")


@dataclass(frozen=True, slots=True)
class MemoryFilterArguments:
    """The qualities that memories must have."""

    tags: tuple[str, ...] = argument((), "with any of these tags")
    memory_type: str = argument("", "of this kind", choices=TYPE_NAMES)
    language: str = argument("", "about this programming language")
    time_range: TimeRange = argument({}, "changed in this time", properties=TimeRange, shown=("start", "end"))
    branch: str = argument("", "of this git branch instead of the one checked out; * for all")
    never_recalled: bool = argument(False, "only what nobody ever looked up")
    anchor: str = argument("", "about code that stands so", choices=ANCHOR_STATES)
    path: str = argument("", "about this file")


def read_metadata(meta: Metadata, view: ProjectSession) -> MemoryMetadata:
    """The metadata in a request. Raises `InvalidRequest`, `NotFound` for what it supersedes, and `PathOutsideProject`."""
    source_file = meta.source_file.strip()
    superseded = {SUPERSEDES: view.memories.get(meta.supersedes).id} if meta.supersedes.strip() else {}
    return MemoryMetadata(
        tags=meta.tags,
        source_file=view.relative(source_file) if source_file else None,
        language=meta.language.strip() or None,
        chunk_index=meta.chunk_index,
        parent_id=meta.parent_id or None,
        ast_node_type=meta.ast_node_type or None,
        importance_score=0.5 if meta.importance_score is None else meta.importance_score,
        custom={**meta.custom, **superseded},
    )


def read_branch(meta: Metadata, view: ProjectSession, scope: Scope) -> str | None:
    """The git branch to tie a memory to: the given name, or for true the one that is checked out; None for none."""
    if not meta.branch:
        return None
    name = view.branch if meta.branch is True else meta.branch.strip()
    if scope is not Scope.PROJECT:
        raise InvalidRequest(f"a memory of scope {scope} cannot be tied to a branch; use scope project")
    if not name:
        raise InvalidRequest("no branch is checked out here; name one, or leave branch out")
    return name


def read_scopes(name: str) -> tuple[Scope, ...]:
    """The scope of this name, or all scopes."""
    return tuple(Scope) if name in ("", "all") else (Scope(name),)


def make_memory_filters(scope: str, wanted: MemoryFilterArguments) -> MemoryFilters:
    """The filters for the stores. The operation itself filters by anchor state and path."""
    since, until = read_times(wanted.time_range)
    return MemoryFilters(
        scopes=read_scopes(scope),
        tags=wanted.tags,
        memory_type=MemoryType(wanted.memory_type) if wanted.memory_type else None,
        language=wanted.language.strip(),
        since=since,
        until=until,
        branch=wanted.branch.strip() or None,
        never_used=wanted.never_recalled,
    )


def set_branch(filters: MemoryFilters, view: ProjectSession) -> MemoryFilters:
    """The filters with their branch set: the one named, else the one that is checked out; none for `*`."""
    if filters.branch == ALL_BRANCHES:
        return replace(filters, branch=None)
    return filters if filters.branch else replace(filters, branch=view.branch)


def read_times(time_range: TimeRange) -> tuple[str, str]:
    """Start and end in the format of records, empty where not given. An end without a time means the end of that day.

    A time without a zone is in the user's one. Raises `InvalidRequest` for an unreadable time.
    """
    return _read_time("start", time_range.start, timedelta()), _read_time("end", time_range.end, _REST_OF_DAY)


def _read_time(key: str, text: str, rest_of_day: timedelta) -> str:
    text = text.strip()
    if not text:
        return ""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidRequest(
            f"time_range: {key} = {text!r} is no time; write 2026-01-31 or 2026-01-31T12:00:00Z"
        ) from error
    try:
        return utc_stamp((at + rest_of_day if len(text) <= 10 else at).astimezone())
    except (OverflowError, ValueError, OSError) as error:
        raise InvalidRequest(f"time_range: {key} = {text!r} is out of range") from error


def merge_patch(present: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON object with changes merged in: objects key by key, null removes a key (RFC 7396, "JSON Merge Patch")."""
    result = dict(present)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            former = result.get(key)
            result[key] = merge_patch(former if isinstance(former, Mapping) else {}, value)
        else:
            result[key] = value
    return result
