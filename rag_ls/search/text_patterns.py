"""Finds the lines of texts that hold a literal text or match a regular expression. Lines are matched one by one, as grep does."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import re2
from numpy.typing import NDArray
from re2 import _re2

from rag_ls.errors import InvalidRequest
from rag_ls.search.expressions import Expression, keep_ascii, refuse, shorten
from rag_ls.storage import Need, is_unspaced
from rag_ls.util.records import dataclass
from rag_ls.util.text import LINE_END, MARK

_MAX_MEMORY_BYTES = 64 << 20
_ANY_LINES = (b"", b"~", b"\x01")
_OF_ONE_LINE = "each line is matched alone, so a regular expression finds nothing that goes over several: `\\n` and `(?s)` find no more"
# `re2` wraps this, and makes an object for each match: they take longer than the matching.
_ANYWHERE = _re2.RE2.Anchor.UNANCHORED


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A literal text or a regular expression to find in lines."""

    pattern: str
    is_regex: bool = False
    ignore_case: bool = False
    whole_words: bool = False


class TextPattern:
    """A compiled `TextQuery`."""

    def __init__(self, query: TextQuery) -> None:
        """Raises `InvalidRequest` for an empty query, or one that is no regular expression that RE2 knows."""
        if not query.pattern.strip("\r\n"):
            raise InvalidRequest("the text to find is empty: give a literal text or a regular expression")
        self._query = query
        self.note = ""
        """The reason why it may find less than was meant."""
        self._literal = ""
        self._ignores_case = query.ignore_case
        self.needs: tuple[Need, ...]
        """The needs of a match, each met by a line of the document."""
        # For RE2, and what was compiled of it: for texts of ASCII, and for all.
        self._source = self._read_expression() if query.is_regex else self._read_literal()
        self._compiled: dict[bool, Any] = {}
        if query.is_regex:
            self._refuse_empty()

    def _read_expression(self) -> str:
        expression = Expression.read(self._query.pattern)
        self._ignores_case |= expression.ignores_case
        self.note = _OF_ONE_LINE * expression.spans_lines
        self.needs = (expression.need(),)
        return expression.write(whole_words=self._query.whole_words)

    def _read_literal(self) -> str:
        literal = self._literal = LINE_END.sub("\n", self._query.pattern.strip("\r\n"))
        self.needs = tuple(
            Need(either=(tuple(Need((form,), any_case=self._ignores_case) for form in _forms_of(line)),))
            for line in literal.split("\n")
        )
        return "|".join(map(re.escape, _forms_of(literal)))

    def _refuse_empty(self) -> None:
        match = self._compile(is_ascii=True).Match
        if all(match(_ANYWHERE, line, 0, len(line))[0] == (0, 0) for line in _ANY_LINES):
            raise InvalidRequest(
                f"the regular expression {shorten(self._query.pattern)!r} matches the empty text, so it matches every line: write `+` "
                "in place of `*`, and leave no side of `|` empty"
            )

    def _compile(self, *, is_ascii: bool) -> Any:
        """The matcher for texts that are all in ASCII, which is made in a tenth of the time, or for others."""
        if is_ascii not in self._compiled:
            options = re2.Options()
            options.log_errors = False
            options.case_sensitive = not self._query.ignore_case
            options.max_mem = _MAX_MEMORY_BYTES
            # Nothing takes the end of a line, save a literal text that has it.
            options.never_nl = "\n" not in self._literal
            source = keep_ascii(self._source) if is_ascii else self._source
            compiled = _re2.RE2(source.encode("utf-8", "surrogatepass"), options)
            if not compiled.ok():
                raise refuse(self._query.pattern, compiled.error().decode("utf-8", "replace"))
            self._compiled[is_ascii] = compiled
        return self._compiled[is_ascii]

    def find(self, texts: Sequence[bytes]) -> FoundLines:
        """The lines that match in texts in UTF-8, whose lines end in LF."""
        joined = JoinedTexts.join(texts)
        if self._query.is_regex:
            starts, _ = self._match(joined)
            is_whole = np.ones(len(starts), np.bool_)
        else:
            starts, is_whole = self._find_literal(joined)
        holders = joined.find_holders(starts)
        return FoundLines(holders, starts - joined.starts[holders], is_whole)

    def _find_literal(self, joined: JoinedTexts) -> tuple[Positions, NDArray[np.bool_]]:
        """The places of the literal, one in each line, and whether it is a whole word there."""
        starts, ends = self._match(joined)
        if "\n" in self._literal:
            within = joined.find_holders(starts) == joined.find_holders(ends - 1)
            starts, ends = starts[within], ends[within]
        is_whole = are_whole(joined, starts, ends, self._literal)
        if self._query.whole_words:
            starts, is_whole = starts[is_whole], is_whole[is_whole]
        chosen = choose_in_lines(joined, starts, is_whole)
        return starts[chosen], is_whole[chosen]

    def _match(self, joined: JoinedTexts) -> tuple[Positions, Positions]:
        """The beginnings and ends of a literal's matches, or of the first match in each line."""
        data, at, limit = joined.data, 0, len(joined.data)
        match = self._compile(is_ascii=data.isascii()).Match
        starts, ends = [], []
        while at < limit:
            spans = match(_ANYWHERE, data, at, limit)
            # An empty group is behind a character that does not belong to the match.
            start, end = spans[0] if len(spans) == 1 else (max(spans)[0], spans[0][1])
            if not 0 <= start < limit:
                break
            starts.append(start)
            ends.append(end)
            at = data.find(b"\n", end) + 1 if self._query.is_regex else start + 1
        return np.array(starts, np.int64), np.array(ends, np.int64)


def _forms_of(literal: str) -> tuple[str, ...]:
    """The literal as it is written, composed and decomposed: they look the same."""
    return tuple(dict.fromkeys((literal, *(unicodedata.normalize(form, literal) for form in ("NFC", "NFD")))))


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
