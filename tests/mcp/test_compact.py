"""Agents get what they need of an answer, and hear what to try where it is empty or partial."""

from __future__ import annotations

from typing import Any

import pytest

from rag_ls.mcp.compact import asks_for_all, compact

_HIT: dict[str, Any] = {
    "kind": "chunk", "id": "a1", "path": "src/cart.py", "start_line": 1, "end_line": 3, "language": "python", "symbol": "total",
    "node_type": "function_definition", "score": 0.73951, "matched_by": ["dense"], "freshness": "disk",
    "file": "/work/shop/src/cart.py", "text": "def total(): ...",
}  # fmt: skip
_STATS = {"took_ms": 1.0, "dense": True, "candidates": 3, "complete": True}
_MEMORY: dict[str, Any] = {
    "kind": "memory", "id": "m1", "content": "Net of tax", "scope": "project", "memory_type": "semantic", "version": 3,
    "metadata": {"tags": [], "source_file": "src/cart.py", "importance_score": 0.5}, "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-02T00:00:00Z", "anchor": {"path": "src/cart.py", "state": "fresh"}, "score": 0.9, "matched_by": [],
}  # fmt: skip


def _hits(*hits: dict[str, Any]) -> dict[str, Any]:
    return {"query": "q", "results": list(hits), "stats": _STATS}


def test_a_hit_is_its_place_its_symbol_and_its_text() -> None:
    assert compact("search_code", _hits(_HIT)) == {
        "results": [
            {"id": "a1", "path": "src/cart.py", "start_line": 1, "end_line": 3, "symbol": "total", "score": 0.74,
             "text": "def total(): ..."}
        ],
        "stats": {},
    }  # fmt: skip


def test_what_is_not_as_usual_is_told() -> None:
    stats = {**_STATS, "complete": False, "dense": False, "pending_documents": 2}
    answer = compact("search_code", {"results": [{**_HIT, "freshness": "buffer", "truncated": True}], "stats": stats})
    assert (answer["results"][0]["freshness"], answer["results"][0]["truncated"]) == ("buffer", True)
    assert answer["stats"]["complete"] is False
    assert answer["stats"]["pending_documents"] == 2
    assert "index_status" in answer["stats"]["note"]


def test_hits_of_other_projects_have_their_whole_paths() -> None:
    other = {**_HIT, "path": "main.go", "file": "/work/api/main.go"}
    assert [hit["path"] for hit in compact("search_code", _hits(_HIT, other))["results"]] == [
        "/work/shop/src/cart.py",
        "/work/api/main.go",
    ]
    (named,) = compact("search_code", _hits(_HIT), names_project=True)["results"]
    assert named["path"] == "/work/shop/src/cart.py"


def test_a_memory_is_what_it_says_where_and_since_when() -> None:
    answer = compact("search_memory", {"query": "q", "results": [_MEMORY], "stats": _STATS, "context": "Net of tax"})
    assert answer["results"] == [
        {"id": "m1", "content": "Net of tax", "scope": "project", "updated_at": "2026-01-02", "score": 0.9,
         "anchor": {"path": "src/cart.py", "state": "fresh"}}
    ]  # fmt: skip
    assert "context" not in answer
    tagged = {**_MEMORY, "metadata": {"tags": ["tax"], "importance_score": 0.9}, "memory_type": "procedural"}
    (memory,) = compact("list_memories", {"memories": [tagged], "total": 1})["memories"]
    assert (memory["metadata"], memory["memory_type"]) == ({"tags": ["tax"], "importance_score": 0.9}, "procedural")


def test_a_declaration_is_one_line() -> None:
    symbol = {
        "path": "a.py",
        "symbol": "Cart.total",
        "kind": "function",
        "start_line": 2,
        "end_line": 9,
        "exported": True,
    }
    listed = [
        {**symbol, "signature": "def total(self, rate) -> float"},
        {**symbol, "symbol": "RATE", "kind": "value", "signature": "RATE = 1"},
        {**symbol, "path": "a.md", "symbol": "Set-up > Install it.", "kind": "section", "signature": "## Install it."},
    ]
    assert compact("list_symbols", {"symbols": listed, "total": 3})["symbols"] == [
        "a.py:2-9 function Cart.total(self, rate) -> float",
        "a.py:2-9 value RATE",
        "a.md:2-9 section Set-up > Install it.",
    ]


@pytest.mark.parametrize(
    ("tool", "key", "hint"),
    [
        ("search_code", "results", "list_symbols"),
        ("search_memory", "results", "list_memories"),
        ("list_memories", "memories", "store_memory"),
        ("related_tests", "tests", "search_code"),
        ("list_symbols", "symbols", "search_code"),
        ("find_related", "results", "snippet"),
    ],
)
def test_an_empty_answer_says_what_to_try(tool: str, key: str, hint: str) -> None:
    assert hint in compact(tool, {key: [], "stats": _STATS})["note"]
    assert "note" not in compact(tool, {key: [], "stats": {**_STATS, "note": "a filter matches nothing"}})


def test_all_fields_are_there_for_whoever_asks() -> None:
    assert asks_for_all({"query": "q", "detail": "full"}) == ({"query": "q"}, True)
    assert asks_for_all({"query": "q"}) == ({"query": "q"}, False)
