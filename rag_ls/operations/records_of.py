"""Turns the engine's results into the records of the operations' answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from rag_ls import __version__, model
from rag_ls.engine.client import merged
from rag_ls.engine.code.code_memories import Consolidated
from rag_ls.engine.code.lookup import Excerpt
from rag_ls.engine.code.related_tests import RelatedTest
from rag_ls.engine.engine import About, Engine
from rag_ls.engine.project_view import ProjectView
from rag_ls.engine.published import PublishedCode
from rag_ls.engine.requests import ProjectStatus
from rag_ls.engine.shared_project import SharedProject
from rag_ls.indexing import Progress
from rag_ls.memory import Stored
from rag_ls.memory.contradictions import contradiction
from rag_ls.memory.recall import memory_of
from rag_ls.model import Anchor, Coverage, Hit, Memory, MemoryMetadata, MemoryVersion, SearchStats, StoredChunk
from rag_ls.operations.json_of import Json
from rag_ls.operations.records import (
    AnchorRecord,
    BriefMemory,
    ClientRecord,
    CodeRecord,
    ConsolidationAnswer,
    ContradictionRecord,
    EngineRecord,
    LatencyRecord,
    MemoryRecord,
    MergeRecord,
    MetadataRecord,
    ModelRecord,
    OpenProjectRecord,
    Percent,
    ProjectStatusRecord,
    Stats,
    StoredAnswer,
    SymbolRecord,
    TestRecord,
    VersionRecord,
)
from rag_ls.project import is_guest
from rag_ls.storage import StoredSymbol
from rag_ls.util import own_processes

# Longer content is cut in lists and search answers; get_memory gives all of it.
_SHOWN_CHARACTERS = 2000
_BRIEF_CHARACTERS = 160

Source = ProjectView | PublishedCode
"""What is searched."""

# --- code


def stats_of(stats: SearchStats) -> Stats:
    """The statistics of an answer."""
    if stats.complete:
        return Stats(stats.took_ms, stats.dense, stats.candidates, True, note=stats.note)
    return Stats(
        stats.took_ms, stats.dense, stats.candidates, False, stats.pending_documents, stats.pending_embeddings,
        percent_of(stats.coverage), stats.note, stats.is_idle,
    )  # fmt: skip


def percent_of(coverage: Coverage) -> Percent:
    """The coverage of each tier, in percent."""
    return Percent(coverage.words, coverage.vectors)


def code_record(hit: Hit) -> CodeRecord:
    """A chunk with its score."""
    assert isinstance(hit.item, StoredChunk)
    chunk = hit.item.chunk
    return CodeRecord(
        "chunk", hit.item.id, chunk.path, chunk.start_line, chunk.end_line, chunk.language, chunk.symbol, chunk.node_type,
        round(hit.score, 4), hit.matched_by, hit.freshness.value if hit.freshness else None, text=chunk.text,
    )  # fmt: skip


def placed_code_record(source: Source, hit: Hit) -> CodeRecord:
    """A chunk with its score, its declaration's signature if its text does not show it, and its file, if it is here."""
    record = replace(code_record(hit), scope=_scope(hit), why=hit.why)
    if isinstance(source, PublishedCode):
        return replace(record, project=source.name)
    return replace(record, file=file_of(source, record.path))


def excerpt_record(view: ProjectView, excerpt: Excerpt, context: str) -> CodeRecord:
    """A chunk with its context."""
    record = placed_code_record(view, excerpt.hit)
    if context == "chunk":
        return record
    return replace(
        record, scope="", context=context, start_line=excerpt.start_line, end_line=excerpt.end_line, text=excerpt.text,
        note=excerpt.note,
    )  # fmt: skip


def file_of(view: ProjectView, path: str) -> str:
    """The place of a document for an agent's own tools: an absolute path, or a URI if it is no file."""
    return path if is_guest(path) else str(view.project.root / path)


def _scope(hit: Hit) -> str:
    chunk = hit.item.chunk if isinstance(hit.item, StoredChunk) else None
    if chunk is None or chunk.is_declaration or not chunk.symbol:
        return ""
    return "" if chunk.signature in " ".join(chunk.text.split()) else chunk.signature


