"""Says in a few words why a chunk was found."""

from __future__ import annotations

from rag_ls.retrieval.signals import Signals
from rag_ls.retrieval.terms import name_stems
from rag_ls.search.query import Query
from rag_ls.storage import RankRow, stem


def reason(row: RankRow, signals: Signals[int], query: Query) -> str:
    """The evidence for a chunk, the strongest first, such as `name: retry, upload; path: queue; meaning`.

    `name` and `path` give the words of the query that they hold; `quoted` how many of its words stand there in a row.
    """
    how = signals.exact.get(row.row, ())
    found = ["line"] if "line" in how else []
    if length := round(signals.phrases.get(row.row, 0.0) * len(query.words)):
        found.append(f"quoted: {length} of {len(query.words)} words")
    named = _find_held(query, row.symbol)
    found += [f"name: {', '.join(named)}"] if named else []
    filed = [word for word in _find_held(query, row.path) if word not in named]
    found += [f"path: {', '.join(filed)}"] if filed else []
    found += ["words"] if row.row in signals.lexical else []
    # Chunks that other signals found have a cosine, too; only those above the hundredth nearest were found by meaning.
    found += ["meaning"] if signals.dense.get(row.row, -1.0) >= signals.least_dense else []
    return "; ".join(found)


def _find_held(query: Query, text: str) -> list[str]:
    """The query's words that a name or a path holds."""
    stems = name_stems(text, {stem(word) for word in query.parts})
    return [word for word in query.parts if stem(word) in stems]
