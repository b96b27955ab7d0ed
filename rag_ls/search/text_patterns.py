"""Finds the lines of a text that hold a literal text or match a regular expression. Lines are matched one by one, as grep does."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import regex

from rag_ls.errors import InvalidRequest
from rag_ls.search.joined_texts import JoinedLines, JoinedTexts, Positions
from rag_ls.search.line_matches import LineMatch, are_whole, collect_lines, collect_literal
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
    texts_of,
)
from rag_ls.storage import OTHER_CASES, Need, fold
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass
from rag_ls.util.text import LINE_END, MARK
from rag_ls.util.timed_patterns import compile_timed

# A text or a line is matched in milliseconds. A match that takes this long may never end.
_MATCH_S = 2.0
# A minified file may be slow to match when others are not. If more documents than this are slow, the pattern is at fault.
_MAX_SLOW_DOCUMENTS = 2
# RE2 looks into so many bytes in the time that it takes to cut out one line.
_BYTES_AS_FAST_AS_A_LINE = 500
_ANY_LINES = ("", "~", "\x01")
_OF_ONE_LINE = "each line is matched alone, so a regular expression finds nothing that goes over several: `\\n` and `(?s)` find no more"
_MAX_SHOWN_CHARACTERS = 200
UNCOUNTED_LINES = -1
"""In place of a count."""
# The meaning of these classes within one line.
_IN_LINE = {r"\s": r"[^\S\n]", r"\W": r"[^\w\n]", r"\D": r"[^\d\n]"}
# Texts without these letters have no letter that is one of ASCII in another case.
_OTHER_CASES = tuple(letter.encode() for letter in OTHER_CASES)
_MARK_BYTES = MARK.encode()
_SPACES = r" \t\v\f\r\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# `regex` gives some brackets a meaning of its own, where `re` and people mean the character.
_BARE_BRACE = lazy_pattern(r"\{(?!\d*,?\d*\})")


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A literal text or a regular expression to find in lines."""

    pattern: str
    is_regex: bool = False
    ignore_case: bool = False
    whole_words: bool = False


