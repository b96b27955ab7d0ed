"""Memories as rows of `memories.db` and back, and filters as SQL.

Damaged JSON of a row counts as missing, so that one row never hides the others.
"""

from __future__ import annotations

import json
import logging
import math
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from rag_ls.errors import StoreError
from rag_ls.languages import languages_holding
from rag_ls.model import Anchor, Memory, MemoryFilters, MemoryMetadata, MemoryOrder, MemoryType, Scope
from rag_ls.storage.sqlite.database import Database
from rag_ls.util.paths import spellings_of
from rag_ls.util.records import asdict
from rag_ls.util.text import utc_stamp

NAMES = (
    "id", "content", "metadata", "memory_type", "created_at", "updated_at", "version", "content_hash", "source_uri",
    "source_memory_ids", "anchor", "branch", "summary_key", "project_id",
)  # fmt: skip
COLUMNS = ", ".join(NAMES)
SELECTED = ", ".join(f"m.{name}" for name in NAMES) + ", ifnull(u.count, 0), u.used_at"
FROM = "memories m LEFT JOIN uses u ON u.row = m.row"
_ANCHOR_FIELDS = (
    "path", "symbol", "content_hash", "start_line", "project", "fingerprint", "body", "sketch", "neighbours", "line_offset",
    "line_print", "file_hash",
)  # fmt: skip
"""The parts of an anchor in their order at rest. Indexes know the first three by their places."""
_NUMBERS = ("start_line", "line_offset")
# The greatest integer that SQLite takes.
_MAX_INTEGER = 2**63 - 1
_log = logging.getLogger(__name__)
# Closing waits at most this long for counts that are being written.
_MAX_WRITER_S = 1.0


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
        languages = sorted(languages_holding(filters.language.lower()))
        must(f"{of_metadata('language')} COLLATE NOCASE IN ({', '.join('?' * len(languages))})", *languages)
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
    anchored = json.dumps([getattr(memory.anchor, name) for name in _ANCHOR_FIELDS]) if memory.anchor else None
    return (
        memory.id, memory.content, json.dumps(asdict(memory.metadata)), memory.memory_type.value, memory.created_at, memory.updated_at,
        memory.version, memory.content_hash, memory.source_uri, json.dumps(memory.source_memory_ids), anchored,
        memory.branch, memory.summary_key, memory.project_id,
    )  # fmt: skip


def to_record(memory: Memory) -> str:
    """A memory in the format of the history."""
    return json.dumps(dict(zip(NAMES, to_values(memory), strict=True)))


def from_record(record: str, scope: Scope) -> Memory:
    """A memory out of its history; older records lack the newer names. A damaged record is its own content."""
    values = _json_or_none(record)
    if not isinstance(values, dict):
        values = {"id": "", "content": record, "created_at": "", "updated_at": "", "content_hash": ""}
    return from_row([values.get(name) for name in NAMES], scope)


def from_row(row: Sequence[object], scope: Scope) -> Memory:
    """A memory out of the values of `NAMES`, with or without its uses behind them."""
    found = dict(zip(NAMES, row, strict=False))
    uses, used_at = row[len(NAMES) :] or (0, None)
    return Memory(
        id=str(found["id"]), content=str(found["content"]), scope=scope, metadata=_metadata_of(found["metadata"]),
        memory_type=_memory_type_of(found["memory_type"]), created_at=str(found["created_at"]),
        updated_at=str(found["updated_at"]), version=max(1, _integer(found["version"]) or 1),
        content_hash=str(found["content_hash"]), source_uri=_as_text(found["source_uri"]),
        source_memory_ids=_texts(_json_or_none(found["source_memory_ids"])),
        anchor=_anchor_of(found["anchor"]) if found["anchor"] else None, branch=_as_text(found["branch"]),
        summary_key=_as_text(found["summary_key"]), project_id=_as_text(found["project_id"]),
        uses=uses if isinstance(uses, int) else 0, used_at=_as_text(used_at),
    )  # fmt: skip


