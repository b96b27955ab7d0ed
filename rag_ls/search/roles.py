"""What part a document plays in a repository, told from its path and language."""

from __future__ import annotations

import re

_TEST = re.compile(
    r"(^|/)(tests?|testing|__tests__|specs?|t|fixtures?|testdata|mocks?)/|(^|/)(test_|conftest)[^/]*$"
    r"|[._-](test|tests|spec|mock)\.\w+$"
)
# JUnit, PHPUnit, XCTest: the capital is what tells them from `latest.py`.
_TEST_NAME = re.compile(r"(?<=[a-z0-9])(Tests?|Spec|TestCase)\.\w+$")
_SECONDARY = re.compile(
    r"(^|/)(examples?|samples?|benchmarks?|bench|demos?|vendor|third[_-]party|compat|deprecated|legacy|locales?|deps)/",
    re.I,
)
_DOCS = frozenset({"markdown", "rst", "text", "html", "asciidoc", "org", "mdx", "textile", "latex"})
_DATA = frozenset({"json", "yaml", "toml", "css", "scss", "xml", "ini", "properties", "csv"})


def is_test(path: str) -> bool:
    """Whether a document holds tests, or what serves them alone."""
    return bool(_TEST.search(path.lower()) or _TEST_NAME.search(path))


def is_secondary(path: str) -> bool:
    """Whether a document is an example, a copy of other people's code, or kept for former versions."""
    return bool(_SECONDARY.search(path))


def is_docs(language: str) -> bool:
    """Whether a document is written for readers."""
    return language in _DOCS


def is_data(language: str) -> bool:
    """Whether a document holds settings, data or styles."""
    return language in _DATA
