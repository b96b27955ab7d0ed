"""Texts to words and stems, as questions, names and notes are taken apart.

Identifiers are split and words stemmed in one place, `storage/terms.py`, since the full-text index must do the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rag_ls.retrieval.stop_words import IN_NOTES
from rag_ls.retrieval.synonyms import is_known
from rag_ls.storage import is_marked, plain_text, split_identifier, stem, terms

_WORD = re.compile(r"\w+")


def words_of(text: str) -> tuple[str, ...]:
    """The lower-case words of a text in order; identifiers are taken apart."""
    split = (split_identifier(word) for word in _WORD.findall(text))
    return tuple(part for parts in split for part in (parts[:-1] if len(parts) > 1 else parts))


@lru_cache(maxsize=65536)
def word_stems(text: str) -> frozenset[str]:
    """The stems of the words in an identifier, a symbol or a path; identifiers are taken apart."""
    return frozenset(map(stem, words_of(text)))


def term_stems(text: str) -> set[str]:
    """The stems of the terms that the index has of a text: the parts of identifiers, and the whole of each."""
    return {stem(term) for term in terms(text)}


def note_stems(text: str) -> set[str]:
    """The stems of all terms of a note."""
    return {stem(term) for term in note_terms(text)}


def note_terms(text: str) -> list[str]:
    """All terms of a note in order, in the form of the full-text index: without diacritics.

    Known abbreviations (k8s) are not split, nor are words with letters that no diacritic explains (ß, ø).
    """
    return [term for word in _WORD.findall(plain_text(text)) for term in _note_terms_of(word)]


def content_terms(text: str) -> list[str]:
    """The distinct terms of a note that are not stop words, in order; all terms if there are only stop words."""
    found = list(dict.fromkeys(note_terms(text)))
    return [term for term in found if term not in IN_NOTES] or found


def says_something(text: str) -> bool:
    """Whether a note has a word that is not a stop word."""
    return any(term not in IN_NOTES for term in note_terms(text))


def _note_terms_of(word: str) -> Sequence[str]:
    return (word.lower(),) if is_known(word.lower()) or is_marked(word) else split_identifier(word)