def version_changes_of(text: object) -> list[Sequence[Any]]:
    """The triples of a batch: id, version before, version after."""
    found = _json_or_none(text)
    return [each for each in found if isinstance(each, list) and len(each) == 3] if isinstance(found, list) else []


def _as_text(value: object) -> str | None:
    return None if value is None else str(value)


def _json_or_none(text: object) -> Any:
    """The value of a stored JSON text; None for a damaged one."""
    try:
        return json.loads(str(text))
    except (ValueError, RecursionError):
        return None


def _metadata_of(text: object) -> MemoryMetadata:
    """The metadata of a row."""
    found = _json_or_none(text)
    found = found if isinstance(found, dict) else {}
    custom = found.get("custom")
    return MemoryMetadata(
        tags=_texts(found.get("tags")), source_file=_text(found.get("source_file")),
        language=_text(found.get("language")), chunk_index=_integer(found.get("chunk_index")),
        parent_id=_text(found.get("parent_id")), ast_node_type=_text(found.get("ast_node_type")),
        importance_score=_share(found.get("importance_score")),
        custom=custom if isinstance(custom, dict) and _is_finite(custom) else {},
    )  # fmt: skip


def _anchor_of(text: object) -> Anchor | None:
    """The anchor of a row; those of earlier versions have fewer parts. None if it names no path."""
    parts = _json_or_none(text)
    if not isinstance(parts, list) or not parts or not isinstance(parts[0], str):
        return None
    known: dict[str, Any] = {
        name: part for name, part in zip(_ANCHOR_FIELDS, parts, strict=False) if _is_part(name, part)
    }
    return Anchor(**known)


def _memory_type_of(text: object) -> MemoryType:
    """The type of a row; the usual one for an unknown one."""
    try:
        return MemoryType(str(text))
    except ValueError:
        return MemoryType.SEMANTIC


def _is_part(name: str, part: object) -> bool:
    if name in _NUMBERS:
        return _integer(part) is not None
    return isinstance(part, str)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _integer(value: object) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_INTEGER
    return value if is_number and isinstance(value, int) else None


def _share(value: object) -> float:
    default = MemoryMetadata().importance_score
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if is_number and isinstance(value, int | float) else default


def _is_finite(value: object) -> bool:
    """Whether JSON can be made of a value: Python also reads NaN and the infinities, which no other program does."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, float) and not math.isfinite(item):
            return False
        if isinstance(item, dict | list):
            pending.extend(item.values() if isinstance(item, dict) else item)
    return True


class UseCounter:
    """Counts the uses of a store's memories in its database. Safe from several threads."""

    def __init__(self, database: Database, *, in_background: bool) -> None:
        self._database = database
        self._in_background = in_background
        self._lock = threading.Lock()
        self._used: Counter[str] = Counter()
        self._writer: threading.Thread | None = None

    def add(self, ids: Iterable[str], at: str) -> None:
        """Count memories as recalled at a time."""
        with self._lock:
            starts = not self._used
            self._used.update(ids)
        if not self._in_background:
            self._write(at)
        elif starts and self._used:
            self._writer = threading.Thread(target=self._write, args=(at,), name="uses", daemon=True)
            self._writer.start()

    def close(self) -> None:
        """Write what was counted."""
        if self._writer is not None:
            self._writer.join(_MAX_WRITER_S)
        self._write(utc_stamp(datetime.now(UTC)))

    def _write(self, at: str) -> None:
        with self._lock:
            used, self._used = self._used, Counter()
        if not used:
            return
        try:
            with self._database.writing() as connection:
                connection.executemany(
                    "INSERT INTO uses SELECT row, ?, ? FROM memories WHERE id = ? "
                    "ON CONFLICT (row) DO UPDATE SET count = count + excluded.count, used_at = excluded.used_at",
                    [(count, at, memory_id) for memory_id, count in used.items()],
                )
        except (sqlite3.Error, StoreError) as error:
            # Counts are only a hint for ranking, so an error must not fail an answer.
            _log.info("uses were not counted: %s", error)
