"""Makes answers lean for agents: what is as usual is left out, and an empty or partial answer says what to try."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rag_ls.operations import Json

FULL = "full"
DETAIL = {"enum": [FULL]}
"""The schema of the argument that asks for all fields."""

_SIGNATURE_CHARACTERS = 60
_HIT_DROPS = ("kind", "node_type", "language", "matched_by", "scope")
_MEMORY_DROPS = (
    "kind", "matched_by", "created_at", "version", "uses", "used_at", "similarity", "content_hash", "source_memory_ids",
)  # fmt: skip
_STATS_DROPS = ("took_ms", "candidates")
_NOTHING = {
    "search_code": "nothing found: try other words or an identifier, fewer filters, or list_symbols for names",
    "find_related": "nothing is close: give a snippet, or ask search_code in words",
    "related_tests": "no test is known for it: ask search_code with kind = test",
    "list_symbols": "no declaration matches: give a part of the name as query, or ask search_code in words",
    "search_memory": "no memory fits: try other words, a lower min_similarity, or list_memories",
    "list_memories": "no memory passes: store_memory keeps one",
}


def compact(tool: str, answer: Json, *, names_project: bool = False) -> Json:
    """The lean form of a tool's answer. `names_project`: the agent asked another project than that of its folder."""
    lean = {name: value for name, value in answer.items() if name != "query"}
    if tool not in _LISTS:
        return lean
    key, shorten = _LISTS[tool]
    records = answer[key]
    lean[key] = [shorten(record) for record in records]
    if key == "results" and (names_project or len(set(map(_root, records))) > 1):
        for record, whole in zip(lean[key], records, strict=True):
            if file := whole.get("file"):
                record["path"] = file
    if tool == "search_memory":
        # It repeats the memories as one text, for prompts.
        lean.pop("context", None)
    if "stats" in lean:
        lean["stats"] = _stats(lean["stats"])
    if not records and not _note(lean):
        lean["note"] = _NOTHING.get(tool, "nothing found")
    return lean


def _root(record: Json) -> str:
    """The folder of the project that a hit is in."""
    return str(record.get("file", "")).removesuffix(str(record.get("path", "")))


def _hit(record: Json) -> Json:
    """A chunk or a memory: a chunk's project path is enough for an agent that works in the project's folder."""
    if record.get("kind") == "memory":
        return _memory(record)
    lean = _without(record, *_HIT_DROPS, "file")
    if lean.get("freshness") == "disk":
        del lean["freshness"]
    return _short(lean)


def _symbol(record: Json) -> str:
    """A declaration as one line: its place, kind and name, and what it takes and gives."""
    symbol, signature = str(record["symbol"]), str(record.get("signature", ""))
    name = symbol.rpartition(" > ")[2].rpartition(".")[2]
    parameters = signature.partition(name)[2] if name else ""
    if len(parameters) > _SIGNATURE_CHARACTERS:
        parameters = parameters[: _SIGNATURE_CHARACTERS - 1] + "…"
    shown = parameters if parameters.startswith("(") else ""
    return f"{record['path']}:{record['start_line']}-{record['end_line']} {record['kind']} {symbol}{shown}"


def _test(record: Json) -> Json:
    return _without(record, "file", "mentioned_in")


def _memory(record: Json) -> Json:
    lean = _without(record, *_MEMORY_DROPS)
    metadata = {key: value for key, value in lean.pop("metadata", {}).items() if not _is_usual(key, value)}
    if metadata:
        lean["metadata"] = metadata
    if lean.get("memory_type") == "semantic":
        del lean["memory_type"]
    lean["updated_at"] = str(lean.get("updated_at", ""))[:10]
    return _short(lean)


def _short(record: Json) -> Json:
    """A record without empty values, its score in two digits."""
    rounded = {**record, "score": round(record["score"], 2)} if "score" in record else record
    return {key: value for key, value in rounded.items() if value not in ("", None)}


def _is_usual(key: str, value: object) -> bool:
    # The anchor names the file.
    return key == "source_file" or (key == "importance_score" and value == 0.5) or value in ("", None, [], {})


def _stats(stats: Json) -> Json:
    lean = _without(stats, *_STATS_DROPS)
    for usual in ("complete", "dense"):
        if lean.get(usual) is True:
            del lean[usual]
    if lean.get("complete") is False and not lean.get("note"):
        lean["note"] = "the index is not complete: index_status with wait_s waits for it"
    return lean


def _note(answer: Json) -> object:
    return answer.get("note") or answer.get("hint") or (answer.get("stats") or {}).get("note")


def _without(record: Json, *keys: str) -> Json:
    return {key: value for key, value in record.items() if key not in keys}


# The tools whose answers are lists of records, which they hold under this key, and what shortens one. Another tool may use
# the same key for something else: its answer stays as it is.
_LISTS: dict[str, tuple[str, Callable[[Json], Any]]] = {
    "search_code": ("results", _hit),
    "find_related": ("results", _hit),
    "list_symbols": ("symbols", _symbol),
    "related_tests": ("tests", _test),
    "search_memory": ("results", _hit),
    "list_memories": ("memories", _memory),
    "search_collection": ("results", _short),
}


def shows_detail(tool: str) -> bool:
    """Whether a tool's schema names the argument `detail`; all tools take it, but each word of a schema costs every agent."""
    return tool in ("search_code", "search_memory")


def asks_for_all(arguments: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The arguments without `detail`, and whether that asks for all fields."""
    return {key: value for key, value in arguments.items() if key != "detail"}, arguments.get("detail") == FULL
