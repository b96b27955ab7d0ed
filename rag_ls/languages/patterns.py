"""Patterns of texts: comments and quotes. A process compiles those that it uses."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import AnyStr, NamedTuple


@cache
def compile_lines(pattern: AnyStr) -> re.Pattern[AnyStr]:
    """Return a pattern whose `^` and `$` match at each line, compiled once."""
    return re.compile(pattern, re.MULTILINE)


@cache
def read_sections(file_name: str) -> dict[str, str]:
    """Return the sections of a table of this folder, by their names: `[name]`, then rows; those that begin with `#` are comments."""
    lines = (Path(__file__).parent / file_name).read_text("utf-8").splitlines()
    sections = "\n".join(line for line in lines if not line.startswith("#")).split("\n[")
    return {name: rows for name, _, rows in (section.partition("]\n") for section in sections)}


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