class LineCounts(NamedTuple):
    """The number of lines that match in each of some texts, of shape (texts,)."""

    lines: Positions
    """`UNCOUNTED_LINES` for a text that the pattern takes too long in."""
    whole: Positions
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
        # Whether each line that holds one of them matches.
        self._is_held_alone = False
        self._is_folded = query.ignore_case
        self.note = ""
        """The reason why it may find less than was meant."""
        self._by_line: Any = None
        self._slow: set[int] = set()
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
            texts = texts_of(tree) if "(?" not in pattern and not query.whole_words else []
            if texts and (not query.ignore_case or "".join(texts).isascii()):
                self._held, self._is_held_alone = tuple(map(fold, texts)) if query.ignore_case else tuple(texts), True
            elif self._linear is None and begins_with_text(tree):
                self._held = ()

    def _refuse_empty(self, query: TextQuery) -> None:
        """Raises `InvalidRequest` for a pattern that finds the empty text in whatever line."""
        found = (self._by_line.search(line, timeout=_MATCH_S) for line in _ANY_LINES)
        if all(match is not None and not match[0] for match in found):
            raise InvalidRequest(
                f"the regular expression {_shorten(query.pattern)!r} matches the empty text, so it matches every line: write `+` in "
                "place of `*`, and leave no side of `|` empty"
            )

    def find_lines(self, text: str, *, is_first: bool = True) -> list[LineMatch]:
        """The lines that match, in order. Raises `InvalidRequest` for a pattern that takes too long.

        `is_first`: whether a byte order mark may stand before the text, as before that of a document.
        """
        if not text:
            return []
        text = self._prepare(text, is_first=is_first)
        if (comparable := self._make_comparable(text)) is not None:
            found = collect_literal(comparable, self._literal)
        elif not self._held:
            found = collect_lines(text, self._find_pattern(text), is_regex=self._query.is_regex)
        else:
            joined = JoinedTexts.join([text.encode("utf-8", "surrogatepass")])
            lines = self._find_candidates(joined)
            numbers = (1 + np.searchsorted(joined.line_ends(), lines.begins)).tolist()
            kept = _decode_lines(lines.texts)
            found = collect_lines(kept, self._find_pattern(kept), is_regex=self._query.is_regex) if kept else []
            found = [match._replace(line=numbers[match.line - 1]) for match in found]
        return [match for match in found if match.is_whole] if self._takes_whole_alone else found

    def count_lines(self, texts: Sequence[bytes], documents: Positions | None = None) -> LineCounts:
        """The number of lines that `find_lines` gives for each text, in less time; `UNCOUNTED_LINES` for one that takes too long.

        Texts are in UTF-8, and their lines end in LF; several may be of one of the `documents`. Raises `InvalidRequest` where
        several documents take too long.
        """
        owners = np.arange(len(texts)) if documents is None else documents
        joined = JoinedTexts.join(texts)
        counts = self._count(joined, owners)
        if len(apart := self._find_apart(texts)):
            count = self._count_by_regex if self._query.is_regex else self._count_each
            found = count(JoinedTexts.join([texts[at] for at in apart.tolist()]), owners[apart])
            counts.lines[apart], counts.whole[apart] = found
        return counts

    def _find_apart(self, texts: Sequence[bytes]) -> Positions:
        """The texts with letters beyond ASCII that ask for another matcher."""
        is_text = self._is_held_alone or not self._query.is_regex
        if not (self._query.ignore_case if is_text else self._linear is not None and self._linear.of_ascii):
            return np.zeros(0, np.int64)
        beyond = [at for at, text in enumerate(texts) if not text.isascii()]
        if is_text:
            beyond = [at for at in beyond if any(other in texts[at] for other in _OTHER_CASES)]
        return np.array(beyond, np.int64)

    def _count(self, joined: JoinedTexts, owners: Positions) -> LineCounts:
        if self._query.is_regex and not self._is_held_alone:
            return self._count_linear(joined) if self._linear is not None else self._count_by_regex(joined, owners)
        if not self._is_held_alone and (not self._literal or "\n" in self._literal):
            return self._count_held(joined, owners) if self._held else self._count_each(joined, owners)
        if self._is_held_alone:
            found = self._find_held(joined)
            counts = joined.count(_keep_first(found, joined.number_lines(found)))
            return LineCounts(counts, counts)
        found = joined.find(self._literal.encode("utf-8", "surrogatepass"), any_case=self._query.ignore_case)
        is_whole, lines = are_whole(joined, found, self._literal), joined.number_lines(found)
        whole = joined.count(_keep_first(found[is_whole], lines[is_whole]))
        return LineCounts(whole if self._takes_whole_alone else joined.count(_keep_first(found, lines)), whole)

    def _count_linear(self, joined: JoinedTexts) -> LineCounts:
        assert self._linear is not None
        joined = self._without_marks(joined)
        held = self._find_held(joined) if self._held else None
        if held is None or len(held) * _BYTES_AS_FAST_AS_A_LINE > len(joined.data):
            places = self._linear.find_first(joined.data)
        else:
            lines = joined.find_lines(held)
            kept = JoinedTexts.join(lines.texts)
            places = lines.begins[kept.find_holders(self._linear.find_first(kept.data))]
        counts = joined.count(places)
        return LineCounts(counts, counts)

    def _count_held(self, joined: JoinedTexts, owners: Positions) -> LineCounts:
        """As `_count_each` for a literal of one line: only the lines that hold a part of it are decoded."""
        lines = self._find_candidates(joined)
        text = _decode_lines(lines.texts)
        try:
            found = collect_lines(text, self._find_pattern(text), is_regex=False) if text else []
        except SlowPattern:
            return self._count_each(joined, owners)
        whole = [match for match in found if match.is_whole]
        places = (lines.begins[np.array([each.line - 1 for each in part], np.int64)] for part in (found, whole))
        counts, counts_whole = map(joined.count, places)
        return LineCounts(counts_whole if self._takes_whole_alone else counts, counts_whole)

    def _count_by_regex(self, joined: JoinedTexts, owners: Positions) -> LineCounts:
        joined = self._without_marks(joined)
        try:
            counts = joined.count(self._match_by_regex(self._find_candidates(joined)))
        except SlowPattern:
            # The limit is for one text: many texts may take longer together.
            return self._count_each(joined, owners)
        return LineCounts(counts, counts)

    def _without_marks(self, joined: JoinedTexts) -> JoinedTexts:
        if _MARK_BYTES not in joined.data or self._asks_for_mark:
            return joined
        return JoinedTexts.join([text.removeprefix(_MARK_BYTES) for text in joined.split()])

    def _match_by_regex(self, lines: JoinedLines) -> Positions:
        text = _decode_lines(lines.texts)
        found = collect_lines(text, self._find_pattern(text), is_regex=True) if lines.texts else []
        return lines.begins[np.array([match.line - 1 for match in found], np.int64)]

    def _find_candidates(self, joined: JoinedTexts) -> JoinedLines:
        """The lines that may match."""
        if not self._held:
            return joined.all_lines()
        others = [joined.find(each) for each in _OTHER_CASES] if self._is_folded and not joined.data.isascii() else []
        return joined.find_lines(np.sort(np.concatenate([self._find_held(joined), *others])))

    def _find_held(self, joined: JoinedTexts) -> Positions:
        """The places of the texts of which each match holds one."""
        held = (each.encode("utf-8", "surrogatepass") for each in self._held)
        found = [joined.find(each, any_case=self._is_folded) for each in held]
        return found[0] if len(found) == 1 else np.sort(np.concatenate(found))

    def _count_each(self, joined: JoinedTexts, owners: Positions) -> LineCounts:
        counts = [self._count_alone(text, owner) for text, owner in zip(joined.split(), owners.tolist(), strict=True)]
        return LineCounts(*np.array(counts, np.int64).reshape(-1, 2).T)

    def _count_alone(self, text: bytes, owner: int) -> tuple[int, int]:
        if owner not in self._slow:
            try:
                found = self.find_lines(text.decode("utf-8", "surrogatepass"))
                return len(found), sum(match.is_whole for match in found)
            except SlowPattern:
                self._slow.add(owner)
                if len(self._slow) > _MAX_SLOW_DOCUMENTS:
                    raise
        return UNCOUNTED_LINES, 0

    @property
    def _takes_whole_alone(self) -> bool:
        # In a regular expression, the pattern itself holds the boundaries of words.
        return self._query.whole_words and not self._query.is_regex

    def _prepare(self, text: str, *, is_first: bool) -> str:
        """The text with its lines ended by LF, and none after the last."""
        text = text if self._asks_for_mark or not is_first else text.removeprefix(MARK)
        # No line begins at the end of the last one.
        return (text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text).removesuffix("\n")

    @property
    def _asks_for_mark(self) -> bool:
        # A byte order mark belongs to the first line only if the query asks for it.
        return MARK in self._query.pattern or "ufeff" in self._query.pattern.lower()

    def _make_comparable(self, text: str) -> str | None:
        """A text in which `_literal` stands where `text` matches; None if a pattern must be matched."""
        if not self._literal or (self._query.ignore_case and not text.isascii()):
            return None
        return text.lower() if self._query.ignore_case else text

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


def _decode_lines(lines: Iterable[bytes]) -> str:
    """Lines as a text without the last one's end."""
    return b"".join(lines).decode("utf-8", "surrogatepass").removesuffix("\n")


def _keep_first(positions: Positions, lines: Positions) -> Positions:
    """The first place of each line, given the lines of all."""
    first: Positions = positions[np.diff(lines, prepend=-1) != 0]
    return first


def _shorten(pattern: str) -> str:
    return pattern if len(pattern) <= _MAX_SHOWN_CHARACTERS else pattern[:_MAX_SHOWN_CHARACTERS] + "…"
