"""The tools that agents are offered. Their texts cost every agent context on every turn: short, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]

_STRING: Schema = {"type": "string"}
_STRINGS: Schema = {"type": "array", "items": {"type": "string"}}
_SCOPE: Schema = {"type": "string", "enum": ["session", "project", "global"]}
_TYPE: Schema = {"type": "string", "enum": ["semantic", "episodic", "procedural"]}
_FRACTION: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_COUNT: Schema = {"type": "integer", "minimum": 1}
_LINE: Schema = {"type": "integer", "minimum": 1}
_ID: Schema = {"id": _STRING}
_GLOB: Schema = {"type": "string", "description": "e.g. src/**/*.py"}
_TIMES: Schema = {"type": "object", "properties": {"start": _STRING, "end": _STRING}}
_FILTERS: Schema = {
    "type": "object",
    "properties": {
        "tags": _STRINGS,
        "memory_type": _TYPE,
        "language": _STRING,
        "time_range": _TIMES,
        "anchor": {"type": "string", "enum": ["fresh", "drifted", "orphaned", "any"]},
        "path": _STRING,
    },
}
_SAME_FILTERS: Schema = {"type": "object", "description": "as in search_memory"}
_METADATA_PROPERTIES: Schema = {
    "tags": _STRINGS,
    "source_file": {"type": "string", "description": "the file it is about"},
    "line": _LINE,
    "symbol": _STRING,
    "memory_type": _TYPE,
    "importance_score": _FRACTION,
    "branch": {"type": "string", "description": "git branch it is tied to"},
    "custom": {"type": "object"},
}
_METADATA: Schema = {"type": "object", "properties": _METADATA_PROPERTIES}
_STORED = {"id": "string", "status": "string", "version": "integer"}
_FLAG: Schema = {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool: what agents read of it. The operation of the same name is behind it."""

    name: str
    toolset: str
    description: str
    properties: Mapping[str, Schema]
    output: Mapping[str, str]
    """Required keys of the result, with their JSON types."""
    required: tuple[str, ...] = ()
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True

    @property
    def input_schema(self) -> Schema:
        """JSON Schema of the arguments."""
        schema: Schema = {"type": "object", "properties": dict(self.properties)}
        return {**schema, "required": list(self.required)} if self.required else schema

    @property
    def output_schema(self) -> Schema:
        """JSON Schema of the result."""
        properties = {name: {"type": kind} for name, kind in self.output.items()}
        return {"type": "object", "properties": properties, "required": list(self.output)}


_RESULTS = {"query": "string", "results": "array", "stats": "object"}

TOOLS = (
    ToolSpec(
        "search_code",
        "code",
        "Find code by meaning, words, identifier or path. Ask in words ('where is the retry delay computed') or by name.",
        {
            "query": _STRING,
            "k": {**_COUNT, "default": 10},
            "language": _STRING,
            "path_glob": _GLOB,
            "min_score": _FRACTION,
        },
        _RESULTS,
        required=("query",),
    ),
    ToolSpec(
        "get_chunk",
        "code",
        "One chunk by the id that search_code gave, as it is now.",
        _ID,
        {"id": "string", "path": "string", "text": "string"},
        required=("id",),
    ),
    ToolSpec(
        "find_related",
        "code",
        "Code similar to a place (path and line), a symbol or a snippet, in other files.",
        {"path": _STRING, "line": _LINE, "symbol": _STRING, "snippet": _STRING, "k": _COUNT},
        _RESULTS,
    ),
    ToolSpec(
        "index_status",
        "code",
        "Whether the index is complete, what is queued, and which files were skipped and why. wait_s waits for it.",
        {"wait_s": {"type": "integer", "minimum": 0}},
        {"complete": "boolean", "projects": "array"},
    ),
    ToolSpec(
        "store_memory",
        "memory",
        "Keep a fact, decision or convention. scope: project (this repository), global (all), session (until it "
        "ends). With source_file and line or symbol it is tied to that code and shows in the editor. The answer names what "
        "is known already: update that rather than store it twice.",
        {"content": _STRING, "scope": _SCOPE, "metadata": _METADATA},
        _STORED,
        required=("content", "scope"),
        read_only=False,
    ),
    ToolSpec(
        "search_memory",
        "memory",
        "Recall memories by meaning, words and tags; context is the same as cited text. anchor.state: whether the code they "
        "are about is fresh, drifted (changed) or orphaned (gone).",
        {
            "query": _STRING,
            "k": {**_COUNT, "default": 5},
            "scope": _SCOPE,
            "filters": _FILTERS,
            "min_similarity": {**_FRACTION, "default": 0.7},
            "budget_tokens": _LINE,
        },
        {**_RESULTS, "context": "string"},
        required=("query",),
    ),
    ToolSpec(
        "get_memory",
        "memory",
        "One memory with its whole record.",
        {**_ID, "history": _FLAG},
        {"id": "string", "content": "string", "scope": "string"},
        required=("id",),
    ),
    ToolSpec(
        "update_memory",
        "memory",
        "Change a memory; metadata is merged, null removes a key. id alone: it holds for the code as it is now. "
        "expected_version refuses what somebody else changed.",
        {"id": _STRING, "content": _STRING, "metadata": {"type": "object"}, "expected_version": _LINE},
        _STORED,
        required=("id",),
        read_only=False,
    ),
    ToolSpec(
        "delete_memory",
        "memory",
        "Delete one memory by its id.",
        _ID,
        {"id": "string", "deleted": "boolean"},
        required=("id",),
        read_only=False,
        destructive=True,
        idempotent=False,
    ),
    ToolSpec(
        "list_memories",
        "memory",
        "List memories, newest change first.",
        {
            "scope": _SCOPE,
            "filters": _SAME_FILTERS,
            "limit": {**_LINE, "default": 50},
            "offset": {"type": "integer"},
            "order": {"type": "string", "enum": ["updated", "created", "importance", "uses"]},
        },
        {"memories": "array", "total": "integer", "limit": "integer", "offset": "integer"},
    ),
    ToolSpec(
        "consolidate_memories",
        "memory",
        "Merge memories that say the same; report contradictions and what is never recalled. undo takes the last one back.",
        {"scope": _SCOPE, "threshold": {**_FRACTION, "default": 0.85}, "dry_run": _FLAG, "undo": _FLAG},
        {},
        read_only=False,
        destructive=True,
        idempotent=True,
    ),
    ToolSpec(
        "clear_session",
        "memory",
        "Forget the memories of scope session.",
        {},
        {"cleared": "integer"},
        read_only=False,
        destructive=True,
    ),
    ToolSpec(
        "summarize_memories",
        "memory",
        "Summarise what was remembered in a time and keep that; done again, it is replaced.",
        {
            "time_range": {**_TIMES, "required": ["start"]},
            "scope": _SCOPE,
            "filters": _SAME_FILTERS,
            "max_words": _LINE,
            "summary_key": _STRING,
        },
        {"summary": "string", **_STORED},
        required=("time_range",),
        read_only=False,
    ),
)
