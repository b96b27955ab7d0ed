"""The words that a question asks for, and what each counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from rag_ls.util.records import dataclass, field


@dataclass(frozen=True, slots=True)
class AskedTerms:
    """A question's words by stem, with their weights."""

    weights: Mapping[str, float]
    stems: frozenset[str] = field(init=False)
    total: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stems", frozenset(self.weights))
        object.__setattr__(self, "total", sum(self.weights.values()))

    def share(self, stems: AbstractSet[str]) -> float:
        """The weighted share of the question's words that are among `stems`, 0..1."""
        if not self.total or self.stems.isdisjoint(stems):
            return 0.0
        # In the order of the question: the order of a set differs between processes, and so would the last bits of the sum.
        return sum([weight for stem, weight in self.weights.items() if stem in stems]) / self.total

    def share_asked(self, stems: AbstractSet[str]) -> float:
        """The share of `stems` that are words of the question, 0..1."""
        return len(self.stems & stems) / len(stems) if stems else 0.0


def rarity(count: int, holders: int, unseen: float = 1.0) -> float:
    """The weight of a word that `holders` of `count` texts hold. `unseen` are added to the holders, as more texts may come."""
    return math.log(1 + count / (holders + unseen))
