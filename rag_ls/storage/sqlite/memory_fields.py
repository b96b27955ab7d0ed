"""Reads the JSON of a memory's row. What is damaged counts as missing, so that one row never hides the others."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from rag_ls.model import Anchor, MemoryMetadata, MemoryType

ANCHOR_FIELDS = (
    "path", "symbol", "content_hash", "start_line", "project", "fingerprint", "body", "sketch", "neighbours", "line_offset",
    "line_print", "file_hash",
)  # fmt: skip
"""The parts of an anchor in their order at rest. Indexes know the first three by their places."""
_NUMBERS = ("start_line", "line_offset")
# The greatest integer that SQLite takes.
_MAX_INTEGER = 2**63 - 1


def json_or_none(text: object) -> Any:
    """The value of a stored JSON text; None for a damaged one."""
    try:
        return json.loads(str(text))
    except (ValueError, RecursionError):
        return None


def metadata_of(text: object) -> MemoryMetadata:
    """The metadata of a row."""
    found = json_or_none(text)
    found = found if isinstance(found, dict) else {}
    custom = found.get("custom")
    return MemoryMetadata(
        tags=_texts(found.get("tags")), source_file=_text(found.get("source_file")),
        language=_text(found.get("language")), chunk_index=_integer(found.get("chunk_index")),
        parent_id=_text(found.get("parent_id")), ast_node_type=_text(found.get("ast_node_type")),
        importance_score=_share(found.get("importance_score")),
        custom=custom if isinstance(custom, dict) and _is_finite(custom) else {},
    )  # fmt: skip


def anchor_of(text: object) -> Anchor | None:
    """The anchor of a row; those of earlier versions have fewer parts. None if it names no path."""
    parts = json_or_none(text)
    if not isinstance(parts, list) or not parts or not isinstance(parts[0], str):
        return None
    known: dict[str, Any] = {
        name: part for name, part in zip(ANCHOR_FIELDS, parts, strict=False) if _is_part(name, part)
    }
    return Anchor(**known)


def ids_of(text: object) -> tuple[str, ...]:
    """A stored list of ids."""
    return _texts(json_or_none(text))


def memory_type_of(text: object) -> MemoryType:
    """The type of a row; the usual one for an unknown one."""
    try:
        return MemoryType(str(text))
    except ValueError:
        return MemoryType.SEMANTIC


def version_of(value: object) -> int:
    """The version of a row, at least 1."""
    return max(1, _integer(value) or 1)


def version_changes_of(text: object) -> list[Sequence[Any]]:
    """The triples of a batch: id, version before, version after."""
    found = json_or_none(text)
    return [each for each in found if isinstance(each, list) and len(each) == 3] if isinstance(found, list) else []


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
