"""Regular expressions that RE2 matches: in time linear in the text, whatever the expression and the text are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import re2
from numpy.typing import NDArray
from re2 import _re2

from rag_ls.search.required_text import keep_in_line, knows_letters
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

_SPACES = r" \t\v\f\r"
# The meaning of Python's classes in ASCII texts, without the end of a line.
_IN_LINE = {r"\s": f"[{_SPACES}]", r"\S": rf"[^\n{_SPACES}]", r"\W": r"[^\w\n]", r"\D": r"[^\d\n]"}
# RE2 takes these literally. A set cannot hold all but the spaces that RE2 does not know.
_READ_OTHERWISE = lazy_pattern(r"\{,|\[[^\]]*\\S")


# `re2` wraps this, and makes an object for each match: they take longer than the matching.
_ANYWHERE = _re2.RE2.Anchor.UNANCHORED


@dataclass(frozen=True, slots=True)
class LinearPattern:
    """A regular expression whose matches stay in a line."""

    _compiled: Any
    of_ascii: bool
    """Whether it tells letters, digits, spaces or cases apart: RE2 knows those of ASCII alone."""

    @classmethod
    def compile(cls, pattern: str, tree: Any, *, ignore_case: bool) -> LinearPattern | None:
        """None where RE2 does not understand the pattern, or may understand it otherwise; `tree` is that of `re`."""
        if _READ_OTHERWISE.search(pattern):
            return None
        options = re2.Options()
        options.log_errors = False
        options.case_sensitive = not ignore_case
        try:
            data = f"(?m){keep_in_line(pattern, _IN_LINE, _SPACES)}".encode()
        except UnicodeEncodeError:
            return None
        compiled = _re2.RE2(data, options)
        if not compiled.ok():
            return None
        return cls(compiled, ignore_case or knows_letters(tree))

    def can_match(self, text: str | bytes) -> bool:
        """Whether it finds in this text what `re` finds."""
        return text.isascii() or not self.of_ascii

    def find_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The beginning and end of each match, in characters."""
        data = text.encode(errors="replace")
        spans = self._find(data)
        return spans if text.isascii() else _count_characters(data, spans)

    def _find(self, data: bytes) -> Iterator[tuple[int, int]]:
        at, size = 0, len(data)
        while at <= size:
            start, end = self._compiled.Match(_ANYWHERE, data, at, size)[0]
            if start < 0:
                return
            yield start, end
            at = end + (start == end)

    def find_first(self, data: bytes) -> NDArray[np.int64]:
        """The beginning of the first match in each line that has any, in bytes; each line ends in LF."""
        found = []
        at, size, match = 0, len(data), self._compiled.Match
        while at < size:
            start, end = match(_ANYWHERE, data, at, size)[0]
            if not 0 <= start < size:
                break
            found.append(start)
            at = data.find(b"\n", end) + 1
        return np.array(found, np.int64)


def _count_characters(data: bytes, spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans in bytes of UTF-8 as spans in characters."""
    counted = characters = 0
    for start, end in spans:
        characters += _length(data[counted:start])
        counted = start
        yield characters, characters + _length(data[start:end])


def _length(data: bytes) -> int:
    # An empty match may lie within a character.
    return len(data.decode(errors="ignore"))
