"""Texts to words and stems, as questions, names and notes are taken apart.

Identifiers are split and words stemmed in one place, `storage/terms.py`, since the full-text index must do the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from rag_ls.search.stop_words import IN_NOTES
from rag_ls.search.synonyms import is_known
from rag_ls.storage import identifier_parts, index_terms, split_identifier, stem, words_in

# Names for who does something: a `pusher` pushes, an `editor` edits. Shorter words that end so (`user`, `order`) are others, and
# so are those in other letters and `or` (an `author` is no auth).
_DOER_ENDINGS, _MIN_DOER_CHARACTERS = ("er", "tor"), 6
# A folder does not fold.
_NO_DOERS = frozenset("broker corner docker folder former header letter master matter".split())


def words_of(text: str) -> tuple[str, ...]:
    """The lower-case words of a text in order; identifiers are taken apart."""
    return tuple(part for word in words_in(text) for part in identifier_parts(word))


@lru_cache(maxsize=65536)
def word_stems(text: str) -> frozenset[str]:
    """The stems of the words in an identifier, a symbol or a path; identifiers are taken apart."""
    return frozenset(map(stem, words_of(text)))


def name_stems(name: str, asked: AbstractSet[str]) -> frozenset[str]:
    """As `word_stems`, but for a word that names who does something, the stem of its verb if only that is `asked`."""
    stems, doers = word_stems(name), _doers_in(name)
    # Called for every candidate, of which most hold no such verb.
    if not doers or asked.isdisjoint(doers):
        return stems
    asked_for = {verb: doer for verb, doer in doers.items() if verb in asked and doer not in asked}
    return stems.difference(asked_for.values()).union(asked_for)


@lru_cache(maxsize=65536)
def _doers_in(name: str) -> Mapping[str, str]:
    """The stems of the words in a name that may name who does something, by the stems of their verbs."""
    long = [word for word in words_of(name) if len(word) >= _MIN_DOER_CHARACTERS]
    doers = [word for word in long if word.endswith(_DOER_ENDINGS) and word not in _NO_DOERS]
    return {stem(verb): stem(word) for word in doers for verb in _find_verbs(word[:-2])}


def _find_verbs(beginning: str) -> Sequence[str]:
    """The verbs that a word without `er` may be made of: `pars` of parse, `logg` of log."""
    is_doubled = beginning[-1] == beginning[-2] and beginning[-1] not in "ls"
    return beginning[:-1] if is_doubled else beginning, f"{beginning}e"


def term_stems(text: str) -> set[str]:
    """The stems of the terms that the index has of a text: the parts of identifiers, and the whole of each."""
    return {stem(term) for word in words_in(text) for term in index_terms(word)}


def note_stems(text: str) -> set[str]:
    """The stems of all terms that a note has in the index."""
    return {stem(term) for word in words_in(text) for term in (*_note_terms_of(word), *index_terms(word))}


def note_terms(text: str) -> list[str]:
    """All terms of a note in order, folded as in the full-text index. Known abbreviations (k8s) are not split."""
    return [term for word in words_in(text) for term in _note_terms_of(word)]


def content_terms(text: str) -> list[str]:
    """The distinct terms of a note that are not stop words, in order; all terms if there are only stop words."""
    found = list(dict.fromkeys(note_terms(text)))
    return [term for term in found if term not in IN_NOTES] or found


def says_something(text: str) -> bool:
    """Whether a note has a word that is not a stop word."""
    return any(term not in IN_NOTES for term in note_terms(text))


def _note_terms_of(word: str) -> Sequence[str]:
    return (word.lower(),) if is_known(word.lower()) else split_identifier(word)
