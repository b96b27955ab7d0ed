"""Combines several signals into one score, and adds a little for important, recent and used memories.

The weights measured best on tests/benchmarks/recall (docs/quality.md has the figures). Reciprocal rank fusion, the
usual method, was worse than the dense signal alone: a rank does not distinguish a memory with all words of the question
from the best of many with one word.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime

from rag_ls.model import Memory
from rag_ls.search.fusion import Signals, fuse, highest_score, load_weights, share_of_highest

_MAX_TAGS = 2
_MAX_COUNTED_USES = 20


def score(signals: Signals[str], memory_id: str) -> float:
    """The fit of a memory, 0..1."""
    weights = load_weights("memories")
    evidence = {
        "dense": max(0.0, signals.dense.get(memory_id, 0.0)),
        "lexical": signals.lexical.get(memory_id, 0.0),
        "expanded": signals.expanded.get(memory_id, 0.0),
        "tags": min(_MAX_TAGS, signals.tags.get(memory_id, 0.0)) / _MAX_TAGS,
    }
    # `expanded` is left out: a word counts either as itself or as a synonym.
    highest = highest_score(weights, ["dense", "lexical", "tags"] if signals.dense else ["lexical", "tags"])
    return share_of_highest(fuse(evidence, weights), highest)


def lift_score(score: float, memory: Memory, now: datetime, half_life_days: float) -> float:
    """The score with a small bonus for importance, recency and use; still 0..1.

    A memory that was neither changed nor recalled for `half_life_days` has half of its recency left; 0 means no decay.
    """
    weights = load_weights("memories")
    # Their weights are small, so that they move a memory by a few places at most: the fit to the question matters most.
    evidence = {
        "importance": memory.metadata.importance_score,
        "recency": recency(memory, now, half_life_days),
        "use": min(1.0, math.log1p(memory.uses) / math.log1p(_MAX_COUNTED_USES)),
    }
    return score * (1 + fuse(evidence, weights)) / (1 + highest_score(weights, evidence))


def recency(memory: Memory, now: datetime, half_life_days: float) -> float:
    """1 for a memory that was just changed or recalled, and half as much after each half-life."""
    if half_life_days <= 0:
        return 1.0
    last = max(parse_stamp(memory.updated_at), parse_stamp(memory.used_at or memory.updated_at))
    days = max(0.0, (now - last).total_seconds() / 86_400)
    return float(0.5 ** (days / half_life_days))


def parse_stamp(stamp: str) -> datetime:
    """A time of a record; one without an offset is in UTC. A damaged one is long ago."""
    try:
        at = datetime.fromisoformat(stamp)
    except ValueError:
        at = datetime.min
    return at if at.tzinfo else at.replace(tzinfo=UTC)
