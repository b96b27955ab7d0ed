"""Tells a document's role in a repository from its path and language."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from rag_ls.languages import LANGUAGES, Role, find_language
from rag_ls.search.query import Query

_TEST = re.compile(
    r"(^|/)(tests?|testing|__tests__|specs?|t|fixtures?|testdata|mocks?)/|(^|/)(test_|conftest)[^/]*$"
    r"|[._-](test|tests|spec|mock)\.\w+$"
)
# JUnit, PHPUnit, XCTest: the capital letter distinguishes them from `latest.py`.
_TEST_NAME = re.compile(r"(?<=[a-z0-9])(Tests?|Spec|TestCase)\.\w+$")
_SECONDARY = re.compile(
    r"(^|/)(examples?|samples?|benchmarks?|bench|demos?|vendor|third[_-]party|compat|deprecated|legacy|old|obsolete|archived?|generated|"
    r"locales?|deps|single[_-]include)/|[._-](old|legacy|deprecated|generated|amalgamated|min|pb|pb2|pb2_grpc)\.\w+$",
    re.I,
)  # fmt: skip
_VERSION = re.compile(r"(?:^|/)v(\d{1,3})/")
# Chosen on the questions of `make eval` that are not held out: with these, the files that are read first hold more of
# the complete answer's hits.
_OTHER, _SECOND, _DATA_FILE = 0.6, 0.8, 0.5
_DOCS = frozenset(name for name, each in LANGUAGES.items() if each.role is Role.DOCS)
_DATA = frozenset(name for name, each in LANGUAGES.items() if each.role is Role.DATA)


def likelihood(query: Query, path: str, language: str) -> float:
    """The likelihood that a file answers a query by its role alone, at most 1; lower for the roles that `ranking` penalises."""
    tests = _OTHER if is_test(path) and not query.wants_tests else 1.0
    secondary = _SECOND if is_secondary(path) else 1.0
    prose = _OTHER if is_docs(language) and not query.wants_docs else 1.0
    return tests * secondary * prose * (_DATA_FILE if is_data(language) and not query.wants_data else 1.0)


@lru_cache(maxsize=65536)
def is_test(path: str) -> bool:
    """Whether a document holds tests, or only serves them."""
    return bool(_TEST.search(path.lower()) or _TEST_NAME.search(path))


def is_inline_test(symbol: str, language: str) -> bool:
    """Whether a declaration is a test beside the code that it tests, as Rust's modules of tests are."""
    tests = find_language(language).tests
    return tests is not None and symbol.partition(".")[0] in tests.inline_modules


@lru_cache(maxsize=65536)
def is_secondary(path: str) -> bool:
    """Whether a document is an example, vendored or generated code, or kept for compatibility."""
    return bool(_SECONDARY.search(path))


def find_superseded(paths: Iterable[str]) -> set[str]:
    """The paths in a folder of a version (`api/v1/`) beside which others are in one of a later version."""
    versions: dict[str, dict[str, int]] = {}
    for path in paths:
        if found := _VERSION.search(path):
            versions.setdefault(path[: found.start()], {})[path] = int(found[1])
    return {
        path for of_paths in versions.values() for path, number in of_paths.items() if number < max(of_paths.values())
    }


def is_docs(language: str) -> bool:
    """Whether a document is prose."""
    return language in _DOCS


def is_data(language: str) -> bool:
    """Whether a document holds settings, data or styles."""
    return language in _DATA
