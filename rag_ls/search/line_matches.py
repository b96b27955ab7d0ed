"""The lines of a text in which spans begin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rag_ls.search.whole_words import is_whole_word, is_word, stands_alone

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
