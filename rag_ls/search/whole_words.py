"""Tells whole words from those that letters continue."""

from __future__ import annotations

import unicodedata

import numpy as np
from numpy.typing import NDArray

from rag_ls.search.joined_texts import MIN_BYTE_BEYOND_ASCII, JoinedTexts, Positions
from rag_ls.storage import is_unspaced

_MAX_LETTER_BYTES = 4


def is_word(character: str) -> bool:
    """Whether a letter, digit, `_` or accent of its own continues a word that it stands beside."""
    if character.isascii():
        return character.isalnum() or character == "_"
    # In scripts without spaces, a word may end between any two letters.
    return (character.isalnum() or _is_accent(character)) and not is_unspaced(character)


def _is_accent(character: str) -> bool:
    """Whether a mark belongs to the letter before it, as the accent of a decomposed `ó` does; one that chooses a form does not."""
    return unicodedata.category(character) in ("Mn", "Mc") and not "\ufe00" <= character <= "\ufe0f"


_IS_WORD = np.array([code < MIN_BYTE_BEYOND_ASCII and is_word(chr(code)) for code in range(256)])


def is_whole_word(text: str, start: int, end: int) -> bool:
    """Whether no letter continues a match."""
    if start == end:
        return True
    return stands_alone(text, start, end, (is_word(text[start]), is_word(text[end - 1])))


def stands_alone(text: str, start: int, end: int, continues: tuple[bool, bool]) -> bool:
    """Whether no letter continues what stands there; `continues` says at which of its ends one could."""
    before, after = continues
    return not (
        (before and start > 0 and is_word(text[start - 1])) or (after and end < len(text) and is_word(text[end]))
    )


def are_whole(joined: JoinedTexts, positions: Positions, literal: str) -> NDArray[np.bool_]:
    """Whether a literal, of one line, is a whole word at each of its places."""
    stands = np.ones(len(positions), np.bool_)
    size = len(literal.encode("utf-8", "surrogatepass"))
    # The byte before the first one is the last one: a line ends there, too.
    for is_before, letter, places in ((True, literal[0], positions - 1), (False, literal[-1], positions + size)):
        if not is_word(letter):
            continue
        codes = joined.codes[places]
        stands &= ~_IS_WORD[codes]
        for at in np.flatnonzero(stands & (codes >= MIN_BYTE_BEYOND_ASCII)):
            place = int(places[at])
            first = max(0, place + 1 - _MAX_LETTER_BYTES) if is_before else place
            last = place + 1 if is_before else place + _MAX_LETTER_BYTES
            # Left out, parts of letters that no encoding holds would give the place to a letter farther away.
            letters = joined.data[first:last].decode("utf-8", "replace")
            stands[at] = not is_word(letters[-1 if is_before else 0])
    return stands
