"""Answers as people read them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from rag_ls.cli import render

_SINCE = "2026-01-02T03:00:00+00:00"
_STATUS: dict[str, Any] = {
    "root": "/work/shop", "complete": True, "activity": "reading 1/2 files", "documents": 1234, "chunks": 5678, "queued_documents": 0,
    "pending_embeddings": 0, "skipped": {"binary": 2}, "model": "m@1", "memories": {"session": 1, "project": 2},
    "sync": "watching", "last_sync": "2026-01-02T03:04:05+00:00",
}  # fmt: skip
_ENGINE: dict[str, Any] = {
    "mode": "shared", "pid": 7, "uptime_s": 3725.0, "memory_bytes": 270_000_000, "address": "/run/engine.sock",
    "log": "/log", "models": [{"model": "m@1"}],
    "clients": [{"surface": "mcp", "name": "claude", "pid": 9, "connected_at": _SINCE}],
    "latency": {"search": {"count": 1200, "p50_ms": 12.4, "p95_ms": 30.0, "p99_ms": 1045.0}},
}  # fmt: skip


def _local(stamp: str) -> str:
    return f"{datetime.fromisoformat(stamp).astimezone():%H:%M:%S}"


def test_a_status_shows_project_engine_clients_and_latencies() -> None:
    other = {"root": "/work/bank", "chunks": 9, "queued_documents": 1, "pending_embeddings": 2, "clients": 0}
    shown = render.render_status({**_STATUS, "engine": _ENGINE, "projects": [{"root": "/work/shop"}, other]})
    assert shown.split("\n") == [
        "project   /work/shop",
        "index     complete",
        "contents  1,234 files in 5,678 chunks",
        "skipped   2 binary",
        "model     m@1",
        "memories  2 project",
        f"sync      watching, last {_local('2026-01-02T03:04:05+00:00')}",
        "",
        "engine    PID 7, up 1 h 2 min, 270 MB, at /run/engine.sock",
        "models    m@1",
        "log       /log",
        f"client    mcp claude, PID 9, since {_local(_SINCE)}",
        "latency   search: 12 / 30 / 1,045 ms (p50 / p95 / p99 of 1,200)",
        "also open /work/bank: 9 chunks, 3 to do, 0 clients",
    ]


def test_a_folder_whose_name_has_a_line_end_takes_one_line() -> None:
    lines = render.render_status({**_STATUS, "root": "/work/a\nb", "engine": {"mode": "standalone", "pid": 7}}).split(
        "\n"
    )
    assert lines[:2] == ["project   /work/a b", "index     complete"]


def test_a_status_without_a_shared_engine_says_so() -> None:
    shown = render.render_status({**_STATUS, "last_sync": None, "engine": {"mode": "standalone", "pid": 7}})
    assert "sync      watching, last never" in shown
    assert "engine    none is shared; this command worked alone (PID 7)" in shown


def test_a_status_says_how_far_each_tier_is() -> None:
    going_on = {"complete": False, "queued_documents": 1000, "pending_embeddings": 5000}
    percent = {"indexed_percent": {"words": 55, "vectors": 6}}
    assert render.render_status({**_STATUS, **going_on, **percent}).split("\n")[1] == (
        "index     found by words 55 %, by meaning 6 %; not complete: 1,000 files to read, 5,000 chunks to embed"
    )
    read = {**going_on, "queued_documents": 0}
    assert (
        render.render_status({**_STATUS, **read, **percent})
        .split("\n")[1]
        .endswith("not complete: 5,000 chunks to embed")
    )
    without = {**going_on, "pending_embeddings": 0, "model": ""}
    assert render.render_status({**_STATUS, **without, **percent}).split("\n")[1] == (
        "index     found by words 55 %; not complete: 1,000 files to read"
    )
