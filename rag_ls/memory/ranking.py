"""Combines several signals into one score, and adds a little for important, recent and used memories.

The weights measured best on tests/benchmarks/recall (docs/quality.md has the figures). Reciprocal rank fusion, the
usual method, was worse than the dense signal alone: a rank does not distinguish a memory with all words of the question
from the best of many with one word.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from rag_ls.model import Memory

_DENSE, _WORDS, _EXPANDED, _TAG = 1.0, 0.5, 0.2, 0.05
_MAX_TAGS = 2
# Small, so that these move a memory by a few places at most: fitting the question matters most.
_IMPORTANCE = 0.03
_RECENCY = 0.02
_USE = 0.01
_MAX_COUNTED_USES = 20


@dataclass(frozen=True, slots=True)
class Signals:
    """The value of each signal for the memories that it found, by memory id."""

    dense: Mapping[str, float]
    """The cosine with the question; empty if no model answered."""
    words: Mapping[str, float]
    """The share of the question's words in the memory, 0..1; rare words count more."""
    expanded: Mapping[str, float]
    """The same share for words that the memory holds only as an abbreviation, in full form, or as a synonym."""
    tags: Mapping[str, float]
    """The number of the question's words that are tags."""

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
        # `_EXPANDED` is not added: a word counts either as itself or as a synonym.
        best = _WORDS + _MAX_TAGS * _TAG + (_DENSE if self.dense else 0.0)
        return min(1.0, score / best)


def lifted(score: float, memory: Memory, now: datetime, half_life_days: float) -> float:
    """The score with a small bonus for importance, recency and use; still 0..1.

    A memory that was neither changed nor recalled for `half_life_days` has half of its recency left; 0 means no decay.
    """
    lift = (
        _IMPORTANCE * memory.metadata.importance_score
        + _RECENCY * recency(memory, now, half_life_days)
        + _USE * min(1.0, math.log1p(memory.uses) / math.log1p(_MAX_COUNTED_USES))
    )
    return score * (1 + lift) / (1 + _IMPORTANCE + _RECENCY + _USE)


def recency(memory: Memory, now: datetime, half_life_days: float) -> float:
    """1 for a memory that was just changed or recalled, and half as much after each half-life."""
    if half_life_days <= 0:
        return 1.0
    last = max(parsed(memory.updated_at), parsed(memory.used_at or memory.updated_at))
    days = max(0.0, (now - last).total_seconds() / 86_400)
    return float(0.5 ** (days / half_life_days))


def parsed(stamp: str) -> datetime:
    """A time of a record; one without an offset is in UTC. A damaged one is long ago."""
    try:
        at = datetime.fromisoformat(stamp)
    except ValueError:
        at = datetime.min
    return at if at.tzinfo else at.replace(tzinfo=UTC)
