"""Patterns of texts: comments and quotes, and the conventions of a language's tests and errors. A process compiles those that it uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
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


class Tests(NamedTuple):
    """The conventions of a language's tests."""

    file_names: tuple[tuple[str, str], ...] = ()
    """The shown form of a test file's name (a template for the groups of the pattern), and its pattern."""
    libraries: tuple[tuple[str, str], ...] = ()
    """The libraries that tests are written with, and what shows them."""
    declared: str = ""
    """The pattern of a test's declaration; empty where the names of files alone tell."""
    inline_modules: frozenset[str] = frozenset()
    """The modules of tests that stand in the file that they test."""
    modules: frozenset[str] = frozenset()
    """The modules that nothing but tests and their helpers import."""

    def name_of(self, file_name: str) -> str:
        """The pattern that a test file's name follows; empty for a file that only serves tests."""
        for shown, pattern in self.file_names:
            if match := compile_lines(pattern).search(file_name):
                return match.expand(shown)
        return ""

    def libraries_in(self, text: str) -> Iterator[tuple[str, re.Match[str]]]:
        """The libraries that a test is written with, each with its first trace."""
        for name, pattern in self.libraries:
            if match := compile_lines(pattern).search(text):
                yield name, match


def suffixed_tests(suffix: str) -> tuple[tuple[str, str], ...]:
    """Names of test files that end in `Test` and the like."""
    ends = ("Test", "Tests", "IT", "Spec", "TestCase")
    return tuple((f"*{end}.{suffix}", rf"[a-z0-9]{end}\.{suffix}$") for end in ends)


class ErrorSyntax(NamedTuple):
    """The ways in which errors are declared and raised."""

    declared: str
    """A class (the first group) and its bases (the second)."""
    raised: str
    """The raising of an error; the first group is what is raised."""
    raise_word: str = "throw"
    """The word that each raising holds: a text without it is not searched."""


EXTENDING_CLASS = r"\bclass\s+(\w+)(?:<[^<>\n]*>)?\s+extends\s+([\w.\\]+)"
THROWN_CLASS = r"\bthrow\s+(?:new\s+)?([A-Z][\w.]*)"
