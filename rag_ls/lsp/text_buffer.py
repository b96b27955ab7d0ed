"""The text of one open document, kept in step with the editor by incremental changes.

Lines end at LF, CRLF or CR and nowhere else (LSP 3.17, "Text Documents"): `str.splitlines` also breaks at form
feeds and Unicode separators, which moves edits to wrong lines.
"""

from __future__ import annotations

import re
from itertools import pairwise

from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass
from rag_ls.util.text import LINE_END

_WORD = lazy_pattern(r"[^\W\d]\w*")
# Begins only where a name begins: tried at each letter of a long name, it would take for ever.
_PATH = lazy_pattern(r"(?<![\w.@-])(?:[\w.@-]++/)++[\w.@-]*+")
# No name or path is longer, but a line of a minified file is.
_MAX_UNITS_AROUND = 4096


@dataclass(frozen=True, slots=True)
class Position:
    """A 0-based line, and a character counted in the session's position encoding."""

    line: int
    character: int


class TextBuffer:
    """Text with positions in `encoding` (utf-8, utf-16 or utf-32), kept as its lines: a change costs what it touches."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self._encoding = encoding
        self._lines = _split_lines(text)
        self._text: str | None = text

    @property
    def text(self) -> str:
        """The whole text."""
        if self._text is None:
            self._text = "".join(self._lines)
        return self._text

    def replace(self, start: Position, end: Position, text: str) -> None:
        """Apply one incremental change. Positions beyond a line or the text mean its end."""
        (first, first_at), (last, last_at) = sorted((self._find_place(start), self._find_place(end)))
        new = self._lines[first][:first_at] + text + self._lines[last][last_at:]
        if first and self._lines[first - 1].endswith("\r"):
            # A line feed that comes to stand behind it belongs to its line end.
            first -= 1
            new = self._lines[first] + new
        lines = _split_lines(new)
        # The empty line behind a line end is one at the end of the text alone.
        self._lines[first : last + 1] = lines if last == len(self._lines) - 1 else lines[:-1]
        self._text = None

    def offset(self, position: Position) -> int:
        """The index in `text` of a position."""
        number, index = self._find_place(position)
        return sum(map(len, self._lines[:number])) + index

    def _find_place(self, position: Position) -> tuple[int, int]:
        """The line of a position, and its index in it."""
        if position.line >= len(self._lines):
            return len(self._lines) - 1, len(self._lines[-1])
        if position.line < 0:
            return 0, 0
        return position.line, _index_in_line(self.line(position.line), max(0, position.character), self._encoding)

    def word_at(self, position: Position) -> str:
        """The identifier at a position, or an empty string."""
        return self._around(_WORD, position)

    def path_at(self, position: Position) -> str:
        """The path with a slash around a position, or an empty string."""
        return self._around(_PATH, position)

    def _around(self, pattern: re.Pattern[str], position: Position) -> str:
        line = self.line(position.line)
        index = _index_in_line(line, max(0, position.character), self._encoding)
        start = max(0, index - _MAX_UNITS_AROUND)
        found = pattern.finditer(line[start : index + _MAX_UNITS_AROUND])
        return next((match[0] for match in found if start + match.start() <= index <= start + match.end()), "")

    def line(self, number: int) -> str:
        """The text of a 0-based line without its end; empty beyond the last one."""
        return self._lines[number].rstrip("\r\n") if 0 <= number < len(self._lines) else ""


def _split_lines(text: str) -> list[str]:
    """The lines of a text with their ends; the last one has none, and may be empty."""
    if "\r" not in text:
        # The usual case, and much faster where a line has megabytes.
        *lines, last = text.split("\n")
        return [*(line + "\n" for line in lines), last]
    ends = [0, *(match.end() for match in LINE_END.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


def units(line: str, column: int, encoding: str) -> int:
    """The character offset of a column, counted in characters, in a position encoding."""
    return _width(line[:column], encoding)


def _index_in_line(line: str, character: int, encoding: str) -> int:
    if encoding == "utf-32" or line.isascii():
        return min(character, len(line))
    # Not letter by letter, which takes seconds in a line of megabytes. Each letter has at least one unit.
    start = line[:character]
    if encoding == "utf-16":
        # A half pair is decoded as one letter: a position within a letter counts as behind it.
        return len(start.encode("utf-16-le", "surrogatepass")[: character * 2].decode("utf-16-le", "surrogatepass"))
    data, end = start.encode("utf-8", "surrogatepass"), character
    while end < len(data) and data[end] & 0b1100_0000 == 0b1000_0000:
        end += 1
    return len(data[:end].decode("utf-8", "surrogatepass"))


def _width(text: str, encoding: str) -> int:
    if encoding == "utf-32" or text.isascii():
        return len(text)
    codec, unit = ("utf-8", 1) if encoding == "utf-8" else ("utf-16-le", 2)
    return len(text.encode(codec, "surrogatepass")) // unit
