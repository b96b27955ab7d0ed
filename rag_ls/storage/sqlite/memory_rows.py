"""Memories as rows of `memories.db` and back, and filters as SQL."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rag_ls.model import Memory, MemoryFilters, MemoryOrder, Scope
from rag_ls.storage.sqlite.memory_fields import (
    ANCHOR_FIELDS,
    anchor_of,
    ids_of,
    json_or_none,
    memory_type_of,
    metadata_of,
    version_of,
)
from rag_ls.util.folding import spellings_of

NAMES = (
    "id", "content", "metadata", "memory_type", "created_at", "updated_at", "version", "content_hash", "source_uri",
    "source_memory_ids", "anchor", "branch", "summary_key", "project_id",
)  # fmt: skip
COLUMNS = ", ".join(NAMES)
SELECTED = ", ".join(f"m.{name}" for name in NAMES) + ", ifnull(u.count, 0), u.used_at"
FROM = "memories m LEFT JOIN uses u ON u.row = m.row"


def of_metadata(name: str, table: str = "m.") -> str:
    """The SQL of a value in a row's metadata; NULL where they are damaged, which would fail the whole statement."""
    return f"CASE WHEN json_valid({table}metadata) THEN json_extract({table}metadata, '$.{name}') END"


_ORDERS = {
    MemoryOrder.UPDATED: "m.updated_at DESC",
    MemoryOrder.CREATED: "m.created_at DESC",
    MemoryOrder.IMPORTANCE: f"{of_metadata('importance_score')} DESC, m.updated_at DESC",
    MemoryOrder.USES: "ifnull(u.count, 0) DESC, m.updated_at DESC",
    MemoryOrder.LEAST_USED: "ifnull(u.count, 0), m.updated_at",
}


def order_by(order: MemoryOrder) -> str:
    """The ORDER BY of a listing, total so that pages do not overlap."""
    return f"{_ORDERS[order]}, m.row DESC"


def condition(filters: MemoryFilters) -> tuple[str, list[object]]:
    """The SQL condition of `filters` on a row `m` (with its uses `u`), and its values. Scopes are ignored."""
    parts: list[str] = []
    values: list[object] = []

    def must(part: str, *given: object) -> None:
        parts.append(part)
        values.extend(given)

    if filters.tags:
        tags = [form for tag in filters.tags for form in spellings_of(tag)]
        marks = ", ".join("?" * len(tags))
        must(f"m.row IN (SELECT row FROM tags WHERE tag IN ({marks}))", *tags)
    if filters.memory_type is not None:
        must("m.memory_type = ?", filters.memory_type.value)
    if filters.language:
        must(f"{of_metadata('language')} = ? COLLATE NOCASE", filters.language)
    if filters.since:
        must("m.updated_at >= ?", filters.since)
    if filters.until:
        must("m.updated_at <= ?", filters.until)
    if filters.branch is not None:
        must("(m.branch IS NULL OR m.branch = ?)", filters.branch)
    if filters.never_used:
        must("m.row NOT IN (SELECT row FROM uses)")
    if filters.anchored:
        must("m.anchor IS NOT NULL")
    if filters.no_summaries:
        must("m.summary_key IS NULL")
    if filters.project_ids is not None:
        must(f"m.project_id IN ({', '.join('?' * len(filters.project_ids))})", *filters.project_ids)
    if filters.source_uri:
        must("m.source_uri = ?", filters.source_uri)
    return " AND ".join(parts) or "1", values


def to_values(memory: Memory) -> tuple[object, ...]:
    """A memory as the values of `NAMES`."""
    meta = memory.metadata
    metadata = {
        "tags": list(meta.tags), "source_file": meta.source_file, "language": meta.language, "chunk_index": meta.chunk_index,
        "parent_id": meta.parent_id, "ast_node_type": meta.ast_node_type, "importance_score": meta.importance_score,
        "custom": dict(meta.custom),
    }  # fmt: skip
    anchored = json.dumps([getattr(memory.anchor, name) for name in ANCHOR_FIELDS]) if memory.anchor else None
    return (
        memory.id, memory.content, json.dumps(metadata), memory.memory_type.value, memory.created_at, memory.updated_at,
        memory.version, memory.content_hash, memory.source_uri, json.dumps(memory.source_memory_ids), anchored,
        memory.branch, memory.summary_key, memory.project_id,
    )  # fmt: skip


def to_record(memory: Memory) -> str:
    """A memory in the format of the history."""
    return json.dumps(dict(zip(NAMES, to_values(memory), strict=True)))


def from_record(record: str, scope: Scope) -> Memory:
    """A memory out of its history; older records lack the newer names. A damaged record is its own content."""
    values = json_or_none(record)
    if not isinstance(values, dict):
        values = {"id": "", "content": record, "created_at": "", "updated_at": "", "content_hash": ""}
    return from_row([values.get(name) for name in NAMES], scope)


def from_row(row: Sequence[object], scope: Scope) -> Memory:
    """A memory out of the values of `NAMES`, with or without its uses behind them."""
    (
        number,
        content,
        metadata,
        kind,
        created,
        updated,
        version,
        digest,
        uri,
        sources,
        anchor,
        branch,
        key,
        pushed,
        *used,
    ) = row
    uses, used_at = used or (0, None)
    return Memory(
        id=str(number), content=str(content), scope=scope, metadata=metadata_of(metadata),
        memory_type=memory_type_of(kind), created_at=str(created), updated_at=str(updated), version=version_of(version),
        content_hash=str(digest), source_uri=_text(uri), source_memory_ids=ids_of(sources),
        anchor=anchor_of(anchor) if anchor else None, branch=_text(branch), summary_key=_text(key),
        project_id=_text(pushed), uses=uses if isinstance(uses, int) else 0, used_at=_text(used_at),
    )  # fmt: skip


def _text(value: object) -> str | None:
    return None if value is None else str(value)
