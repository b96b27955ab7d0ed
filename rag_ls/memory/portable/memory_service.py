"""Reads the JSON export of mcp-memory-service (github.com/doobidoo/mcp-memory-service, `sync/exporter.py`).

It is an object with `export_metadata` and `memories`. Each memory has content, content_hash (not our hash), tags,
created_at and updated_at (seconds since 1970), memory_type (any word) and metadata.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from rag_ls.errors import InvalidRequest
from rag_ls.memory.content_checks import MAX_CONTENT
from rag_ls.memory.portable.foreign_records import read_text, record, times
from rag_ls.model import MemoryType

KIND = "mcp-memory-service"

_MAX_FILE_BYTES = 512 * 2**20
_PROCEDURAL = frozenset(
    "pattern workflow best_practice anti_pattern procedure process how-to howto rule convention instruction "
    "standard guideline preference".split()
)
_EPISODIC = frozenset(
    "conversation session event meeting observation code_edit file_access command search task status log "
    "progress bug failure exception timeout error".split()
)


def read_memory_service(path: Path) -> list[dict[str, object]]:
    """The memories of an export. Raises `InvalidRequest` for a file that is none, and `NotFound`."""
    try:
        # Python's JSON writer made the file, so it may contain NaN.
        export = json.loads(read_text(path, _MAX_FILE_BYTES), parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"{path} is no JSON: {str(error) or 'it is nested too deeply'}") from error
    memories = export.get("memories") if isinstance(export, Mapping) else export
    if not isinstance(memories, list):
        raise InvalidRequest(f'{path} is no export of mcp-memory-service: it has no list "memories"')
    return [_record(memory, number, path) for number, memory in enumerate(memories, 1)]


def _record(memory: object, number: int, path: Path) -> dict[str, object]:
    content = memory.get("content") if isinstance(memory, Mapping) else None
    if not isinstance(memory, Mapping) or not isinstance(content, str) or not content.strip():
        raise InvalidRequest(f"{path}: memory {number} has no content; take it out of the file")
    if len(content) > MAX_CONTENT:
        raise InvalidRequest(f"{path}: memory {number} has more than {MAX_CONTENT:,} characters; split it")
    kind = str(memory.get("memory_type") or memory.get("type") or "").lower()
    metadata = memory.get("metadata")
    custom = dict(metadata) if isinstance(metadata, Mapping) else {}
    said = {
        "original_type": kind,
        "original_hash": memory.get("content_hash"),
        "export_source": memory.get("export_source"),
    }
    return record(
        content,
        MemoryType.PROCEDURAL
        if kind in _PROCEDURAL
        else MemoryType.EPISODIC
        if kind in _EPISODIC
        else MemoryType.SEMANTIC,
        [KIND, *_tags(memory), kind],
        times=times(
            memory.get("created_at") or memory.get("created_at_iso"),
            memory.get("updated_at") or memory.get("updated_at_iso"),
        ),
        custom={**{name: value for name, value in said.items() if value}, **custom},
    )


def _tags(memory: Mapping[str, object]) -> list[str]:
    tags = memory.get("tags") or memory.get("tags_str") or []
    if isinstance(tags, str):
        return tags.split(",")
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