def symbol_record(view: ProjectView, item: StoredSymbol, *, names_project: bool) -> SymbolRecord:
    """A declaration."""
    return SymbolRecord(
        item.path, item.symbol, item.kind, item.start_line, item.end_line, item.signature, item.exported,
        project=str(view.project.root) if names_project else "",
    )  # fmt: skip


def test_record(view: ProjectView, test: RelatedTest) -> TestRecord:
    """A test document."""
    record = TestRecord(test.path, file_of(view, test.path), test.score, test.why, mentioned_in=test.mentions)
    if test.chunk is None:
        return record
    chunk = test.chunk.chunk
    return replace(record, id=test.chunk.id, symbol=chunk.symbol, start_line=chunk.start_line, end_line=chunk.end_line)


# --- memories


def metadata_record(meta: MemoryMetadata) -> MetadataRecord:
    """The metadata of a memory."""
    return MetadataRecord(
        meta.tags, meta.source_file, meta.language, meta.chunk_index, meta.parent_id, meta.ast_node_type,
        meta.importance_score, dict(meta.custom),
    )  # fmt: skip


def memory_record(memory: Memory) -> MemoryRecord:
    """A memory as lists show it: long content is cut."""
    cut = len(memory.content) > _SHOWN_CHARACTERS
    return MemoryRecord(
        memory.id, memory.content[:_SHOWN_CHARACTERS] + "…" if cut else memory.content, memory.scope.value,
        metadata_record(memory.metadata), memory.memory_type.value, memory.created_at, memory.updated_at, memory.version,
        anchor_record(memory.anchor), truncated=cut, branch=memory.branch or "", uses=memory.uses or None,
        used_at=memory.used_at if memory.uses else None, summary_key=memory.summary_key or None,
    )  # fmt: skip


def whole_memory_record(memory: Memory) -> MemoryRecord:
    """A complete memory, without its embedding."""
    return replace(
        memory_record(memory), content=memory.content, truncated=False, uses=memory.uses, used_at=memory.used_at,
        content_hash=memory.content_hash, source_uri=memory.source_uri, source_memory_ids=memory.source_memory_ids,
    )  # fmt: skip


def memory_hit(hit: Hit) -> MemoryRecord:
    """A memory with its score."""
    return replace(
        memory_record(memory_of(hit)), kind="memory", score=round(hit.score, 4), matched_by=hit.matched_by,
        similarity=None if hit.similarity is None else round(hit.similarity, 4),
    )  # fmt: skip


def version_record(version: MemoryVersion) -> VersionRecord:
    """A former version of a memory."""
    memory = version.memory
    return VersionRecord(
        memory.version, memory.content, metadata_record(memory.metadata), memory.memory_type.value, memory.updated_at,
        version.replaced_at, version.reason,
    )  # fmt: skip


def anchor_record(anchor: Anchor | None) -> AnchorRecord | None:
    """The place that a memory is about, with its state, or None."""
    if anchor is None:
        return None
    return AnchorRecord(
        anchor.path, anchor.state.value, anchor.symbol, anchor.start_line, anchor.project, anchor.former_symbol
    )


def stored_answer(stored: Stored) -> StoredAnswer:
    """The outcome of storing a memory."""
    memory = stored.memory
    is_duplicate = stored.status == "duplicate" or (stored.status == "updated" and stored.is_duplicate)
    return StoredAnswer(
        memory.id, stored.status, memory.version, memory.scope.value, anchor_record(memory.anchor),
        duplicate_of=memory.id if is_duplicate else "",
        known=tuple(_known(memory, hit) for hit in stored.known),
        evicted=stored.evicted,
        note="the session was full: the oldest of its least important memories made room" if stored.evicted else "",
    )  # fmt: skip


def _known(memory: Memory, hit: Hit) -> BriefMemory:
    """A memory that says about the same as a stored one, or the opposite."""
    other = memory_of(hit)
    opposed = contradiction(memory, other)
    return replace(
        brief(other), similarity=round(hit.similarity or 0.0, 4), cosine=round(hit.score, 4),
        contradicts=opposed.reason if opposed else "",
    )  # fmt: skip


def brief(memory: Memory) -> BriefMemory:
    """A memory in a few words."""
    content = " ".join(memory.content.split())
    short = content if len(content) <= _BRIEF_CHARACTERS else content[: _BRIEF_CHARACTERS - 1] + "…"
    return BriefMemory(memory.id, short, memory.scope.value)


