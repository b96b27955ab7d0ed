"""The statistics that answers of several subjects have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_ls import model
from rag_ls.engine.client import merge_answers
from rag_ls.model import Coverage, SearchStats
from rag_ls.operations.fields import optional

_NOTHING_CLOSE = (
    "nothing {}is close to this: try a name, a word that stands in the code, or what it does in other words"
)


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
    nothing_close: bool = optional(False)
    """Whether no hit of code may answer: they are at most the two nearest."""


def make_stats(stats: SearchStats) -> Stats:
    """The statistics of an answer."""
    made = Stats(stats.took_ms, stats.dense, stats.candidates, stats.complete, note=stats.note)
    if not stats.complete:
        made = replace(
            made, pending_documents=stats.pending_documents, pending_embeddings=stats.pending_embeddings,
            indexed_percent=make_percent(stats.coverage), idle=stats.is_idle,
        )  # fmt: skip
    if stats.is_close:
        return made
    note = _NOTHING_CLOSE.format("of what is read so far " if stats.pending_documents else "")
    return replace(made, nothing_close=True, note="; ".join(filter(None, (note, stats.note))))


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
