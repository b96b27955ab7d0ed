"""Ranks candidates by how well they answer a query, orders them file by file, and says in a few words why each was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_ls.search.evidence import FEATURES, OF_FILES, OF_PLACES, evidence, top_score
from rag_ls.search.fusion import Signals, Weights, fuse, share_of_highest
from rag_ls.search.query import Query
from rag_ls.search.roles import BY_PATH, Roles, is_data, is_docs, is_file_of_code, part_keys
from rag_ls.search.terms import AskedTerms, name_stems, word_stems
from rag_ls.storage import RankRow, stem
from rag_ls.util.patterns import lazy_pattern

# Each further place of a file loses this much for every place of that file before it, so that other files that are nearly as
# good come first; `_MAX_CROWDED` places count. A question of few words is about a part of the architecture, thus about files.
_CROWDED_LOSS, _CROWDED_LOSS_FEW_WORDS, _MAX_CROWDED = 0.7, 1.5, 2
_FEW_WORDS = 4
_QUOTED_WORDS = 4
# A change is about files: each file comes once before any comes twice.
_CROWDED_LOSS_OF_CHANGE = 20.0
# Scores that differ by less are equal, in the order and as they are told.
_DIGITS = 6
MAX_PLACES = 3
"""The places of a file that an answer shows."""

T = TypeVar("T")


def rank(
    rows: Sequence[RankRow],
    signals: Signals[int],
    query: Query,
    asked: AskedTerms,
    weights: Weights,
    roles: Roles = BY_PATH,
) -> list[tuple[RankRow, float]]:
    """The chunks with their scores in 0..1, best first; equal scores in order of path and place.

    Files are in order of the weighted sum of their evidence, and the places of each in order of theirs: the first place of
    a file comes before that of a worse file, and its further places lie between others as they deserve.
    """
    return order_candidates(rows, evidence(rows, signals, query, asked, roles), signals, query, weights)


def order_candidates(
    rows: Sequence[RankRow], table: NDArray[np.float64], signals: Signals[int], query: Query, weights: Weights
) -> list[tuple[RankRow, float]]:
    """As `rank`, where the evidence is known: `table` is what `evidence` makes of the rows.

    Candidates that the query names come first whatever their score: lines of files, then code that holds all of the query word for
    word, then declarations of a bare name.
    """
    scored = _score(rows, table, query, weights)
    top = top_score(weights, dense=bool(signals.dense))
    declared = [item for item in scored if _fit(item[0], query)] if query.bare_name else []
    declared = part_keys(declared, lambda item: item[0].language)[0] or _find_named_files(scored, query)
    # Keys of data often have the names of code.
    declared.sort(key=lambda item: (is_data(item[0].language), -_fit(item[0], query)))
    placed = {row: rank for rank, row in enumerate(row for row, how in signals.exact.items() if "line" in how)}
    at_lines = sorted((item for item in scored if item[0].row in placed), key=lambda item: placed[item[0].row])
    quoting = _find_quoting(signals, query)
    quoted = [item for item in scored if item[0].row in quoting and not is_docs(item[0].language)]
    first = _collapse_declarations([*at_lines, *quoted, *declared])
    taken = {row.declaration for row, _ in first}
    rest = [item for item in scored if item[0].declaration not in taken]
    return _take_in_turn(_make_shares(first, top), _make_shares(_collapse_declarations(rest), top))


def _score(
    rows: Sequence[RankRow], table: NDArray[np.float64], query: Query, weights: Weights
) -> list[tuple[RankRow, float]]:
    """The chunks with their scores, best first: a file's score, less what a place is worse than the best of its file."""
    columns = dict(zip(FEATURES, table.T, strict=True))
    if not rows:
        return []
    of_files = fuse({name: columns[name] for name in OF_FILES}, weights)
    of_places = fuse({name: columns[name] for name in OF_PLACES}, weights)
    by_path = np.array(sorted(range(len(rows)), key=lambda at: (rows[at].path, rows[at].ordinal)))
    crowding = _crowding(query)
    best: dict[int, float] = {}
    places: Counter[int] = Counter()
    scores = of_files.copy()
    best_first = _order(of_places, by_path)
    for at, of_place in zip(best_first, of_places[best_first].tolist(), strict=True):
        document = rows[at].document_id
        behind = best.setdefault(document, of_place) - of_place
        scores[at] -= behind + crowding * min(places[document], _MAX_CROWDED)
        places[document] += 1
    return [(rows[at], float(scores[at])) for at in _order(scores, by_path)]


def _find_named_files(scored: Sequence[tuple[RankRow, float]], query: Query) -> list[tuple[RankRow, float]]:
    """The best place of each file of code that is named as the query is, as a module of Ansible is."""
    named: dict[int, tuple[RankRow, float]] = {}
    for row, score in scored:
        if is_file_of_code(row.path, row.language, query.bare_name):
            named.setdefault(row.document_id, (row, score))
    return list(named.values())


def _find_quoting(signals: Signals[int], query: Query) -> set[int]:
    """The rows that hold a query of several words, such as an error message, word for word."""
    if len(query.text.split()) < _QUOTED_WORDS:
        return set()
    return {row for row, share in signals.phrases.items() if share >= 1.0}


