"""Writes summaries from memories' own sentences by LexRank, deterministically and on this machine.

G. Erkan and D. Radev, "LexRank: Graph-based Lexical Centrality as Salience in Text Summarization", JAIR 22 (2004): a
sentence matters if it resembles many sentences, above all sentences that matter. This is the continuous variant.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_ls.model import Memory, MemoryFilters, Scope
from rag_ls.search.terms import content_terms, note_terms
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

_SENTENCE = lazy_pattern(r"(?<=[.!?\u3002\uff01\uff1f])\s+|\n+")
_DAMPING_FACTOR = 0.85
_MAX_STEPS = 100
# A sentence this similar to a chosen one says nothing new.
_MIN_REPEATED_SIMILARITY = 0.6
# At most this many sentences are compared: those of the newest memories.
_MAX_SENTENCES = 1500
MAX_WORDS = 200


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    memory: int


def summary_key(start: str, end: str, filters: MemoryFilters) -> str:
    """The key of a summary: equal for equal time ranges and filters."""
    asked = {
        "start": start,
        "end": end,
        "tags": sorted({tag.lower() for tag in filters.tags}),
        "language": filters.language.lower(),
        "memory_type": filters.memory_type,
        "scopes": [scope.value for scope in Scope if scope in filters.scopes],
        "never_used": filters.never_used,
    }
    return "summary:" + hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:32]


def extract(memories: Sequence[Memory], max_words: int = MAX_WORDS) -> str:
    """The sentences that matter most, within `max_words`, a line for each, in the order of the memories' times.

    The same memories always give the same summary, in whatever order they come.
    """
    ordered = sorted(memories, key=lambda item: (item.created_at, item.id))
    sentences = _sentences(ordered)
    if not sentences:
        return ""
    similarities = _similarities([sentence.text for sentence in sentences])
    weights = np.array([0.5 + ordered[sentence.memory].metadata.importance_score for sentence in sentences])
    ranks = _centrality(similarities) * weights
    chosen: list[int] = []
    words = 0
    for number in sorted(range(len(sentences)), key=lambda index: (-round(float(ranks[index]), 12), index)):
        length = len(sentences[number].text.split())
        repeats = any(similarities[number, other] >= _MIN_REPEATED_SIMILARITY for other in chosen)
        if not repeats and (words + length <= max_words or not chosen):
            chosen.append(number)
            words += length
    lines = [f"- {_cut(sentences[number].text, max_words)}" for number in sorted(chosen)]
    return "\n".join(lines)


def _sentences(memories: Sequence[Memory]) -> list[_Sentence]:
    found = [
        _Sentence(text, number)
        for number, memory in enumerate(memories)
        for part in _SENTENCE.split(memory.content)
        if note_terms(text := " ".join(part.split()).lstrip("-*# ").strip())
    ]
    return found[-_MAX_SENTENCES:]


def _similarities(sentences: Sequence[str]) -> NDArray[np.float64]:
    """Cosines of the sentences' TF-IDF vectors, shape (n, n)."""
    bags = [Counter(note_terms(text)) & Counter(dict.fromkeys(content_terms(text), 99)) for text in sentences]
    frequency = Counter(term for bag in bags for term in bag)
    vocabulary = {term: number for number, term in enumerate(sorted(frequency))}
    matrix = np.zeros((len(sentences), max(1, len(vocabulary))))
    for row, bag in enumerate(bags):
        for term, count in bag.items():
            matrix[row, vocabulary[term]] = count * (1 + math.log(len(sentences) / frequency[term]))
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    return matrix @ matrix.T


def _centrality(similarities: NDArray[np.float64]) -> NDArray[np.float64]:
    count = len(similarities)
    # A sentence must not vote for itself; otherwise one that resembles no other would rank as high as the average.
    votes = similarities * (1 - np.eye(count))
    moves = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1e-12)
    ranks = np.full(count, 1 / count)
    for _ in range(_MAX_STEPS):
        new = (1 - _DAMPING_FACTOR) / count + _DAMPING_FACTOR * (moves.T @ ranks)
        if np.abs(new - ranks).max() < 1e-9:
            break
        ranks = new
    return np.asarray(ranks)


def _cut(text: str, max_words: int) -> str:
    words = text.split()
    return text if len(words) <= max_words else " ".join(words[:max_words]) + " ..."
