"""Finds the chunks that may answer a query, by words, meaning and names."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag_ls.search.evidence import Asked, Signals
from rag_ls.search.query import PHRASE, Query, longest_run
from rag_ls.search.view import View
from rag_ls.storage import ProjectIndex, RankRow, stem

# Candidates by words, and by meaning: more by words found nothing more.
_SAID, _MEANT = 200, 100
_EXACT_CANDIDATES = 50
_PHRASED = 40
# Ask for this many times the candidates where some are dropped: unsaved text hides its file's chunks, and embeddings
# outlive their chunks.
_SPARE = 3
_MAX_NEIGHBOURS = 20_000
# A word in at most this many chunks is rare, however many chunks there are.
_MAX_RARE_HOLDERS = 1000
# A word of at least this length that no chunk holds may be misspelt; `_ALIKE` is how similar its replacements are.
_LONG_ENOUGH = 5
_ALIKE = 0.8
# A misspelt name is compared with at most `_MAX_ALIKE` names that begin as it does.
_SAME_BEGINNING, _MAX_ALIKE, _NEAR_NAME = 2, 3000, 0.85

QueryVector = NDArray[np.float32]
"""The embedding of a query: shape (dimensions,), length one."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The chunks that may answer a query, with all that tells how well they do."""

    rows: list[RankRow]
    signals: Signals
    query: Query
    """The query, with a misspelt name corrected."""
    asked: Asked


