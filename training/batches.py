"""Batches of pairs in groups of one repository each, so that each pair's answer is a hard negative of its group's others."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence

from training.pairs import Pair


def batches(pairs: Sequence[Pair], size: int, groups: int, seed: int) -> list[list[Pair]]:
    """All pairs in batches of `size`, mixed by the seed; what does not fill a batch is left out.

    A batch holds `groups` groups of pairs, each of one repository. No question and no answer is twice in a batch, since
    an equal text would count as a wrong answer.
    """
    if size % groups:
        raise ValueError(f"{size} pairs cannot be {groups} equal groups")
    chosen = random.Random(seed)
    parts = list(_groups(pairs, size // groups, chosen))
    chosen.shuffle(parts)
    found = []
    for at in range(0, len(parts) - groups + 1, groups):
        batch = _without_repeats([pair for part in parts[at : at + groups] for pair in part])
        found.append(batch)
    return found


def _groups(pairs: Sequence[Pair], size: int, chosen: random.Random) -> Iterator[list[Pair]]:
    by_repository: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_repository[pair.repository].append(pair)
    for repository in sorted(by_repository):
        of_one = by_repository[repository]
        chosen.shuffle(of_one)
        yield from (of_one[at : at + size] for at in range(0, len(of_one) - size + 1, size))


def _without_repeats(batch: Sequence[Pair]) -> list[Pair]:
    texts: set[str] = set()
    kept = []
    for pair in batch:
        if not texts & {pair.question, pair.answer}:
            texts |= {pair.question, pair.answer}
            kept.append(pair)
    return kept