def _fit(row: RankRow, query: Query) -> int:
    """The degree to which a chunk declares the query's bare name: 4 for an exact match, 2 ignoring case, 0 for none.

    One less for a constructor that is called as its type: who asks for the name asks for the type.
    """
    if not row.is_declaration or is_docs(row.language):
        return 0
    parts = row.symbol.split(".")
    name = tuple(parts[-len(query.bare_name) :])
    if tuple(part.lower() for part in name) != tuple(part.lower() for part in query.bare_name):
        return 0
    is_constructor = len(parts) > len(name) and parts[-len(name) - 1] == name[-1]
    return (4 if name == query.bare_name else 2) - is_constructor


def _make_shares(scored: Sequence[tuple[RankRow, float]], top: float) -> list[tuple[RankRow, float]]:
    return [(row, share_of_highest(round(score, _DIGITS), top)) for row, score in scored]


def _take_in_turn(first: list[tuple[RankRow, float]], rest: list[tuple[RankRow, float]]) -> list[tuple[RankRow, float]]:
    """Put `first` before `rest`, and raise their scores to match that order."""
    ordered = list(rest)
    for row, score in reversed(first):
        above = ordered[0][1] if ordered else 0.0
        ordered.insert(0, (row, max(score, above)))
    return ordered


def _collapse_declarations(scored: Sequence[tuple[RankRow, float]]) -> list[tuple[RankRow, float]]:
    """Keep only the best piece of each declaration."""
    seen: set[tuple[int, str]] = set()
    kept = []
    for row, score in scored:
        key = row.declaration
        if key in seen:
            continue
        seen.add(key)
        kept.append((row, score))
    return kept


def _crowding(query: Query) -> float:
    if query.paths:
        return 0.0
    if query.is_change:
        return _CROWDED_LOSS_OF_CHANGE
    return _CROWDED_LOSS_FEW_WORDS if len(query.parts) <= _FEW_WORDS else _CROWDED_LOSS


def _order(values: NDArray[np.float64], ties: NDArray[np.intp]) -> list[int]:
    """The indices of some values, the greatest first; those of equal ones as in `ties`."""
    found: list[int] = ties[np.argsort(-np.round(values[ties], _DIGITS), kind="stable")].tolist()
    return found


def group_by_file(ranked: Iterable[T], file_of: Callable[[T], Hashable]) -> list[list[T]]:
    """The best places of each file, files in the order of their best places."""
    files: dict[Hashable, list[T]] = {}
    for item in ranked:
        of_file = files.setdefault(file_of(item), [])
        if len(of_file) < MAX_PLACES:
            of_file.append(item)
    return list(files.values())


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
    # Chunks that other signals found have a cosine, too; only the nearest were found by meaning.
    found += ["meaning"] if signals.dense.get(row.row, -1.0) >= signals.least_dense else []
    return "; ".join(found)


def _find_held(query: Query, text: str) -> list[str]:
    """The query's words that a name or a path holds."""
    stems = name_stems(text, {stem(word) for word in query.parts})
    return [word for word in query.parts if stem(word) in stems]


# A key of JSON, YAML, TOML or properties; `name`, `id` or `key` of an element; a message of gettext.
_KEY = lazy_pattern(
    r"""\s*(?:[-{,]\s*)?(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)'|(?P<bare>[^\s:=<"'{}\[\]][^:=]*?))\s*(?:=>|[:=])"""
    r"""|\s*<[^>]*?\b(?:name|id|key)\s*=\s*"(?P<element>[^"]*)"|\s*msgid\s+"(?P<message>.*)"\s*$"""
)


def find_answering_keys(language: str, text: str, asked: AbstractSet[str]) -> frozenset[tuple[str, str]]:
    """The keys, each with the `language` of its document, of the lines that hold most of the `asked` stems.

    Empty where no key holds all that its line holds of them.
    """
    # A stem may end with another letter than its word: `copi` of copy.
    beginnings = tuple(stem[:-1] or stem for stem in asked)
    lines = [line for line in text.splitlines() if any(each in line.lower() for each in beginnings)]
    held = {line: len(asked & word_stems(line)) for line in lines}
    most = max(held.values(), default=0)
    keys = [_find_key(line) for line in lines if most and held[line] == most]
    return frozenset((language, key) for key in keys if len(asked & word_stems(key)) == most)


def fold_alike(keys: Mapping[str, AbstractSet[tuple[str, str]]]) -> dict[str, list[str]]:
    """The paths that are left, in the order of `keys`, each with those that answer by one of its keys.

    Alike are files of one name, as `de/app.json` and `fr/app.json`, and files of one folder, as `i18n/de.yml` and `i18n/fr.yml`.
    """
    left: dict[str, list[str]] = {}
    first: dict[tuple[tuple[str, str], str], str] = {}
    for path, answering in keys.items():
        folder, _, name = path.rpartition("/")
        traits = [(key, trait) for key in sorted(answering) for trait in (f"{folder}/", name)]
        known = next((first[trait] for trait in traits if trait in first), path)
        if known == path:
            left[path] = []
        else:
            left[known].append(path)
        for trait in traits:
            first.setdefault(trait, known)
    return left


def _find_key(line: str) -> str:
    match = _KEY.match(line)
    return next(filter(None, match.groups()), "") if match else ""
