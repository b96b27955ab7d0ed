"""The conventions of a language's tests and errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rag_ls.languages.names import read_fields
from rag_ls.languages.patterns import compile_lines


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


def read_tests(language: str) -> Tests:
    """Return the conventions of a language, from the file of its family; `suffix` there means the names of `suffixed_tests`."""
    rows = {name: (text, below) for name, text, below in read_fields("tests", language)}
    pairs = {
        name: tuple((shown, pattern) for shown, _, pattern in (row.partition(" :: ") for row in below))
        for name, (_, below) in rows.items()
    }
    return Tests(
        file_names=suffixed_tests(rows["suffix"][0]) if "suffix" in rows else pairs.get("file_names", ()),
        libraries=pairs.get("libraries", ()),
        declared="".join(rows["declared"][1]) if "declared" in rows else "",
        **{name: frozenset(rows[name][0].split()) for name in ("inline_modules", "modules") if name in rows},
    )


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
