"""Comments of languages: how they are found in a text, and written."""

from __future__ import annotations

from typing import NamedTuple


class Comments(NamedTuple):
    """The comments of a language."""

    pattern: str
    """The pattern of a comment; `.` matches line ends too. Stored fingerprints of code depend on it."""
    start: str
    """The beginning of a comment on one line."""
    end: str = ""


_HASH = r"#[^\n]*"
_SLASHES = r"//[^\n]*|/\*.*?\*/"

HASHED = Comments(pattern=_HASH, start="# ")
SLASHED = Comments(pattern=_SLASHES, start="// ")
SLASHED_OR_HASHED = Comments(pattern=f"{_HASH}|{_SLASHES}", start="// ")
DASHED = Comments(pattern=r"--[^\n]*|/\*.*?\*/|\{-.*?-\}", start="-- ")
TAGGED = Comments(pattern=r"<!--.*?-->", start="<!-- ", end=" -->")


class Lexis(NamedTuple):
    """Patterns that tell comments and texts in quotes from code; `.` matches line ends too."""

    comments: str
    strings: str


DOUBLE_QUOTED = r'"(?:[^"\\\n]|\\.)*"'
_SINGLE_QUOTED = r"'(?:[^'\\\n]|\\.)*'"
QUOTED = f"{DOUBLE_QUOTED}|{_SINGLE_QUOTED}"
SLASHED_COMMENTS = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
TRIPLE_QUOTED = r'""".*?(?:"""|\Z)|' + r"'''.*?(?:'''|\Z)"
COMMON_LEXIS = Lexis(comments=SLASHED_COMMENTS, strings=QUOTED)
