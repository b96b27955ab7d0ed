"""Finds the lines of a text that hold a literal text or match a regular expression. Lines are matched one by one, as grep does."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import regex

from rag_ls.errors import InvalidRequest
from rag_ls.search.required_text import need_of, parse, spans_lines, stays_in_line
from rag_ls.storage import Need, is_unspaced
from rag_ls.util.text import LINE_END, MARK
from rag_ls.util.timed_patterns import compile_timed

# A text or line is matched in milliseconds; what takes longer never ends.
_MATCH_S = 2.0
# Much of a long line is not shown.
MAX_LINE_CHARACTERS = 400
_BEFORE_MATCH = 100
_GAP = "…"
_ANY_LINES = ("", "~", "\x01")
_OF_ONE_LINE = "each line is matched alone, so a regular expression finds nothing that goes over several: `\\n` and `(?s)` find no more"
_ELEMENT = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[]", re.DOTALL)
# What they mean within one line.
_MAX_SHOWN_CHARACTERS = 200
_IN_LINE = {r"\s": r"[^\S\n]", r"\W": r"[^\w\n]", r"\D": r"[^\d\n]"}
_SPACES = r" \t\v\f\r\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# `regex` understands some brackets as its own, where `re` and people mean the character.
_BARE_BRACE = re.compile(r"\{(?!\d*,?\d*\})")


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A literal text or a regular expression to find in lines."""

    pattern: str
    is_regex: bool = False
    ignore_case: bool = False
    whole_words: bool = False


class LineMatch(NamedTuple):
    """A line that matches. A text may have a hundred thousand: a tuple is made in a tenth of the time."""

    line: int
    """From 1."""
    column: int
    """The first match's, in characters from 1; that of the first whole word if there is one."""
    is_whole: bool
    """Whether no letter, digit or `_` continues the match; true of regular expressions, which say so themselves."""


class TextPattern:
    """A compiled `TextQuery`."""

    def __init__(self, query: TextQuery) -> None:
        """Raises `InvalidRequest` for an empty query, or one that is no regular expression."""
        if not query.pattern.strip("\r\n"):
            raise InvalidRequest("the text to find is empty: give a literal text or a regular expression")
        self._query = query
        self._literal = ""
        self._whole_text: Any = None
        # A text that each line that matches holds, as it is written.
        self._held = ""
        self.note = ""
        """The reason why it may find less than was meant."""
        self._by_line: Any = None
        self.needs: tuple[Need, ...]
        """The needs of a match, each met by a line of the document."""
        if query.is_regex:
            self._compile_regex(query)
            return
        literal = LINE_END.sub("\n", query.pattern.strip("\r\n"))
        forms = _forms_of(literal)
        self.needs = tuple(
            Need(either=(tuple(Need((form,), any_case=query.ignore_case) for form in _forms_of(line)),))
            for line in literal.split("\n")
        )
        if query.ignore_case or len(forms) > 1:
            self._whole_text = _compile(query, "|".join(map(re.escape, forms)))
        else:
            self._literal = literal

    def _compile_regex(self, query: TextQuery) -> None:
        tree = parse(query.pattern)
        if tree is not None and spans_lines(tree):
            self.note = _OF_ONE_LINE
        self.needs = (need_of(tree) if tree is not None else Need(),)
        pattern = query.pattern if tree is None else _escape_braces(query.pattern)
        # Whatever is wrong with the pattern is told of the pattern as it was given.
        self._by_line = _compile(query, pattern)
        self._refuse_empty(query)
        # Flags such as `(?i)` may take letters in another case.
        if not query.ignore_case and "(?" not in query.pattern:
            self._held = max(self.needs[0].literals, key=len, default="")
        within = _keep_in_line(pattern)
        if tree is not None and (tree := parse(within)) is not None and stays_in_line(tree):
            self._whole_text = _compile(query, within)

    def _refuse_empty(self, query: TextQuery) -> None:
        """Raises `InvalidRequest` for a pattern that finds the empty text in whatever line."""
        found = (self._by_line.search(line, timeout=_MATCH_S) for line in _ANY_LINES)
        if all(match is not None and not match[0] for match in found):
            raise InvalidRequest(
                f"the regular expression {_shorten(query.pattern)!r} matches the empty text, so it matches every line: write `+` in "
                "place of `*`, and leave no side of `|` empty"
            )

    def find_lines(self, text: str) -> list[LineMatch]:
        """The lines that match, in order. Raises `InvalidRequest` for a pattern that takes too long."""
        if not text or self._held not in text:
            return []
        # A byte order mark is no letter of the first line, unless it is looked for.
        if MARK not in self._query.pattern and "ufeff" not in self._query.pattern.lower():
            text = text.removeprefix(MARK)
        # The end of the last line begins no other line.
        text = (LINE_END.sub("\n", text) if "\r" in text else text).removesuffix("\n")
        if self._literal:
            found = _collect_literal(text, self._literal)
        else:
            found = _collect(text, self._find_pattern(text), is_regex=self._query.is_regex)
        only_whole = self._query.whole_words and not self._query.is_regex
        return [match for match in found if match.is_whole] if only_whole else found

    def _find_pattern(self, text: str) -> Iterator[tuple[int, int]]:
        try:
            if self._whole_text is not None:
                for match in self._whole_text.finditer(text, timeout=_MATCH_S, concurrent=True):
                    yield match.span()
                return
            at, search = 0, self._by_line.search
            for line in text.split("\n"):
                found = search(line, timeout=_MATCH_S, concurrent=True)
                if found is not None:
                    yield at + found.start(), at + found.end()
                at += len(line) + 1
        except TimeoutError:
            raise InvalidRequest(
                f"the regular expression {_shorten(self._query.pattern)!r} takes too long: nested repetitions such as `(a+)+` need "
                "exponential time; write it without a repetition inside another one, or search for a literal text"
            ) from None


