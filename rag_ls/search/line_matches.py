"""Lines that match, and whether letters continue what stands there."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag_ls.storage import is_unspaced
from rag_ls.util.records import dataclass
from rag_ls.util.text import MARK

Positions = NDArray[np.int64]
"""Offsets in bytes, in order, of shape (places,)."""
_LF_BYTE = 10
MIN_BYTE_BEYOND_ASCII = 0x80


@dataclass(frozen=True, slots=True)
class JoinedTexts:
    """Texts side by side, in UTF-8."""

    data: bytes
    """The texts; each that is not empty ends in LF."""
    starts: Positions
    """The beginning of each."""

    @classmethod
    def join(cls, texts: Sequence[bytes]) -> JoinedTexts:
        """Join texts, whose lines end in LF; none may be after the last line."""
        data = b"".join(texts)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        ends = np.cumsum(lengths)
        if not (np.frombuffer(data, np.uint8)[ends[lengths > 0] - 1] == _LF_BYTE).all():
            return cls.join([text if not text or text.endswith(b"\n") else text + b"\n" for text in texts])
        return cls(data, ends - lengths)

    @property
    def codes(self) -> NDArray[np.uint8]:
        """The bytes as numbers."""
        return np.frombuffer(self.data, np.uint8)

    def find_holders(self, positions: Positions) -> Positions:
        """The index of the text that holds each place."""
        found: Positions = np.searchsorted(self.starts, positions, side="right") - 1
        return found


_MAX_LETTER_BYTES = 4
# A longer line is shown in part.
_MAX_LINE_CHARACTERS = 400
_CHARACTERS_BEFORE_MATCH = 100
_GAP = "…"
_MARK = MARK.encode()


class FoundLines(NamedTuple):
    """The lines of some texts that match, in their order: each array is of shape (lines,)."""

    holders: Positions
    """The index of the text of each."""
    starts: Positions
    """The beginning in its text, in bytes, of the first match of each; of the first whole one if there is one."""
    is_whole: NDArray[np.bool_]
    """Whether no letter, digit or `_` continues the match; true of regular expressions, which say so themselves."""


class LineMatch(NamedTuple):
    """A line that matches, as it is shown."""

    line: int
    """From 1."""
    column: int
    """The match's, in characters from 1."""
    text: str


def describe_line(text: bytes, start: int, first_line: int = 1) -> LineMatch:
    """The line in which a match begins; `first_line` is the number of the text's first."""
    begin, end = text.rfind(b"\n", 0, start) + 1, text.find(b"\n", start)
    before, line = text[begin:start], text[begin : end if end >= 0 else len(text)]
    number = first_line + text.count(b"\n", 0, begin)
    if number == 1:
        # A byte order mark belongs to the file.
        before, line = before.removeprefix(_MARK), line.removeprefix(_MARK)
    column = len(before.decode("utf-8", "surrogatepass")) + 1
    return LineMatch(number, column, line.decode("utf-8", "surrogatepass"))


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


def are_whole(joined: JoinedTexts, starts: Positions, ends: Positions, literal: str) -> NDArray[np.bool_]:
    """Whether a literal is a whole word at each of its places, in whatever form or case it stands there."""
    stands = np.ones(len(starts), np.bool_)
    # The byte before the first one is the last one: a line ends there, too.
    for is_before, letter, places in ((True, literal[0], starts - 1), (False, literal[-1], ends)):
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


def choose_in_lines(joined: JoinedTexts, starts: Positions, is_whole: NDArray[np.bool_]) -> Positions:
    """The index of one match of each line: the first, or the first that is whole."""
    lines = np.searchsorted(np.flatnonzero(joined.codes == ord("\n")), starts)
    chosen = _find_first(lines)
    whole = np.flatnonzero(is_whole)
    whole = whole[_find_first(lines[whole])]
    chosen[np.searchsorted(lines[chosen], lines[whole])] = whole
    return chosen


def _find_first(values: Positions) -> Positions:
    """The places where another value begins, given values in order; none is below 0."""
    return np.flatnonzero(np.diff(values, prepend=-1))


def cut_line(line: str, column: int) -> str:
    """A line, or what is around a column of it if it is very long."""
    if len(line) <= _MAX_LINE_CHARACTERS:
        return line
    first = max(0, column - 1 - _CHARACTERS_BEFORE_MATCH) if column > _MAX_LINE_CHARACTERS // 2 else 0
    part = line[first : first + _MAX_LINE_CHARACTERS]
    return f"{_GAP * bool(first)}{part}{_GAP * (first + len(part) < len(line))}"
