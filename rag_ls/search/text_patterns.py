"""Finds the lines of a text that hold a literal text or match a regular expression. Lines are matched one by one, as grep does."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import regex

from rag_ls.errors import InvalidRequest
from rag_ls.search.joined_texts import JoinedTexts, find_in_lines
from rag_ls.search.linear_patterns import LinearPattern
from rag_ls.search.required_text import (
    ELEMENT,
    begins_with_text,
    choose_held,
    keep_in_line,
    need_of,
    parse,
    spans_lines,
    stays_in_line,
)
from rag_ls.storage import Need, fold, is_unspaced
from rag_ls.util.text import LINE_END, MARK
from rag_ls.util.timed_patterns import compile_timed

# A text or a line is matched in milliseconds. A match that takes this long may never end.
_MATCH_S = 2.0
# A minified file may be slow to match when others are not. If more texts than this are slow, the pattern is at fault.
_MAX_SLOW_TEXTS = 2
# A longer line is shown in part.
MAX_LINE_CHARACTERS = 400
_CHARACTERS_BEFORE_MATCH = 100
_GAP = "…"
_ANY_LINES = ("", "~", "\x01")
_OF_ONE_LINE = "each line is matched alone, so a regular expression finds nothing that goes over several: `\\n` and `(?s)` find no more"
_MAX_SHOWN_CHARACTERS = 200
# The meaning of these classes within one line.
_IN_LINE = {r"\s": r"[^\S\n]", r"\W": r"[^\w\n]", r"\D": r"[^\d\n]"}
_SPACES = r" \t\v\f\r\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# `regex` gives some brackets a meaning of its own, where `re` and people mean the character.
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


class LineCount(NamedTuple):
    """The number of lines that match."""

    lines: int = 0
    whole: int = 0
    """Those with a whole match, see `LineMatch.is_whole`."""


class SlowPattern(InvalidRequest):
    """A regular expression takes too long for a text."""


class TextPattern:
    """A compiled `TextQuery`."""

    def __init__(self, query: TextQuery) -> None:
        """Raises `InvalidRequest` for an empty query, or one that is no regular expression."""
        if not query.pattern.strip("\r\n"):
            raise InvalidRequest("the text to find is empty: give a literal text or a regular expression")
        self._query = query
        self._literal = ""
        self._whole_text: Any = None
        self._linear: LinearPattern | None = None
        # Each matching line holds one of these texts, if there are any. If `_is_folded`, compare with `fold(line)`.
        self._held: tuple[str, ...] = ()
        self._is_folded = query.ignore_case
        self.note = ""
        """The reason why it may find less than was meant."""
        self._by_line: Any = None
        self._slow_texts = 0
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
        if len(forms) == 1 and (literal.isascii() or not query.ignore_case):
            self._literal = literal.lower() if query.ignore_case else literal
        if "\n" not in literal:
            self._held = choose_held(self.needs[0], is_folded=query.ignore_case)

    def _compile_regex(self, query: TextQuery) -> None:
        tree = parse(query.pattern)
        if tree is not None and spans_lines(tree):
            self.note = _OF_ONE_LINE
        self.needs = (need_of(tree) if tree is not None else Need(),)
        pattern = query.pattern if tree is None else _escape_braces(query.pattern)
        # Errors quote the pattern as the caller gave it.
        self._by_line = _compile(query, pattern)
        self._refuse_empty(query)
        # Flags such as `(?i)` may match letters in another case.
        self._is_folded = query.ignore_case or "(?" in query.pattern
        self._held = choose_held(self.needs[0], is_folded=self._is_folded)
        within = keep_in_line(pattern, _IN_LINE, _SPACES)
        if tree is not None and (tree := parse(within)) is not None and stays_in_line(tree):
            self._whole_text = _compile(query, within)
            if not query.whole_words:
                self._linear = LinearPattern.compile(pattern, tree, ignore_case=query.ignore_case)
            self._held = () if begins_with_text(tree) else self._held

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
        if not text:
            return []
        text = self._prepare(text)
        if (comparable := self._make_comparable(text)) is not None:
            found = _collect_literal(comparable, self._literal)
        elif not self._held:
            found = _collect(text, self._find_pattern(text), is_regex=self._query.is_regex)
        else:
            begins, lines = self._find_holders(text)
            numbers = _number_lines(text, begins)
            kept = "\n".join(lines)
            found = _collect(kept, self._find_pattern(kept), is_regex=self._query.is_regex) if lines else []
            found = [match._replace(line=numbers[match.line - 1]) for match in found]
        return [match for match in found if match.is_whole] if self._takes_whole_alone else found

    def count_lines(self, texts: Sequence[str]) -> list[LineCount | None]:
        """The number of lines that `find_lines` gives for each text, in less time; None for one that takes too long.

        Raises `InvalidRequest` where several do.
        """
        counts: list[LineCount | None] = [LineCount()] * len(texts)
        for is_ascii in (True, False):
            # Other letters would make the joined text larger, and the ends of its words are harder to find.
            among = [at for at, text in enumerate(texts) if text and text.isascii() is is_ascii]
            for at, count in zip(among, self._count_joined([texts[at] for at in among], is_ascii), strict=True):
                counts[at] = count
        return counts

    def _count_joined(self, texts: list[str], is_ascii: bool) -> Iterable[LineCount | None]:
        if not texts:
            return []
        if self._query.is_regex:
            try:
                counts = self._count_expression(JoinedTexts.join([*map(self._prepare, texts)]))
            except SlowPattern:
                # The limit is for one text: many texts may take longer together.
                return map(self._count_alone, texts)
            return map(LineCount, counts, counts)
        if not self._literal or "\n" in self._literal or not is_ascii:
            found = map(self.find_lines, texts)
            return [LineCount(len(lines), sum(match.is_whole for match in lines)) for lines in found]
        joined = JoinedTexts.join(texts)
        if "\r" in joined.text:
            joined = JoinedTexts.join([*map(self._prepare, texts)])
        text = self._make_comparable(joined.text) or ""
        positions = find_in_lines(text, self._literal)
        lines = joined.count(positions)
        whole = joined.count(_keep_whole(text, self._literal, positions))
        return map(LineCount, whole if self._takes_whole_alone else lines, whole)

    def _count_alone(self, text: str) -> LineCount | None:
        try:
            lines = len(self.find_lines(text))
        except SlowPattern:
            self._slow_texts += 1
            if self._slow_texts > _MAX_SLOW_TEXTS:
                raise
            return None
        return LineCount(lines, lines)

    def _count_expression(self, joined: JoinedTexts) -> list[int]:
        """The number of lines of each text that match a regular expression."""
        if not self._held:
            positions = _begin_lines(joined.text, self._find_pattern(joined.text))
            return joined.count(positions)
        begins, lines = self._find_holders(joined.text)
        if not lines:
            return [0] * len(joined.starts)
        kept = JoinedTexts.join(lines)
        matching = kept.find_holders(_begin_lines(kept.text, self._find_pattern(kept.text)))
        return joined.count(begins[at] for at in matching)

    @property
    def _takes_whole_alone(self) -> bool:
        # In a regular expression, the pattern itself holds the boundaries of words.
        return self._query.whole_words and not self._query.is_regex

    def _prepare(self, text: str) -> str:
        """The text with its lines ended by LF, and none after the last."""
        # A byte order mark belongs to the first line only if the query asks for it.
        if MARK not in self._query.pattern and "ufeff" not in self._query.pattern.lower():
            text = text.removeprefix(MARK)
        # No line begins at the end of the last one.
        return (text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text).removesuffix("\n")

    def _make_comparable(self, text: str) -> str | None:
        """A text in which `_literal` stands where `text` matches; None if a pattern must be matched."""
        if not self._literal or (self._query.ignore_case and not text.isascii()):
            return None
        return text.lower() if self._query.ignore_case else text

    def _find_holders(self, text: str) -> tuple[list[int], list[str]]:
        """The lines that hold a text that each match holds, and where they begin: this is faster than any expression."""
        compared = fold(text) if self._is_folded else text
        found = [find_in_lines(compared, held) for held in self._held]
        begins = sorted({text.rfind("\n", 0, at) + 1 for positions in found for at in positions})
        ends = (text.find("\n", begin) for begin in begins)
        return begins, [text[begin : None if end < 0 else end] for begin, end in zip(begins, ends, strict=True)]

    def _find_pattern(self, text: str) -> Iterator[tuple[int, int]]:
        if self._linear is not None and self._linear.can_match(text):
            yield from self._linear.find_spans(text)
            return
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
            raise SlowPattern(
                f"the regular expression {_shorten(self._query.pattern)!r} takes too long: beside look-arounds, back references and "
                "letters beyond ASCII, a repetition is tried at each place of a line; write it without them, or search for a literal text"
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
    return ELEMENT.sub(
        lambda found: r"\{" if found[0] == "{" and _BARE_BRACE.match(pattern, found.start()) else found[0], pattern
    )


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
        line_end = _end_line(text, start)
        found.append(LineMatch(line, start - text.rfind("\n", 0, start), is_whole))
    return found


def _end_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _begin_lines(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[int]:
    """The start of the first span in each line that has any."""
    line_end = -1
    for start, _ in spans:
        if start > line_end:
            yield start
            line_end = _end_line(text, start)


def _number_lines(text: str, begins: Iterable[int]) -> list[int]:
    """The numbers of the lines that begin there, from 1."""
    numbers = []
    line, counted = 1, 0
    for begin in begins:
        line += text.count("\n", counted, begin)
        counted = begin
        numbers.append(line)
    return numbers


def _keep_whole(text: str, literal: str, positions: Sequence[int]) -> list[int]:
    """Of the first places of a literal in the lines of an ASCII text, those in lines that hold it as a whole word."""
    continues = _is_word(literal[0]), _is_word(literal[-1])
    if not any(continues):
        return list(positions)
    kept = []
    for at in positions:
        place = at
        while not _stands_alone(text, place, place + len(literal), continues):
            place = text.find(literal, place + 1, _end_line(text, at))
            if place < 0:
                break
        else:
            kept.append(at)
    return kept


def _collect_literal(text: str, literal: str) -> list[LineMatch]:
    """As `_collect`, faster: many lines hold a common word."""
    found: list[LineMatch] = []
    line, counted, line_begin, length = 1, 0, 0, len(literal)
    # A match can be part of a longer word only if the literal itself begins or ends with a letter there.
    continues = _is_word(literal[0]), _is_word(literal[-1])
    start = text.find(literal)
    while start >= 0:
        line_end = _end_line(text, start)
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
    # In scripts without spaces, a word may end between any two letters.
    return (character.isalnum() or character == "_") and (character.isascii() or not is_unspaced(character))


def cut_line(line: str, column: int) -> str:
    """A line, or what is around a column of it if it is very long."""
    if len(line) <= MAX_LINE_CHARACTERS:
        return line
    first = max(0, column - 1 - _CHARACTERS_BEFORE_MATCH) if column > MAX_LINE_CHARACTERS // 2 else 0
    part = line[first : first + MAX_LINE_CHARACTERS]
    return f"{_GAP * bool(first)}{part}{_GAP * (first + len(part) < len(line))}"