class CandidateFinder:
    """Finds candidates in one project's index. Safe from several threads."""

    def __init__(self, index: ProjectIndex) -> None:
        self._store = index.checkout
        self._lexical = index.lexical
        self._vectors = index.vectors

    def find(self, query: Query, view: View, vector: QueryVector | None, model_id: str) -> Candidates:
        """The candidates for a query: by its embedding by `model_id`, too, where there is one."""
        query = self._corrected(query)
        asked, terms = self._asked(query)
        signals = self._signals(query, terms, view, vector, model_id)
        found = {*signals.dense, *signals.lexical, *signals.exact, *signals.phrases}
        rows = [row for row in self._store.chunks.for_ranking(found) if view.shows(row.document_id)]
        return Candidates(rows, signals, query, asked)

    def _corrected(self, query: Query) -> Query:
        """The query; if it is just a name that nothing declares, with the declared name that is nearest."""
        name = query.bare_name[-1].lower() if query.bare_name else ""
        if len(name) < _LONG_ENOUGH or any(declares for _, _, declares in self._store.chunks.named([name], 1)):
            return query
        # A word that the project uses is a word, though nothing has it as its name.
        if len(query.parts) == 1 and self._lexical.frequency(query.parts[0], 1):
            return query
        if not (near := difflib.get_close_matches(name, self.names_like(name), 1, _NEAR_NAME)):
            return query
        return replace(query, bare_name=(near[0],), names=(*query.names, near[0]))

    def _asked(self, query: Query) -> tuple[Asked, tuple[str, ...]]:
        """The weight of each word of a query, by stem, and the terms to search for: the query's own, and similar ones
        for a word that no chunk holds."""
        count = self._store.chunks.estimated_count()
        most = max(_MAX_RARE_HOLDERS, count // 10)
        weights: dict[str, float] = {}
        near: list[str] = []
        for part in query.parts:
            holders = self._lexical.frequency(part, most)
            if not holders and len(part) >= _LONG_ENOUGH:
                similar = difflib.get_close_matches(stem(part), self._lexical.terms_like(stem(part)), 2, _ALIKE)
                near += similar
                weights |= dict.fromkeys(similar, _idf(count, 0))
            weights[stem(part)] = _idf(count, holders)
        return Asked(weights), (*query.terms, *near)

    def names_like(self, name: str) -> list[str]:
        """The lower-case last names of declarations that begin as a misspelt one does."""
        return self._store.outlines.last_names(name[:_SAME_BEGINNING], _MAX_ALIKE)

    def nearest(self, vector: QueryVector, view: View, model_id: str) -> dict[int, float]:
        """Similarity by chunk row, for the chunks nearest to a vector."""
        among = None if view.allowed is None else self._store.chunks.text_hashes_of_documents(view.allowed)
        wanted = _MEANT * _SPARE
        while True:
            neighbours = self._vectors.nearest(model_id, vector, wanted, among)
            similarity = {neighbour.text_hash: neighbour.similarity for neighbour in neighbours}
            rows = [
                (row, similarity[text_hash])
                for row, text_hash, document in self._store.chunks.with_texts(similarity)
                if view.shows(document)
            ]
            # Hundreds of the nearest texts may be former edits: widen the search until enough chunks exist.
            if len(rows) >= _MEANT or len(neighbours) < wanted or wanted >= _MAX_NEIGHBOURS:
                rows.sort(key=lambda item: -item[1])
                return dict(rows[:_MEANT])
            wanted *= 4

    def _similarities(self, rows: Collection[int], vector: QueryVector, model_id: str) -> dict[int, float]:
        """Similarity of chunks that another signal found."""
        hashes = self._store.chunks.text_hashes(rows)
        vectors = self._vectors.get(model_id, set(hashes.values()))
        return {row: float(vectors[found] @ vector) for row, found in hashes.items() if found in vectors}

    def _signals(
        self, query: Query, terms: Sequence[str], view: View, vector: QueryVector | None, model_id: str
    ) -> Signals:
        wanted = _SAID * _SPARE if view.hidden else _SAID
        lexical = {found.row: found.value for found in self._lexical.search(terms, wanted, view.allowed)}
        lexical = self._first_shown(lexical, view)
        exact: dict[int, tuple[str, ...]] = {}
        for row, _, _ in self._store.chunks.named(query.names, _EXACT_CANDIDATES) if query.names else ():
            exact[row] = ("symbol",)
        for row in self._rows_of_paths(query, view):
            exact[row] = (*exact.get(row, ()), "path")
        for row in self._rows_of_places(query, view):
            exact[row] = (*exact.get(row, ()), "line")
        phrases = self._phrases(query, view)
        dense: dict[int, float] = {}
        least = 0.0
        if vector is not None and self._store.embeddings.active_model() == model_id:
            dense = self.nearest(vector, view, model_id)
            least = min(dense.values(), default=0.0)
            dense |= self._similarities({*lexical, *exact, *phrases} - dense.keys(), vector, model_id)
        return Signals(dense, lexical, exact, phrases, least)

    def _phrases(self, query: Query, view: View) -> dict[int, float]:
        """The longest run of the query's words in the chunks that hold any of its phrases."""
        found = self._lexical.search(query.phrases, _PHRASED, view.allowed)
        rows = self._store.chunks.by_row([each.row for each in found])
        longest = {number: longest_run(query.words, row.stored.chunk.text) for number, row in rows.items()}
        return {number: length / len(query.words) for number, length in longest.items() if length >= PHRASE}

    def _first_shown(self, values: Mapping[int, float], view: View) -> dict[int, float]:
        if not view.hidden:
            return dict(list(values.items())[:_SAID])
        documents = self._store.chunks.documents_of(list(values))
        shown = [(row, value) for row, value in values.items() if row in documents and view.shows(documents[row])]
        return dict(shown[:_SAID])

    def _rows_of_paths(self, query: Query, view: View) -> list[int]:
        if not query.paths:
            return []
        named = [
            number
            for number, path, _, _ in self._store.document_paths()
            if view.shows(number) and any(_ends(path, name) for name in query.paths)
        ]
        return self._store.chunks.first_of(named, _EXACT_CANDIDATES)

    def _rows_of_places(self, query: Query, view: View) -> list[int]:
        """The chunks on the lines that a query names, in its order."""
        found = []
        documents = self._store.document_paths() if query.places else []
        for place, line in query.places:
            for number, path, _, _ in documents:
                if view.shows(number) and (_ends(path, place) or _ends(place, path)):
                    row = self._store.chunks.at(number, line)
                    found += [row.row] if row else []
        return found


def _ends(path: str, name: str) -> bool:
    """Whether a path is `name`, or ends in it after a slash."""
    return path == name or path.endswith("/" + name)


def _idf(chunks: int, holders: int) -> float:
    return math.log(1 + chunks / (holders + 0.5))
