"""Finds the chunks that may answer a query, by words, meaning and names."""

from __future__ import annotations

import difflib
import heapq
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_ls.errors import StoreUnavailable
from rag_ls.search.closeness import Held, WordFinder
from rag_ls.search.fusion import Candidates, Signals
from rag_ls.search.query import PHRASE_WORDS, Query, longest_run
from rag_ls.search.roles import is_file_of_code
from rag_ls.search.terms import FILLING, AskedTerms, rarity, spellings_of
from rag_ls.search.view import View
from rag_ls.storage import RankRow, SearchedChunks, SearchedIndex, SearchedPostings, StoredSymbol, fold_text, stem
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, replace

_log = logging.getLogger(__name__)

_WORD = lazy_pattern(r"\w+")

# The numbers of candidates by words and by meaning. More candidates by words found nothing more.
_MAX_LEXICAL, _MAX_DENSE = 100, 60
_MAX_EXACT = 50
_MAX_NAMED_FILES = 5
# This many of the first chunks by words are read for longer runs of the query's words, and as many chunks that hold one of its
# rarest phrases. So a quoted error message is found among thousands of chunks that hold the same words.
_MAX_PHRASE_TEXTS = 40
_MAX_RARE_PHRASES = 2
# This many of the first chunks by words, and of the nearest ones, are read for words of the query that stand close together.
_MAX_CLOSE_TEXTS, _MAX_NEAR_TEXTS = 60, 20
# If the rarest words of a query are in at least this many chunks, only the chunks that hold one of them are scored. They have
# 98 of the first 100 hits of a full search, at 60,000 chunks in half of its time.
_MIN_HOLDERS = 3000
# Fetch this many times the wanted candidates, because some are dropped: unsaved text hides its file's chunks, and embeddings
# outlive their chunks.
_LEXICAL_SPARE_FACTOR, _DENSE_SPARE_FACTOR = 3, 1.5
_MAX_NEIGHBOURS = 20_000
# A search is not widened after this time: each widening may take a server long.
_WIDEN_S = 0.5
# A word in at most this many chunks is rare, however many chunks there are.
_MAX_RARE_HOLDERS = 1000
# Added to the number of chunks that hold a word, so that a word in no chunk counts as rare, not as impossible.
_UNSEEN_HOLDERS = 0.5
# A word that fills a sentence (`than`, `those`) counts this much of its rarity.
_FILLING_WEIGHT = 0.2
# A word of at least this length that no chunk holds may be misspelt; `_MIN_TERM_LIKENESS` is how similar its replacements are.
_MIN_MISSPELT_CHARACTERS = 5
_MIN_TERM_LIKENESS = 0.8
# A misspelt name is compared with at most `_MAX_NAMES_COMPARED` names that begin as it does.
_BEGINNING_CHARACTERS, _MAX_NAMES_COMPARED, _MIN_NAME_LIKENESS = 2, 3000, 0.85

QueryVector = NDArray[np.float32]
"""The embedding of a query: shape (dimensions,), length one."""
LaterVector = Callable[[], QueryVector | None]
"""Waits for the embedding of a query; None if it fails or is too late."""


@dataclass(frozen=True, slots=True)
class _Wording:
    """A query's words, as they are looked up."""

    asked: AskedTerms
    terms: tuple[str, ...]
    """The terms that chunks may hold: the query's, two of its words as one, and similar ones for a word that no chunk holds."""
    holding: tuple[str, ...]
    """The rarest terms: a chunk must hold one of them. Empty for all."""
    phrases: tuple[str, ...]
    """The rarest phrases that any chunk may hold."""
    similar: tuple[str, ...]
    """See `Candidates`."""
    absent: tuple[str, ...]
    """See `Candidates`."""


class _Texts:
    """The texts of chunks, each read once for a question."""

    def __init__(self, chunks: SearchedChunks) -> None:
        self._chunks = chunks
        self.known: dict[int, str] = {}

    def read(self, rows: Collection[int]) -> dict[int, str]:
        """The texts of these chunks, without chunks that were deleted meanwhile."""
        if unknown := [row for row in rows if row not in self.known]:
            self.known |= self._chunks.texts(unknown)
        return {row: self.known[row] for row in rows if row in self.known}


class _Holders:
    """The numbers of chunks that hold words, each counted once, up to a limit."""

    def __init__(self, postings: SearchedPostings, most: int) -> None:
        self._postings = postings
        self._most = most
        self._known: dict[str, int] = {}

    def count(self, words: Sequence[str]) -> dict[str, int]:
        """The number of each of these words, in their order."""
        if unknown := [word for word in dict.fromkeys(words) if word not in self._known]:
            self._known |= self._postings.frequencies(unknown, self._most)
        return {word: self._known[word] for word in words}


