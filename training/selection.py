"""Chooses among all pairs: no duplicates, not too many from one repository or of one kind, languages balanced."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from training.pairs import Pair

if TYPE_CHECKING:
    from datasketch import MinHash

_PERMUTATIONS, _ALIKE, _SHINGLE = 64, 0.8, 4
_WORD = re.compile(r"\w+")
# A language that has sixteen times the pairs of another gives four times as many.
_TEMPERATURE = 0.5


def distinct(pairs: Iterable[Pair], known: Iterable[str] = ()) -> Iterator[Pair]:
    """The pairs without those whose question, or nearly whose answer (Jaccard index of 0.8), came before in their kind.

    `known` are texts that no answer may be like: those that models are judged by. Broder, "On the resemblance and
    containment of documents" (1997).
    """
    # It imports scipy.
    from datasketch import MinHashLSH

    alike = {"": MinHashLSH(_ALIKE, _PERMUTATIONS)}
    for number, text in enumerate(known):
        alike[""].insert(number, _signature(text))
    seen: set[tuple[str, str]] = set()
    for number, pair in enumerate(pairs):
        key = pair.kind, _plain(pair.question)
        if key in seen:
            continue
        seen.add(key)
        signature = _signature(pair.answer)
        of_kind = alike.setdefault(pair.kind, MinHashLSH(_ALIKE, _PERMUTATIONS))
        if not alike[""].query(signature) and not of_kind.query(signature):
            of_kind.insert(number, signature)
            yield pair


def balanced(pairs: Sequence[Pair], most: int, most_of_repository: int, seed: int = 7) -> list[Pair]:
    """At most `most` pairs, `most_of_repository` from one, mixed; each language's share is its square root's."""
    chosen = random.Random(seed)
    mixed = list(pairs)
    chosen.shuffle(mixed)
    of_repository: Counter[str] = Counter()
    by_language: dict[str, list[Pair]] = defaultdict(list)
    for pair in mixed:
        of_repository[pair.repository] += 1
        if of_repository[pair.repository] <= most_of_repository:
            by_language[pair.language].append(pair)
    shares = {language: len(found) ** _TEMPERATURE for language, found in by_language.items()}
    whole = sum(shares.values())
    kept = [
        pair
        for language, found in by_language.items()
        for pair in found[: max(1, round(most * shares[language] / whole))]
    ]
    chosen.shuffle(kept)
    return kept[:most]


def _signature(text: str) -> MinHash:
    from datasketch import MinHash

    words = _WORD.findall(text.lower())
    shingles = {" ".join(words[at : at + _SHINGLE]) for at in range(max(1, len(words) - _SHINGLE + 1))}
    signature = MinHash(_PERMUTATIONS)
    signature.update_batch([shingle.encode() for shingle in shingles])
    return signature


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
