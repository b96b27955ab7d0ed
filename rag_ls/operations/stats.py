"""The statistics that answers of several subjects have."""

from __future__ import annotations

from collections.abc import Sequence

from rag_ls.model import Closeness, Coverage, Hit, SearchAnswer, SearchStats
from rag_ls.operations.fields import join_notes, optional
from rag_ls.util.records import dataclass, replace

DOUBTS = ("nothing ", "weak: ", "no line ")
"""A note that begins so says that hits may not answer."""
_NOTHING_CLOSE = "nothing {}is close to this"
_OTHER_WORDS = ": try a name or a part of one by itself, a word that stands in the code, or what it does in other words"
_WEAK = "weak: no place {}has the question's rarer words together"
_WEAK_IN_MEANING = "weak: no place {}is near to this in words and meaning together"


@dataclass(frozen=True, slots=True)
class Stats:
    """The way an answer came about, and what it could not see."""

    took_ms: float
    dense: bool
    candidates: int
    complete: bool
    pending_documents: int | None = optional()
    pending_embeddings: int | None = optional()
    indexed_percent: Coverage | None = optional()
    note: str = optional("")
    idle: bool = optional(False)
    """Whether nothing works on what is pending now."""
    nothing_close: bool = optional(False)
    """Whether no hit of code may answer: they are at most the two nearest."""


def make_stats(stats: SearchStats, *, names_other_words: bool = True) -> Stats:
    """The statistics as an answer tells them; where nothing is close, with the advice to ask in other words if that may help."""
    notes = (*stats.notes, *stats.absences)
    made = Stats(stats.took_ms, stats.dense, stats.candidates, stats.complete, note=join_notes(*notes))
    if not stats.complete:
        made = replace(
            made, pending_documents=stats.pending_documents, pending_embeddings=stats.pending_embeddings,
            indexed_percent=stats.coverage, idle=stats.is_idle,
        )  # fmt: skip
    if stats.closeness is Closeness.CLOSE:
        return made
    is_none = stats.closeness is Closeness.NONE
    weak = _WEAK_IN_MEANING if stats.dense else _WEAK
    doubt = (_NOTHING_CLOSE if is_none else weak).format("" if stats.is_read else "of what is read so far ")
    if is_none and stats.is_read and names_other_words:
        doubt += _OTHER_WORDS
    return replace(made, nothing_close=is_none, note=join_notes(doubt, *notes))


def merge_answers(query: str, answers: Sequence[SearchAnswer], k: int) -> SearchAnswer:
    """Answers of several projects as one, the best `k` hits first, each hit once; the only one as it is."""
    if len(answers) == 1:
        return answers[0]
    best: dict[str, Hit] = {}
    for hit in sorted((hit for answer in answers for hit in answer.hits), key=lambda hit: -hit.score):
        best.setdefault(hit.item.id, hit)
    return SearchAnswer(query, tuple(best.values())[:k], merge_stats(answers))


def merge_stats(answers: Sequence[SearchAnswer]) -> SearchStats:
    """The statistics of several projects' answers as one; one of which the filters leave no file says nothing of closeness."""
    stats = [answer.stats for answer in answers]
    if len(stats) == 1:
        return stats[0]
    return SearchStats(
        took_ms=round(sum(item.took_ms for item in stats), 1),
        dense=bool(stats) and all(item.dense for item in stats),
        candidates=sum(item.candidates for item in stats),
        complete=all(item.complete for item in stats),
        pending_documents=sum(item.pending_documents for item in stats),
        pending_embeddings=sum(item.pending_embeddings for item in stats),
        coverage=Coverage(
            min((item.coverage.words for item in stats), default=100),
            min((item.coverage.vectors for item in stats), default=100),
        ),
        notes=tuple(dict.fromkeys(note for item in stats for note in item.notes)),
        absences=tuple(_find_common([item.absences for item in stats])),
        is_idle=any(item.is_idle for item in stats),
        closeness=max(
            (item.closeness for item in [each for each in stats if each.candidates] or stats), default=Closeness.CLOSE
        ),
        is_read=all(item.is_read for item in stats),
    )


def _find_common(lists: Sequence[Sequence[str]]) -> list[str]:
    """The texts that stand in all lists, in the order of the first."""
    first, *others = lists or ((),)
    return [each for each in first if all(each in other for other in others)]


def add_notes(stats: Stats, *notes: str) -> Stats:
    """The same with more notes."""
    return replace(stats, note=join_notes(stats.note, *notes))