def consolidation_answer(done: Consolidated, *, dry_run: bool, threshold: float) -> ConsolidationAnswer:
    """A consolidation's merges (planned ones in a dry run), contradictions, and memories that were never recalled."""
    plans = list(done.plans.values())
    return ConsolidationAnswer(
        dry_run,
        threshold,
        tuple(
            MergeRecord(brief(item.kept), tuple(map(brief, item.merged)), round(item.cosine, 4))
            for plan in plans
            for item in plan.merges
        ),
        tuple(
            ContradictionRecord((brief(item.one), brief(item.other)), item.reason)
            for plan in plans
            for item in plan.contradictions
        ),
        tuple(brief(item) for plan in plans for item in plan.never_recalled),
        {scope.value: number for scope, number in done.ids.items() if number},
    )


# --- the engine and its projects


def engine_record(engine: Engine, *, full: bool = False) -> EngineRecord:
    """The engine; with `full`, its clients, models and latencies too."""
    mode = "shared" if engine.address else "standalone"
    record = EngineRecord(mode, os.getpid(), __version__, round(engine.uptime_s, 1))
    if not full:
        return record
    return replace(
        record,
        address=engine.address,
        log=engine.log_file,
        memory_bytes=own_processes.memory_bytes(),
        processor_s=round(own_processes.processor_s(), 2),
        models=tuple(ModelRecord(item.model_id, True, item.worker_process_id) for item in engine.models.loaded()),
        clients=tuple(map(_client_record, engine.clients())),
        latency={
            name: LatencyRecord(item.count, item.p50, item.p95, item.p99)
            for name, item in engine.latencies.summary().items()
        },
    )


def _client_record(about: About) -> ClientRecord:
    return ClientRecord(about.surface, about.name, about.pid, about.connected_at.isoformat(timespec="seconds"))


def progress_json(project: str, progress: Progress) -> Json:
    """One step of a project's indexing as JSON."""
    return {"project": project, "phase": progress.phase.value, "done": progress.done, "total": progress.total}


def open_project_record(shared: SharedProject, users: int) -> OpenProjectRecord:
    """One of the engine's projects, in short."""
    counts = shared.index.checkout.counts()
    return OpenProjectRecord(
        str(shared.project.root), counts.documents, counts.chunks, counts.queued_documents + len(shared.indexing.unseen()),
        counts.pending_embeddings, str(shared.indexing.activity), users,
    )  # fmt: skip


def status_record(status: ProjectStatus) -> ProjectStatusRecord:
    """The state of one project."""
    unknown = "" if status.scanned else "the files were not compared with the index yet since this process started"
    note = "; ".join(filter(None, (unknown, status.note)))
    return ProjectStatusRecord(
        status.root, status.complete, status.documents, status.chunks, status.queued_documents, status.pending_embeddings,
        percent_of(status.coverage), status.buffers, status.skipped, str(status.progress), status.sync, status.last_sync,
        status.model, status.model_ready, status.memories, note=note, share_problem=status.share_problem,
    )  # fmt: skip


# --- answers of several projects


def best_of(
    sources: Sequence[Source],
    answers: Sequence[model.SearchAnswer],
    k: int,
    record: Callable[[Source, Hit], CodeRecord],
) -> tuple[CodeRecord, ...]:
    """The best `k` hits of the answers of several projects; each then names its project.

    Two projects may hold the same file: its hits in both are different ones.
    """
    hits = [(source, hit) for source, answer in zip(sources, answers, strict=True) for hit in answer.hits]
    best = sorted(hits, key=lambda item: -item[1].score)[:k]
    found = [(source, record(source, hit)) for source, hit in best]
    if len(sources) == 1:
        return tuple(each for _, each in found)
    return tuple(replace(each, project=_named(source)) for source, each in found)


def _named(source: Source) -> str:
    """A project's root, or the name of one that is published."""
    return source.name if isinstance(source, PublishedCode) else str(source.project.root)


def stats_of_all(query: str, answers: Sequence[model.SearchAnswer]) -> Stats:
    """The statistics of several projects' answers, merged."""
    without_hits = [replace(answer, hits=()) for answer in answers]
    return stats_of((merged(query, without_hits, 0) if len(answers) > 1 else without_hits[0]).stats)


def with_note(stats: Stats, note: str) -> Stats:
    """The same with one more note."""
    return replace(stats, note="; ".join(filter(None, (stats.note, note))))
