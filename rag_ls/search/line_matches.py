"""Lines that match, and whether letters continue what stands there."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag_ls.search.joined_texts import MIN_BYTE_BEYOND_ASCII, JoinedTexts, Positions
from rag_ls.storage import is_unspaced
from rag_ls.util.records import dataclass

_MAX_LETTER_BYTES = 4
# A longer line is shown in part.
_MAX_LINE_CHARACTERS = 400
_CHARACTERS_BEFORE_MATCH = 100
_GAP = "…"


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


class LineMatch(NamedTuple):
    """A line that matches."""

    line: int
    """From 1."""
    column: int
    """The first match's, in characters from 1; that of the first whole word if there is one."""
    is_whole: bool
    """Whether no letter, digit or `_` continues the match; true of regular expressions, which say so themselves."""
    text: str


@dataclass(frozen=True, slots=True)
class FoundLines:
    """The lines of some texts that match, in their order."""

    holders: Positions
    """The index of the text of each."""
    is_whole: NDArray[np.bool_]
    """See `LineMatch`."""
    _joined: JoinedTexts
    _starts: Positions
    """The beginning of the match in each, in bytes."""

    @classmethod
    def of_lines(cls, joined: JoinedTexts, starts: Positions) -> FoundLines:
        """Given the first match of each line; all of them are whole."""
        return cls(joined.find_holders(starts), np.ones(len(starts), np.bool_), joined, starts)

    @classmethod
    def of_words(cls, joined: JoinedTexts, starts: Positions, is_whole: NDArray[np.bool_]) -> FoundLines:
        """Given all matches: the first of each line, or the first that is whole."""
        lines = np.searchsorted(joined.line_ends, starts)
        chosen = _find_first(lines)
        whole = np.flatnonzero(is_whole)
        whole = whole[_find_first(lines[whole])]
        chosen[np.searchsorted(lines[chosen], lines[whole])] = whole
        return cls(joined.find_holders(starts[chosen]), is_whole[chosen], joined, starts[chosen])

    def count(self) -> NDArray[np.int64]:
        """The number of lines in each text, and of those that are whole, of shape (2, texts)."""
        texts = len(self._joined.starts)
        return np.stack([
            np.bincount(self.holders, minlength=texts),
            np.bincount(self.holders[self.is_whole], minlength=texts),
        ])  # fmt: skip

    def number(self) -> Positions:
        """The number of each line in its text, from 1."""
        ends = self._joined.line_ends
        before = np.searchsorted(ends, self._joined.starts)
        return 1 + np.searchsorted(ends, self._starts) - before[self.holders]

    def describe(self, at: int, line: int) -> LineMatch:
        """One of the lines, given its number."""
        start, data = int(self._starts[at]), self._joined.data
        begin, end = data.rfind(b"\n", 0, start) + 1, data.find(b"\n", start)
        before, text = (data[begin:last].decode("utf-8", "surrogatepass") for last in (start, end))
        return LineMatch(line, len(before) + 1, bool(self.is_whole[at]), text)


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
