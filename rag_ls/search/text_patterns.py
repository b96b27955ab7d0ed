"""Finds the lines of texts that hold a literal text or match a regular expression. Lines are matched one by one, as grep does."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
import re2
from numpy.typing import NDArray
from re2 import _re2

from rag_ls.errors import InvalidRequest
from rag_ls.search.expressions import Expression, keep_ascii, refuse, shorten
from rag_ls.search.line_matches import FoundLines, JoinedTexts, Positions, are_whole, choose_in_lines
from rag_ls.storage import Need
from rag_ls.util.records import dataclass
from rag_ls.util.text import LINE_END

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
