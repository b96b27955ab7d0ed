"""The signals that find candidates for a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from rag_ls.util.records import dataclass, field

Key = TypeVar("Key", int, str)


@dataclass(frozen=True, slots=True)
class Signals(Generic[Key]):
    """The value of each signal for the candidates that it found: by a chunk's row, or by a memory's id."""

    dense: Mapping[Key, float] = field(default_factory=dict)
    """The cosine with the question; empty if no model answered."""
    lexical: Mapping[Key, float] = field(default_factory=dict)
    """The score by words, higher is better. Of a chunk BM25; of a memory the share of the question's words in it, 0..1."""
    exact: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    """Chunks that the query names, and how: by `symbol`, `path` or `line`."""
    phrases: Mapping[Key, float] = field(default_factory=dict)
    """The longest run of the query's words in a chunk, as a share of the query."""
    held: Mapping[Key, float] = field(default_factory=dict)
    """The share of the query's words that a chunk's text holds; a rare word counts more."""
    close: Mapping[Key, float] = field(default_factory=dict)
    """The same of a few lines of it."""
    expanded: Mapping[Key, float] = field(default_factory=dict)
    """The share of the question's words that a memory holds only as an abbreviation, in full form, or as a synonym."""
    tags: Mapping[Key, float] = field(default_factory=dict)
    """The number of the question's words that are tags of a memory."""
    least_dense: float = 0.0
    """The cosine that counts as none."""

    def matched_by(self, key: Key) -> tuple[str, ...]:
        """The signals that found a candidate, and how the query names it."""
        named = {"dense": self.dense, "lexical": self.lexical, "expanded": self.expanded, "tags": self.tags}
        found = tuple(name for name, values in named.items() if key in values)
        return found + self.exact.get(key, ())
