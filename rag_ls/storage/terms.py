"""Text to search terms: identifiers are split at camelCase, snake_case and digits."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
# A posting list entry for a word longer than this (a hash, a base64 blob) finds nothing and costs space.
_LONGEST_WORD = 64


@lru_cache(maxsize=65536)
def split_identifier(word: str) -> tuple[str, ...]:
    """The lower-case parts of one identifier, followed by its parts joined when there are several.

    >>> split_identifier("getUserByID")
    ('get', 'user', 'by', 'id', 'getuserbyid')
    """
    if len(word) > _LONGEST_WORD:
        return ()
    parts = tuple(part.lower() for part in _PART.findall(word))
    return (*parts, "".join(parts)) if len(parts) > 1 else parts


def terms(text: str) -> list[str]:
    """All terms of a text in order, repeats included."""
    return [term for word in _WORD.findall(text) for term in split_identifier(word)]


def indexed_text(text: str) -> str:
    """The text as it goes into the full-text index."""
    return " ".join(terms(text))
