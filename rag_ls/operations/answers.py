"""Answers as JSON objects: one shape for the command line, LSP, MCP and HTTP."""

from __future__ import annotations

import os
from typing import Any

from rag_ls import __version__
from rag_ls.engine.code.code_memories import Consolidated
from rag_ls.engine.engine import About, Engine
from rag_ls.engine.requests import ProjectStatus
from rag_ls.engine.shared_project import SharedProject
from rag_ls.indexing import Progress
from rag_ls.memory import Stored
from rag_ls.model import Anchor, Coverage, Hit, Memory, MemoryMetadata, MemoryVersion, SearchAnswer, StoredChunk

Json = dict[str, Any]


# Longer content is cut in lists and search answers; get_memory gives all of it.
_SHOWN_CONTENT = 2000
_KNOWN_CONTENT = 160
# An answer of lists holds no more characters of memories than this.
_MOST_LISTED = 400_000


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
        result["indexed_percent"] = _coverage_json(stats.coverage)
    if stats.note:
        result["note"] = stats.note
    return {"query": answer.query, "results": [hit_json(hit) for hit in answer.hits], "stats": result}


def _coverage_json(coverage: Coverage) -> Json:
    return {"words": coverage.words, "vectors": coverage.vectors}


def hit_json(hit: Hit) -> Json:
    """A chunk or memory with its score."""
    scored = {"score": round(hit.score, 4), "matched_by": list(hit.matched_by)}
    if isinstance(hit.item, Memory):
        if hit.similarity is not None:
            scored["similarity"] = round(hit.similarity, 4)
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


def metadata_json(meta: MemoryMetadata) -> Json:
    """What a caller said about a memory; what was not said is left out."""
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
    return {key: value for key, value in metadata.items() if value not in (None, [], {})}


def memory_json(memory: Memory, *, full: bool = False) -> Json:
    """A memory; in `full` the whole record, without its embedding."""
    cut = not full and len(memory.content) > _SHOWN_CONTENT
    record: Json = {
        "id": memory.id,
        "content": memory.content[:_SHOWN_CONTENT] + "…" if cut else memory.content,
        "scope": memory.scope.value,
        "metadata": metadata_json(memory.metadata),
        "memory_type": memory.memory_type.value,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "version": memory.version,
        "anchor": anchor_json(memory.anchor),
    }
    if cut:
        record["truncated"] = True
    if memory.branch:
        record["branch"] = memory.branch
    if memory.uses or full:
        record |= {"uses": memory.uses, "used_at": memory.used_at}
    if memory.summary_key or full:
        record["summary_key"] = memory.summary_key
    if full:
        record |= {
            "content_hash": memory.content_hash,
            "source_uri": memory.source_uri,
            "source_memory_ids": list(memory.source_memory_ids),
        }
    return record


def contained(records: list[Json]) -> list[Json]:
    """As many of the first records as one answer may hold, and one at least."""
    size = 0
    shown: list[Json] = []
    for record in records:
        size += len(record["content"]) + len(str(record["metadata"]))
        if shown and size > _MOST_LISTED:
            break
        shown.append(record)
    return shown


def version_json(version: MemoryVersion) -> Json:
    """A former version of a memory."""
    memory = version.memory
    return {
        "version": memory.version,
        "content": memory.content,
        "metadata": metadata_json(memory.metadata),
        "memory_type": memory.memory_type.value,
        "updated_at": memory.updated_at,
        "replaced_at": version.replaced_at,
        "reason": version.reason,
    }


def _brief(memory: Memory) -> Json:
    content = " ".join(memory.content.split())
    short = content if len(content) <= _KNOWN_CONTENT else content[: _KNOWN_CONTENT - 1] + "…"
    return {"id": memory.id, "content": short, "scope": memory.scope.value}


def consolidation_json(done: Consolidated) -> Json:
    """What a consolidation merged, or would merge, what it did not dare to, and what nobody ever recalled."""
    merges, contradictions, never = [], [], []
    for plan in done.plans.values():
        merges += [
            {
                "kept": _brief(item.kept),
                "merged": [_brief(gone) for gone in item.merged],
                "cosine": round(item.cosine, 4),
            }
            for item in plan.merges
        ]
        contradictions += [
            {"memories": [_brief(item.one), _brief(item.other)], "reason": item.reason} for item in plan.contradictions
        ]
        never += [_brief(item) for item in plan.never_recalled]
    return {
        "merges": merges,
        "contradictions": contradictions,
        "never_recalled": never,
        "undo": {scope.value: number for scope, number in done.ids.items() if number},
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
    if anchor.project:
        place["project"] = anchor.project
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
    if stored.status == "duplicate" or (stored.status == "updated" and stored.is_duplicate):
        result["duplicate_of"] = memory.id
    if stored.known:
        result["known"] = [
            {**_brief(hit.item), "similarity": round(hit.similarity or 0.0, 4)}
            for hit in stored.known
            if isinstance(hit.item, Memory)
        ]
    if stored.evicted:
        result |= {
            "evicted": list(stored.evicted),
            "note": "the session was full: the oldest of its least important memories made room",
        }
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


def shared_project_json(shared: SharedProject, users: int) -> Json:
    """One of the engine's projects, in short."""
    counts = shared.index.checkout.counts()
    return {
        "root": str(shared.project.root),
        "documents": counts.documents,
        "chunks": counts.chunks,
        "queued_documents": counts.queued_documents + len(shared.indexing.unseen()),
        "pending_embeddings": counts.pending_embeddings,
        "activity": str(shared.indexing.progress),
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
        "indexed_percent": _coverage_json(status.coverage),
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