def _forms_of(literal: str) -> tuple[str, ...]:
    """The literal as it is written, composed and decomposed: they look the same."""
    return tuple(dict.fromkeys((literal, *(unicodedata.normalize(form, literal) for form in ("NFC", "NFD")))))


def _compile(query: TextQuery, pattern: str) -> Any:
    if query.whole_words and query.is_regex:
        pattern = rf"(?<!\w)(?:{pattern})(?!\w)"
    try:
        return compile_timed(pattern, regex.MULTILINE | (regex.IGNORECASE if query.ignore_case else 0))
    except re.error as error:
        raise InvalidRequest(
            f"{_shorten(query.pattern)!r} is no regular expression: {error}; put \\ before brackets and marks that stand for themselves, "
            "or search for it as a literal text"
        ) from None


def _escape_braces(pattern: str) -> str:
    """The pattern with `\\` before braces that are no counts, outside of sets."""
    return _ELEMENT.sub(
        lambda found: r"\{" if found[0] == "{" and _BARE_BRACE.match(pattern, found.start()) else found[0], pattern
    )


def _keep_in_line(pattern: str) -> str:
    """The pattern with classes and sets that do not take the end of a line, as far as that is easy to write."""

    def narrow(found: re.Match[str]) -> str:
        element = found[0]
        if element.startswith("[^"):
            return rf"{element[:-1]}\n]"
        if element.startswith("["):
            return element.replace(r"\s", _SPACES) if r"\\s" not in element else element
        return _IN_LINE.get(element, element)

    return _ELEMENT.sub(narrow, pattern)


def _collect(text: str, spans: Iterable[tuple[int, int]], *, is_regex: bool) -> list[LineMatch]:
    """The lines in which spans begin, each once, with its first whole one if it has any."""
    found: list[LineMatch] = []
    line, counted, line_end = 1, 0, -1
    for start, end in spans:
        is_same = start <= line_end
        if is_same and found[-1].is_whole:
            continue
        is_whole = is_regex or _is_whole(text, start, end)
        if is_same:
            if not is_whole:
                continue
            found.pop()
        line += text.count("\n", counted, start)
        counted = start
        line_end = text.find("\n", start)
        line_end = len(text) if line_end < 0 else line_end
        found.append(LineMatch(line, start - text.rfind("\n", 0, start), is_whole))
    return found


def _collect_literal(text: str, literal: str) -> list[LineMatch]:
    """As `_collect`, faster: many lines hold a common word."""
    found: list[LineMatch] = []
    line, counted, line_begin, length = 1, 0, 0, len(literal)
    # Only beside a letter of its own may another letter continue the literal.
    continues = _is_word(literal[0]), _is_word(literal[-1])
    start = text.find(literal)
    while start >= 0:
        line_end = text.find("\n", start)
        line_end = len(text) if line_end < 0 else line_end
        first = start
        while not (is_whole := _stands_alone(text, start, start + length, continues)):
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


def _stands_alone(text: str, start: int, end: int, continues: tuple[bool, bool]) -> bool:
    """Whether no letter continues what stands there; `continues` says at which of its ends one could."""
    before, after = continues
    return not (
        (before and start > 0 and _is_word(text[start - 1])) or (after and end < len(text) and _is_word(text[end]))
    )


def _shorten(pattern: str) -> str:
    return pattern if len(pattern) <= _MAX_SHOWN_CHARACTERS else pattern[:_MAX_SHOWN_CHARACTERS] + "…"


def _is_whole(text: str, start: int, end: int) -> bool:
    if start == end:
        return True
    return _stands_alone(text, start, end, (_is_word(text[start]), _is_word(text[end - 1])))


def _is_word(character: str) -> bool:
    # Between letters of scripts without spaces any place may be the end of a word.
    return (character.isalnum() or character == "_") and (character.isascii() or not is_unspaced(character))


def cut_line(line: str, column: int) -> str:
    """A line, or what is around a column of it if it is very long."""
    if len(line) <= MAX_LINE_CHARACTERS:
        return line
    first = max(0, column - 1 - _BEFORE_MATCH) if column > MAX_LINE_CHARACTERS // 2 else 0
    part = line[first : first + MAX_LINE_CHARACTERS]
    return f"{_GAP * bool(first)}{part}{_GAP * (first + len(part) < len(line))}"
