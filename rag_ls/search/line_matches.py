"""The lines of a text in which spans begin, and whether letters continue what stands there."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

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


# A longer line is shown in part.
MAX_LINE_CHARACTERS = 400
_CHARACTERS_BEFORE_MATCH = 100
_GAP = "…"


class LineMatch(NamedTuple):
    """A line that matches. A text may have a hundred thousand: a tuple is made in a tenth of the time."""

    line: int
    """From 1."""
    column: int
    """The first match's, in characters from 1; that of the first whole word if there is one."""
    is_whole: bool
    """Whether no letter, digit or `_` continues the match; true of regular expressions, which say so themselves."""


def collect_lines(text: str, spans: Iterable[tuple[int, int]], *, is_regex: bool) -> list[LineMatch]:
    """The lines in which spans begin, each once, with its first whole one if it has any."""
    found: list[LineMatch] = []
    line, counted, line_end = 1, 0, -1
    for start, end in spans:
        is_same = start <= line_end
        if is_same and found[-1].is_whole:
            continue
        is_whole = is_regex or is_whole_word(text, start, end)
        if is_same:
            if not is_whole:
                continue
            found.pop()
        line += text.count("\n", counted, start)
        counted = start
        line_end = _end_line(text, start)
        found.append(LineMatch(line, start - text.rfind("\n", 0, start), is_whole))
    return found


def _end_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def collect_literal(text: str, literal: str) -> list[LineMatch]:
    """As `collect_lines`, faster: many lines hold a common word."""
    found: list[LineMatch] = []
    line, counted, line_begin, length = 1, 0, 0, len(literal)
    # A match can be part of a longer word only if the literal itself begins or ends with a letter there.
    continues = is_word(literal[0]), is_word(literal[-1])
    start = text.find(literal)
    while start >= 0:
        line_end = _end_line(text, start)
        first = start
        while not (is_whole := stands_alone(text, start, start + length, continues)):
            start = text.find(literal, start + 1, line_end + length)
            if not 0 <= start <= line_end:
                break
        start = start if is_whole else first
        if newlines := text.count("\n", counted, start):
            line += newlines
            line_begin = text.rfind("\n", counted, start) + 1
        counted = start
        found.append(LineMatch(line, start - line_begin + 1, is_whole))
        start = text.find(literal, line_end + 1)
    return found


def cut_line(line: str, column: int) -> str:
    """A line, or what is around a column of it if it is very long."""
    if len(line) <= MAX_LINE_CHARACTERS:
        return line
    first = max(0, column - 1 - _CHARACTERS_BEFORE_MATCH) if column > MAX_LINE_CHARACTERS // 2 else 0
    part = line[first : first + MAX_LINE_CHARACTERS]
    return f"{_GAP * bool(first)}{part}{_GAP * (first + len(part) < len(line))}"
