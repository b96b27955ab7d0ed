"""From several signals to one score, then a little for what is important, recent and used.

The weights are those that measured best on tests/benchmarks/recall (docs/quality.md has the figures). Reciprocal rank
fusion, the usual way, came out below the dense signal alone there: a rank does not tell a memory that holds all words
of the question from the best of many that hold one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from rag_ls.model import Memory

_DENSE, _WORDS, _EXPANDED, _TAG = 1.0, 0.5, 0.2, 0.05
_MAX_TAGS = 2
# A few places' worth at most: what fits the question comes first.
_IMPORTANCE = 0.03
_RECENCY = 0.02
_USE = 0.01
_MAX_COUNTED_USES = 20


@dataclass(frozen=True, slots=True)
class Signals:
    """What each signal says of the memories that it found, by their ids."""

    dense: Mapping[str, float]
    """Cosine with the question; empty where no model answered."""
    words: Mapping[str, float]
    """Share of the question's words, 0..1, rare ones counting more."""
    expanded: Mapping[str, float]
    """The same for words that are there only as an abbreviation, in full, or as a synonym."""
    tags: Mapping[str, float]
    """How many of the question's words are tags."""

    def matched_by(self, memory_id: str) -> tuple[str, ...]:
        """The signals that found a memory."""
        named = (("dense", self.dense), ("lexical", self.words), ("expanded", self.expanded), ("tags", self.tags))
        return tuple(name for name, values in named if memory_id in values)

    def score(self, memory_id: str) -> float:
        """How well a memory fits, 0..1."""
        score = (
            _DENSE * max(0.0, self.dense.get(memory_id, 0.0))
            + _WORDS * self.words.get(memory_id, 0.0)
            + _EXPANDED * self.expanded.get(memory_id, 0.0)
            + _TAG * min(_MAX_TAGS, self.tags.get(memory_id, 0.0))
        )
        # What is there only as another word is not there as itself.
        best = _WORDS + _MAX_TAGS * _TAG + (_DENSE if self.dense else 0.0)
        return min(1.0, score / best)


def lifted(score: float, memory: Memory, now: datetime, half_life_days: float) -> float:
    """The score with a little more for an important, recent and often recalled memory; still 0..1.

    A memory that was neither changed nor recalled for `half_life_days` has half of its recency left; 0 is for no decay.
    """
    lift = (
        _IMPORTANCE * memory.metadata.importance_score
        + _RECENCY * recency(memory, now, half_life_days)
        + _USE * min(1.0, math.log1p(memory.uses) / math.log1p(_MAX_COUNTED_USES))
    )
    return score * (1 + lift) / (1 + _IMPORTANCE + _RECENCY + _USE)


def recency(memory: Memory, now: datetime, half_life_days: float) -> float:
    """1 for what was changed or recalled just now, half of it after each half-life."""
    if half_life_days <= 0:
        return 1.0
    last = max(parsed(memory.updated_at), parsed(memory.used_at or memory.updated_at))
    days = max(0.0, (now - last).total_seconds() / 86_400)
    return float(0.5 ** (days / half_life_days))


def parsed(stamp: str) -> datetime:
    """A time of a record; one without an offset is in UTC."""
    at = datetime.fromisoformat(stamp)
    return at if at.tzinfo else at.replace(tzinfo=UTC)
