"""Matches tests and the files that they test by name. Pure functions of paths."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from rag_ls.chunking import parts_of, stem_of
from rag_ls.util.patterns import lazy_pattern

_MARKS = lazy_pattern(r"^(?:tests?[_-])|(?:[._-](?:tests?|specs?|unit|e2e))+$", re.I)
# The names of tests of the folder that they are in.
_NAMELESS = frozenset({"test", "tests", "spec"})
_SUFFIX_MARKS = lazy_pattern(r"(?<=[a-z0-9])(?:Tests?|Spec|TestCase|IT)$")


# For one file, all tests of a project are looked at.
@lru_cache(maxsize=65536)
def tested_name(path: str) -> str:
    """The name in a test's or another file's name, in lower case: `test_client.py`, `ClientTest.java`, `client.go` -> `client`;
    `client/test.ts`, `client/tests.rs` too."""
    name = stem_of(path)
    if name in _NAMELESS and "/" in path:
        name = path.split("/")[-2]
    return _plain(_SUFFIX_MARKS.sub("", _MARKS.sub("", name)))


def own_name(path: str) -> str:
    """A file's name in lower case, without suffix; for `__init__.py` and the like, the name of its folder."""
    return _plain(parts_of(path)[-1])


def is_named_after(test: str, path: str) -> bool:
    """Whether a test's file name is built from the name of `path`."""
    name = own_name(path)
    return bool(name) and tested_name(test) == name


def named_after(path: str, tests: Iterable[str], others: Callable[[], Iterable[str]]) -> list[str]:
    """The tests that are named after `path`, without those that a file of the same name is nearer to.

    `others` gives the paths of the project that are no tests; asked only if a test has the name.
    """
    named = [test for test in tests if is_named_after(test, path)]
    name, suffix = own_name(path), os.path.splitext(path)[1]
    namesakes = [other for other in others() if other.endswith(suffix) and own_name(other) == name] if named else []
    return [test for test in named if all(closeness(test, other) <= closeness(test, path) for other in namesakes)]


def closeness(test: str, path: str) -> int:
    """The number of folder names that two paths share, in any order."""
    return len(set(test.split("/")[:-1]) & set(path.split("/")[:-1]))


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()
