"""Regular expressions that RE2 matches: in time linear in the text, whatever the expression and the text are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import re2

from rag_ls.search.required_text import keep_in_line, knows_letters

_SPACES = r" \t\v\f\r\x1c-\x1f"
# The meaning of Python's classes in ASCII texts, without the end of a line.
_IN_LINE = {r"\s": f"[{_SPACES}]", r"\S": rf"[^\n{_SPACES}]", r"\W": r"[^\w\n]", r"\D": r"[^\d\n]"}
# RE2 takes these literally. A set cannot hold all but the spaces that RE2 does not know.
_READ_OTHERWISE = re.compile(r"\{,|\[[^\]]*\\S")


@dataclass(frozen=True, slots=True)
class LinearPattern:
    """A regular expression whose matches stay in a line."""

    _compiled: Any
    _of_ascii: bool
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
            compiled = re2.compile(f"(?m){keep_in_line(pattern, _IN_LINE, _SPACES)}".encode(), options)
        except (re2.error, UnicodeEncodeError):
            return None
        return cls(compiled, ignore_case or knows_letters(tree))

    def can_match(self, text: str) -> bool:
        """Whether it finds in this text what `re` finds."""
        return text.isascii() or not self._of_ascii

    def find_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The beginning and end of each match, in characters."""
        data = text.encode(errors="replace")
        spans = (match.span() for match in self._compiled.finditer(data))
        return spans if text.isascii() else _count_characters(data, spans)


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
