"""Texts to words and stems, as questions, names and notes are taken apart.

Identifiers are split and words stemmed in one place, `storage/terms.py`, since the full-text index must do the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rag_ls.retrieval.stop_words import IN_NOTES
from rag_ls.retrieval.synonyms import is_known
from rag_ls.storage import identifier_parts, index_terms, split_identifier, stem, words_in


def words_of(text: str) -> tuple[str, ...]:
    """The lower-case words of a text in order; identifiers are taken apart."""
    return tuple(part for word in words_in(text) for part in identifier_parts(word))


@lru_cache(maxsize=65536)
def word_stems(text: str) -> frozenset[str]:
    """The stems of the words in an identifier, a symbol or a path; identifiers are taken apart."""
    return frozenset(map(stem, words_of(text)))


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
