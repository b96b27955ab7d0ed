"""The statistics that answers of several subjects have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_ls import model
from rag_ls.engine.client import merge_answers
from rag_ls.model import Coverage, SearchStats
from rag_ls.operations.fields import optional


@dataclass(frozen=True, slots=True)
class Percent:
    """The amount of a project that each tier of its index holds."""

    words: int
    vectors: int


@dataclass(frozen=True, slots=True)
class Stats:
    """The way an answer came about, and what it could not see."""

    took_ms: float
    dense: bool
    candidates: int
    complete: bool
    pending_documents: int | None = optional()
    pending_embeddings: int | None = optional()
    indexed_percent: Percent | None = optional()
    note: str = optional("")
    idle: bool = optional(False)
    """Whether nothing works on what is pending now."""


def make_stats(stats: SearchStats) -> Stats:
    """The statistics of an answer."""
    if stats.complete:
        return Stats(stats.took_ms, stats.dense, stats.candidates, True, note=stats.note)
    return Stats(
        took_ms=stats.took_ms, dense=stats.dense, candidates=stats.candidates, complete=False,
        pending_documents=stats.pending_documents, pending_embeddings=stats.pending_embeddings,
        indexed_percent=make_percent(stats.coverage), note=stats.note, idle=stats.is_idle,
    )  # fmt: skip


def make_percent(coverage: Coverage) -> Percent:
    """The coverage of each tier, in percent."""
    return Percent(coverage.words, coverage.vectors)


def merge_stats(query: str, answers: Sequence[model.SearchAnswer]) -> Stats:
    """The statistics of several projects' answers, merged."""
    without_hits = [replace(answer, hits=()) for answer in answers]
    return make_stats((merge_answers(query, without_hits, 0) if len(answers) > 1 else without_hits[0]).stats)


def add_note(stats: Stats, note: str) -> Stats:
    """The same with one more note."""
    return replace(stats, note="; ".join(filter(None, (stats.note, note))))