class CandidateFinder:
    """Finds candidates in one project's index. Safe from several threads."""

    def __init__(self, index: SearchedIndex) -> None:
        self._index = index
        self._store = index.checkout
        self._lexical = index.lexical
        self._vectors = index.vectors

    def find(self, query: Query, view: View, later: LaterVector | None, model_id: str) -> Candidates:
        """The candidates for a query: by its embedding by `model_id`, too, where there is one."""
        count = self._store.chunks.estimated_count()
        holders = _Holders(self._lexical, max(_MAX_RARE_HOLDERS, count // 10))
        holders.count([spelled for part in query.parts for spelled in (part, *spellings_of(part))])
        query = _respell(self._correct_name(query, holders), holders)
        wording = self._look_up_words(query, holders, count)
        texts = _Texts(self._store.chunks)
        named = self._store.outlines.in_chunks(query.names, _MAX_EXACT) if query.names else []
        signals = self._signals(query, wording, {row for row, _ in named}, view, texts)
        near: list[tuple[RankRow, float]] = []
        vector = later() if later else None
        if vector is not None and self._store.active_model() == model_id:
            try:
                near = self.nearest(vector, view, model_id)
            except StoreUnavailable as error:
                # The server with the vectors is away, so only words answer.
                _log.info("%s", error)
                vector = None
        said = {*signals.lexical, *signals.exact, *signals.phrases} - {row.row for row, _ in near}
        rows = [row for row in self._store.chunks.for_ranking(said) if view.shows(row.document_id)]
        if near and vector is not None:
            dense = {row.row: similarity for row, similarity in near}
            signals = replace(
                signals, dense=dense | self._similarities(rows, vector, model_id), least_dense=min(dense.values())
            )
            rows += [row for row, _ in near]
        told = self._find_told(query, wording.asked, signals, texts)
        signals = replace(
            signals,
            held={row: told_of.whole for row, told_of in told.items()},
            close={row: told_of.close for row, told_of in told.items()},
        )
        held = _find_held(rows, named)
        rows = [_name_held(row, held[row.row]) if row.row in held else row for row in rows]
        lacks_vector = later is not None and vector is None
        return Candidates(
            rows,
            signals,
            query,
            asked=wording.asked,
            held=held,
            lacks_vector=lacks_vector,
            similar=wording.similar,
            absent=wording.absent,
            texts=texts.known,
        )

    def _correct_name(self, query: Query, holders: _Holders) -> Query:
        """The query; if it is just a name that nothing declares, with the declared name that is nearest."""
        name = query.bare_name[-1].lower() if query.bare_name else ""
        if len(name) < _MIN_MISSPELT_CHARACTERS or self._is_declared(name):
            return query
        # A word that the project uses is a word, even if nothing has it as its name.
        if len(query.parts) == 1 and holders.count(query.parts)[query.parts[0]]:
            return query
        if not (near := difflib.get_close_matches(name, self.names_like(name), 1, _MIN_NAME_LIKENESS)):
            return query
        return replace(query, bare_name=(near[0],), names=(*query.names, near[0]))

    def _is_declared(self, name: str) -> bool:
        if any(declares for _, _, declares in self._store.chunks.named([name], 1)):
            return True
        return bool(self._store.outlines.in_chunks([name], 1))

    def _look_up_words(self, query: Query, holders_of_words: _Holders, count: int) -> _Wording:
        weights: dict[str, float] = {}
        near: list[str] = []
        spelled: list[str] = []
        holders_of = holders_of_words.count(query.parts)
        for part, holders in holders_of.items():
            weight = rarity(count, holders, _UNSEEN_HOLDERS) * (_FILLING_WEIGHT if part in FILLING else 1.0)
            # More holders say that the project mostly writes the word so.
            spellings = holders_of_words.count(spellings_of(part))
            spelled += [each for each in spellings if spellings[each] > holders]
            if not holders:
                similar = self._find_similar(part)
                near += similar
                weights |= dict.fromkeys(similar, weight)
            weights[stem(part)] = weight
        whole = set(query.terms) - holders_of.keys()
        also = (*near, *query.joined, *spelled)
        holding = (*_rarest(holders_of), *whole, *also)
        terms = tuple(dict.fromkeys((*query.terms, *also)))
        return _Wording(
            AskedTerms(weights), terms=terms, holding=holding if len(holding) < len(terms) else (),
            phrases=_rarest_phrases(query, holders_of), similar=tuple(near),
            absent=_spell([part for part, holders in holders_of.items() if not holders], query.text),
        )  # fmt: skip

    def _find_similar(self, part: str) -> list[str]:
        """The terms that a word may be misspelt for."""
        if len(part) < _MIN_MISSPELT_CHARACTERS:
            return []
        # Few people miss the last letter alone: audio is no slip for audit.
        alike = [term for term in self._lexical.terms_like(stem(part)) if term[:-1] != stem(part)[:-1]]
        return difflib.get_close_matches(stem(part), alike, 2, _MIN_TERM_LIKENESS)

    def names_like(self, name: str) -> list[str]:
        """The lower-case last names of declarations that begin as a misspelt one does."""
        return self._store.outlines.last_names(name[:_BEGINNING_CHARACTERS], _MAX_NAMES_COMPARED)

    def nearest(
        self, vector: QueryVector, view: View, model_id: str, *, may_leave: bool = True
    ) -> list[tuple[RankRow, float]]:
        """The chunks nearest to a vector with their similarities, best first.

        A vector that may not leave the machine is compared with those here alone.
        """
        vectors = self._vectors if may_leave else self._index.vectors_here
        started = time.monotonic()
        among = None if view.allowed is None else self._store.chunks.text_hashes_of_documents(view.allowed)
        wanted = int(_MAX_DENSE * _DENSE_SPARE_FACTOR)
        while True:
            neighbours = vectors.nearest(model_id, vector, wanted, among)
            similarity = {neighbour.text_hash: neighbour.similarity for neighbour in neighbours}
            rows = [
                (row, similarity[row.text_hash])
                for row in self._store.chunks.with_texts(similarity)
                if view.shows(row.document_id)
            ]
            # Hundreds of the nearest texts may be former versions. Widen the search until enough chunks are found.
            is_late = time.monotonic() - started > _WIDEN_S
            if len(rows) >= _MAX_DENSE or len(neighbours) < wanted or wanted >= _MAX_NEIGHBOURS or is_late:
                rows.sort(key=lambda item: -item[1])
                return rows[:_MAX_DENSE]
            wanted *= 4

    def _similarities(self, rows: Collection[RankRow], vector: QueryVector, model_id: str) -> dict[int, float]:
        """Similarity of chunks that another signal found."""
        hashes = {row.text_hash for row in rows if row.is_embedded}
        similar = self._vectors.similarities(model_id, vector, hashes)
        return {row.row: similar[row.text_hash] for row in rows if row.text_hash in similar}

    def _signals(
        self, query: Query, wording: _Wording, declaring: Collection[int], view: View, texts: _Texts
    ) -> Signals[int]:
        """The signals that the query's words, names and phrases find; `declaring` are chunks that declare what it names."""
        wanted = _MAX_LEXICAL * _LEXICAL_SPARE_FACTOR if view.hidden else _MAX_LEXICAL
        found = self._lexical.search(wording.terms, wanted, view.allowed, holding=wording.holding)
        lexical = self._keep_shown({each.row: each.value for each in found}, view)
        exact: dict[int, tuple[str, ...]] = dict.fromkeys(declaring, ("symbol",))
        for row, _, _ in self._store.chunks.named(query.names, _MAX_EXACT) if query.names else ():
            exact[row] = ("symbol",)
        for row in self._rows_of_paths(query, view):
            exact[row] = (*exact.get(row, ()), "path")
        for row in self._rows_of_places(query, view):
            exact[row] = (*exact.get(row, ()), "line")
        return Signals(lexical=lexical, exact=exact, phrases=self._phrases(query, wording, lexical, view, texts))

    def _phrases(
        self, query: Query, wording: _Wording, lexical: Mapping[int, float], view: View, texts: _Texts
    ) -> dict[int, float]:
        """The longest run of the query's words in the chunks that may hold one."""
        if not query.phrases:
            return {}
        found = self._lexical.search(wording.phrases, _MAX_PHRASE_TEXTS, view.allowed)
        quoting, first = {each.row for each in found}, list(lexical)
        # Close words are looked for in more of them, so all are read at once.
        read = texts.read(quoting | {*first[:_MAX_CLOSE_TEXTS]})
        looked_at = quoting | {*first[:_MAX_PHRASE_TEXTS]}
        longest = {row: longest_run(query.words, text) for row, text in read.items() if row in looked_at}
        return {number: length / len(query.words) for number, length in longest.items() if length >= PHRASE_WORDS}

    def _find_told(self, query: Query, asked: AskedTerms, signals: Signals[int], texts: _Texts) -> dict[int, Held]:
        """The shares of the query that each of the first chunks by words and by meaning holds."""
        nearest = heapq.nlargest(_MAX_NEAR_TEXTS, signals.dense, key=lambda row: signals.dense[row])
        words = WordFinder(asked, query.parts)
        read = texts.read({*list(signals.lexical)[:_MAX_CLOSE_TEXTS], *nearest})
        return {row: words.find(text) for row, text in read.items()}

    def _keep_shown(self, values: Mapping[int, float], view: View) -> dict[int, float]:
        if not view.hidden:
            return dict(list(values.items())[:_MAX_LEXICAL])
        documents = self._store.chunks.documents_of(list(values))
        shown = [(row, value) for row, value in values.items() if row in documents and view.shows(documents[row])]
        return dict(shown[:_MAX_LEXICAL])

    def _rows_of_paths(self, query: Query, view: View) -> list[int]:
        if not query.paths:
            return self._rows_of_named_files(query, view)
        named = [
            number
            for number, path, _, _ in self._store.document_paths()
            if view.shows(number) and any(_ends(path, name) for name in query.paths)
        ]
        return self._store.chunks.first_of(named, _MAX_EXACT)

    def _rows_of_named_files(self, query: Query, view: View) -> list[int]:
        """The first chunks of the files of code that a bare name is the name of, if these are few: of `index` they are many."""
        if len(query.bare_name) != 1:
            return []
        named = [
            number
            for number, path, language, _ in self._store.document_paths()
            # Most paths need no closer look.
            if query.bare_name[0] in path and is_file_of_code(path, language, query.bare_name) and view.shows(number)
        ]
        return self._store.chunks.first_of(named, _MAX_EXACT) if len(named) <= _MAX_NAMED_FILES else []

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


def _respell(query: Query, holders: _Holders) -> Query:
    """The query, with each word that the project writes by another abbreviation alone as it is written there."""
    written = {}
    for part, held in holders.count(query.parts).items():
        spellings = holders.count(spellings_of(part))
        if not held and (spelled := next(filter(spellings.get, spellings), "")):
            written[part] = spelled
    if not written:
        return query
    parts, terms = (tuple(written.get(each, each) for each in words) for words in (query.parts, query.terms))
    return replace(query, parts=parts, terms=terms)


def _find_held(rows: Collection[RankRow], named: Sequence[tuple[int, StoredSymbol]]) -> dict[int, StoredSymbol]:
    """The declaration that is named in each chunk: the chunk's own, else the first."""
    symbols = {row.row: row.symbol for row in rows}
    held: dict[int, StoredSymbol] = {}
    for row, symbol in named:
        if row in symbols and (row not in held or symbol.symbol == symbols[row]):
            held[row] = symbol
    return held


def _name_held(row: RankRow, symbol: StoredSymbol) -> RankRow:
    """A chunk under the name of a declaration that it holds."""
    return row._replace(symbol=symbol.symbol, node_type=symbol.kind, is_declaration=True)


def _spell(words: Sequence[str], text: str) -> tuple[str, ...]:
    """The words, in lower case and without accents, as a text spells them."""
    spelled = {fold_text(word).lower(): word for word in _WORD.findall(text)}
    return tuple(spelled.get(word, word) for word in words)


def _rarest(holders_of: Mapping[str, int]) -> list[str]:
    """The rarest words that are together in enough chunks."""
    rarest: list[str] = []
    held = 0
    for word in sorted(holders_of, key=lambda word: holders_of[word]):
        if held >= _MIN_HOLDERS:
            break
        rarest.append(word)
        held += holders_of[word]
    return rarest


def _rarest_phrases(query: Query, holders_of: Mapping[str, int]) -> tuple[str, ...]:
    """The phrases with the rarest words, without those that no chunk can hold."""
    rarity = {
        phrase: min((holders_of[word] for word in phrase.split() if word in holders_of), default=0)
        for phrase in query.phrases
    }
    possible = sorted((phrase for phrase in rarity if rarity[phrase]), key=lambda phrase: rarity[phrase])
    return tuple(possible[:_MAX_RARE_PHRASES])


def _ends(path: str, name: str) -> bool:
    """Whether a path is `name`, or ends in it after a slash."""
    return path == name or path.endswith("/" + name)
