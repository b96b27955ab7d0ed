"""The tools that agents are offered. Their texts cost every agent context on every turn: short, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rag_ls.engine.code.lookup import CONTEXTS
from rag_ls.operations.code_hits import KINDS

Schema = dict[str, Any]

# What an answer of code holds where the agent does not say.
BUDGET_TOKENS = 4000

_STRING: Schema = {"type": "string"}
_STRINGS: Schema = {"type": "array", "items": {"type": "string"}}
_SCOPE: Schema = {"type": "string", "enum": ["session", "project", "global"]}
_TYPE: Schema = {"type": "string", "enum": ["semantic", "episodic", "procedural"]}
_FRACTION: Schema = {"type": "number"}
_NUMBER: Schema = {"type": "integer"}
_ID: Schema = {"id": _STRING}
_GLOB: Schema = {"type": "string", "description": "e.g. src/**/*.py"}
_TIMES: Schema = {"type": "object", "properties": {"start": _STRING, "end": _STRING}}
_FILTERS: Schema = {
    "type": "object",
    "properties": {
        "tags": _STRINGS,
        "memory_type": _STRING,
        "time_range": {"type": "object", "description": "start, end"},
        "anchor": {"type": "string", "enum": ["fresh", "drifted", "orphaned", "any"]},
        "path": _STRING,
    },
}
_SAME_FILTERS: Schema = {"type": "object", "description": "as in search_memory"}
# Operations take more than their tools show: what agents rarely need is not worth their context.
_METADATA_PROPERTIES: Schema = {
    "tags": _STRINGS,
    "source_file": {"type": "string", "description": "the file it is about"},
    "line": _NUMBER,
    "symbol": _STRING,
    "memory_type": _TYPE,
    "importance_score": _FRACTION,
}
_METADATA: Schema = {"type": "object", "properties": _METADATA_PROPERTIES}
_STORED = {"id": "string", "status": "string"}
_FLAG: Schema = {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool: what agents read of it. The operation of the same name is behind it."""

    name: str
    toolset: str
    description: str
    properties: Mapping[str, Schema]
    output: Mapping[str, str]
    """Keys that the result has, with their JSON types."""
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
        return {"type": "object", "properties": {name: {"type": kind} for name, kind in self.output.items()}}


_RESULTS = {"results": "array", "stats": "object"}

TOOLS = (
    ToolSpec(
        "search_code",
        "code",
        "Find code by meaning, words, identifier or path. Long answers are cut (truncated): get_chunk or your Read tool on file "
        "has the rest.",
        {
            "query": _STRING,
            "k": {**_NUMBER, "default": 10},
            "language": _STRING,
            "path_glob": _GLOB,
            "kind": {"type": "string", "enum": list(KINDS)},
            "files_only": _FLAG,
            "budget_tokens": {"type": "integer", "default": BUDGET_TOKENS},
            "project": {**_STRING, "description": "a name of list_repos, or all"},
        },
        _RESULTS,
        required=("query",),
    ),
    ToolSpec(
        "get_chunk",
        "code",
        "A hit by its id, as it is now, alone or with what is around it.",
        {**_ID, "context": {"type": "string", "enum": list(CONTEXTS)}},
        {"id": "string", "text": "string"},
        required=("id",),
    ),
    ToolSpec(
        "list_symbols",
        "code",
        "Outline of a file (path), or declarations by name or part of it (query).",
        {
            "path": _STRING,
            "path_glob": _STRING,
            "query": _STRING,
            "kind": _STRING,
        },
        {"symbols": "array", "total": "integer"},
    ),
    ToolSpec(
        "find_related",
        "code",
        "Code like a place (path, line), symbol or snippet, in other files.",
        {"path": _STRING, "line": _NUMBER, "symbol": _STRING, "snippet": _STRING},
        _RESULTS,
    ),
    ToolSpec(
        "related_tests",
        "code",
        "The tests to read or run for a file, line or symbol, and why each.",
        {"path": _STRING, "line": _NUMBER, "symbol": _STRING},
        {"tests": "array"},
    ),
    ToolSpec("list_repos", "code", "The projects that project can name.", {}, {"repos": "array"}),
    ToolSpec(
        "index_status",
        "code",
        "Whether the index is complete, and which files were skipped. wait_s waits for it.",
        {"wait_s": _NUMBER},
        {"complete": "boolean", "projects": "array"},
    ),
    ToolSpec(
        "store_memory",
        "memory",
        "Keep a fact, decision or convention. scope: project (this repository), global (all), session (until it "
        "ends). source_file and line or symbol tie it to that code. The answer names what is known already: update that "
        "rather than store it twice.",
        {"content": _STRING, "scope": _SCOPE, "metadata": _METADATA},
        _STORED,
        required=("content", "scope"),
        read_only=False,
    ),
    ToolSpec(
        "search_memory",
        "memory",
        "Recall memories by meaning, words and tags; context is the same as cited text. anchor.state: their code is fresh, "
        "drifted (changed) or orphaned (gone).",
        {
            "query": _STRING,
            "k": {**_NUMBER, "default": 5},
            "scope": _SCOPE,
            "filters": _FILTERS,
            "min_similarity": {**_FRACTION, "default": 0.7},
            "budget_tokens": _NUMBER,
        },
        {**_RESULTS, "context": "string"},
        required=("query",),
    ),
    ToolSpec(
        "get_memory",
        "memory",
        "One memory with its whole record.",
        {**_ID, "history": _FLAG},
        {"id": "string", "content": "string"},
        required=("id",),
    ),
    ToolSpec(
        "update_memory",
        "memory",
        "Change a memory; metadata is merged, null removes a key. id alone: it holds for the code as it is now. "
        "expected_version refuses what somebody else changed.",
        {"id": _STRING, "content": _STRING, "metadata": {"type": "object"}, "expected_version": _NUMBER},
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
            "limit": {**_NUMBER, "default": 50},
            "offset": _NUMBER,
        },
        {"memories": "array", "total": "integer"},
    ),
    ToolSpec(
        "consolidate_memories",
        "memory",
        "Merge memories that say the same; report contradictions and what is never recalled. undo takes the last one back.",
        {"scope": _SCOPE, "dry_run": _FLAG, "undo": _FLAG},
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
            "max_words": _NUMBER,
            "summary_key": _STRING,
        },
        {"summary": "string", **_STORED},
        required=("time_range",),
        read_only=False,
    ),
)
