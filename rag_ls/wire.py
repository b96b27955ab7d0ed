"""Answers as JSON objects: one shape for the command line, LSP, MCP and HTTP."""

from __future__ import annotations

import os
from typing import Any

from rag_ls import __version__
from rag_ls.engine import About, Engine
from rag_ls.hosting import HostedProject
from rag_ls.indexing import Progress
from rag_ls.memory import Stored
from rag_ls.model import Anchor, Hit, Memory, SearchAnswer, StoredChunk
from rag_ls.requests import ProjectStatus

Json = dict[str, Any]


def answer_json(answer: SearchAnswer) -> Json:
    """`{"query", "results", "stats"}`."""
    stats = answer.stats
    result: Json = {
        "took_ms": stats.took_ms,
        "dense": stats.dense,
        "candidates": stats.candidates,
        "complete": stats.complete,
    }
    if not stats.complete:
        result |= {"pending_documents": stats.pending_documents, "pending_embeddings": stats.pending_embeddings}
    if stats.note:
        result["note"] = stats.note
    return {"query": answer.query, "results": [hit_json(hit) for hit in answer.hits], "stats": result}


def hit_json(hit: Hit) -> Json:
    """A chunk or memory with its score."""
    scored = {"score": round(hit.score, 4), "matched_by": list(hit.matched_by)}
    if isinstance(hit.item, Memory):
        return {"kind": "memory", **memory_json(hit.item), **scored}
    freshness = hit.freshness.value if hit.freshness else None
    return {"kind": "chunk", **_chunk_json(hit.item), **scored, "freshness": freshness, "text": hit.item.chunk.text}


def _chunk_json(stored: StoredChunk) -> Json:
    chunk = stored.chunk
    return {
        "id": stored.id,
        "path": chunk.path,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "language": chunk.language,
        "symbol": chunk.symbol,
        "node_type": chunk.node_type,
    }


def memory_json(memory: Memory) -> Json:
    """A memory record, without its embedding."""
    meta = memory.metadata
    metadata: Json = {
        "tags": list(meta.tags),
        "source_file": meta.source_file,
        "language": meta.language,
        "chunk_index": meta.chunk_index,
        "parent_id": meta.parent_id,
        "ast_node_type": meta.ast_node_type,
        "importance_score": meta.importance_score,
        "custom": dict(meta.custom),
    }
    return {
        "id": memory.id,
        "content": memory.content,
        "scope": memory.scope.value,
        "metadata": {key: value for key, value in metadata.items() if value not in (None, [], {})},
        "memory_type": memory.memory_type.value,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "version": memory.version,
        "anchor": anchor_json(memory.anchor),
    }


def anchor_json(anchor: Anchor | None) -> Json | None:
    """The place that a memory is about and how it stands, or None."""
    if anchor is None:
        return None
    place: Json = {"path": anchor.path, "state": anchor.state.value}
    if anchor.symbol:
        place["symbol"] = anchor.symbol
    if anchor.start_line:
        place["line"] = anchor.start_line
    return place


def stored_json(stored: Stored) -> Json:
    """What storing a memory did."""
    memory = stored.memory
    result: Json = {
        "id": memory.id,
        "status": stored.status,
        "version": memory.version,
        "scope": memory.scope.value,
        "anchor": anchor_json(memory.anchor),
    }
    if stored.status != "inserted":
        result["duplicate_of"] = memory.id
    return result


def engine_json(engine: Engine, *, full: bool = False) -> Json:
    """The engine; in `full`, with its clients and how long operations take."""
    result: Json = {
        "mode": "shared" if engine.address else "standalone",
        "pid": os.getpid(),
        "version": __version__,
        "uptime_s": round(engine.uptime_s, 1),
    }
    if not full:
        return result
    latency = {
        name: {"count": item.count, "p50_ms": item.p50, "p95_ms": item.p95, "p99_ms": item.p99}
        for name, item in engine.latencies.summary().items()
    }
    return {
        **result,
        "address": engine.address,
        "log": engine.log_file,
        "memory_bytes": engine.memory_bytes(),
        "models": [
            {"model": model.model_id, "ready": True, "worker_pid": model.worker_process_id}
            for model in engine.models.loaded()
        ],
        "clients": [_client_json(about) for about in engine.clients()],
        "latency": latency,
    }


def _client_json(about: About) -> Json:
    return {
        "surface": about.surface,
        "name": about.name,
        "pid": about.pid,
        "connected_at": about.connected_at.isoformat(timespec="seconds"),
    }


def progress_json(project: str, progress: Progress) -> Json:
    """One step of a project's indexing."""
    return {"project": project, "phase": progress.phase.value, "done": progress.done, "total": progress.total}


def hosted_json(hosted: HostedProject, users: int) -> Json:
    """One of the engine's projects, in short."""
    counts = hosted.store.counts()
    return {
        "root": str(hosted.project.root),
        "documents": counts.documents,
        "chunks": counts.chunks,
        "queued_documents": counts.queued_documents + len(hosted.indexing.unseen()),
        "pending_embeddings": counts.pending_embeddings,
        "activity": str(hosted.indexing.progress),
        "clients": users,
    }


def status_json(status: ProjectStatus) -> Json:
    """How one project stands."""
    result: Json = {
        "root": status.root,
        "complete": status.complete,
        "documents": status.documents,
        "chunks": status.chunks,
        "queued_documents": status.queued_documents,
        "pending_embeddings": status.pending_embeddings,
        "unsaved_buffers": status.buffers,
        "skipped": status.skipped,
        "activity": str(status.progress),
        "sync": status.sync,
        "last_sync": status.last_sync,
        "model": status.model,
        "model_ready": status.model_ready,
        "memories": status.memories,
    }
    if not status.scanned:
        result["note"] = "the files were not compared with the index yet since this process started"
    if status.note:
        result["note"] = status.note
    return result
