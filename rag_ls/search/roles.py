"""Tells a document's role in a project: from its path and language, except where the project shows or says otherwise."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from rag_ls.chunking import parts_of, stem_of
from rag_ls.languages import Role, find_language, role_of
from rag_ls.util.path_globs import matches_any
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

if TYPE_CHECKING:
    # Imported for its name alone: the processes that read the files of a survey start faster without it.
    from rag_ls.search.query import Query

T = TypeVar("T")

# More keys of one name than this are uses of it.
_MAX_KEYS = 5
TEST_FOLDER = lazy_pattern(
    r"(^|/)(tests?|testing|e2e|tests?[_-]e2e|e2e[_-]tests?|__tests__|specs?|t|fixtures?|testdata|mocks?)/", re.I
)
_TEST_FILE = lazy_pattern(
    r"(^|/)(test_|conftest)[^/]*$|(^|/)tests\.(py|rs)$|(^|/)test\.[cm]?[jt]s$|[._-](test|tests|spec|mock)\.\w+$", re.I
)
# JUnit, PHPUnit, XCTest: the capital letter distinguishes them from `latest.py`.
_TEST_NAME = lazy_pattern(r"(?<=[a-z0-9])(Tests?|Specs?|TestCase)\.\w+$")
# A specification in prose is no test.
_SPECIFICATION = lazy_pattern(r"(?:^|/)specs?/(?=.*\.(?:md|mdx|rst|adoc|txt)$)", re.I)
SAMPLE_FOLDER = lazy_pattern(r"(^|/)(examples?|samples?|benchmarks?|bench|demos?)/", re.I)
FOREIGN_FOLDER = lazy_pattern(r"(^|/)(vendor|third[_-]party|deps|single[_-]include)/", re.I)
_OTHER_SECONDARY = lazy_pattern(
    r"(^|/)(compat|deprecated|legacy|old|obsolete|archived?|generated|locales?)/"
    r"|[._-](old|legacy|deprecated|generated|amalgamated|min|pb|pb2|pb2_grpc)\.\w+$",
    re.I,
)  # fmt: skip
_FRONTEND = (".js", ".cjs", ".mjs", ".d.ts", ".css", ".less", ".sass", ".scss")
# Libraries of others among the files of a web server: built ones, those with a version in their path, and the best known.
_BUILT = lazy_pattern(r"[-_.]v?\d+\.\d+\.\d+|(?:^|/)(?:dist|node_modules|bower_components)/", re.I)
_SERVED = lazy_pattern(r"(?:^|/)(?:static|public|wwwroot|webroot|assets|js|css)(?=/)", re.I)
_LIBRARY = lazy_pattern(
    r"/(?:angular|bootstrap|codemirror|d3|font-?awesome|highlight|jquery|leaflet|moment|modernizr|popper|select2|semantic|tinymce)[-._/\d]",
    re.I,
)  # fmt: skip
# Texts of a program in people's languages: `lang/de/errors.php`, `i18n/pt-BR.json`.
_TEXTS = lazy_pattern(r"(?:^|/)(?:langs?|translations?|i18n|l10n)(?=/)", re.I)
_SPOKEN_LANGUAGE = lazy_pattern(
    r"/(?:ar|bg|bn|bs|ca|cs|cy|da|de|el|en|es|et|eu|fa|fi|fr|gl|he|hi|hr|hu|id|is|it|ja|ka|ko|lt|lv|mk|nb|nl|nn|no|pl|pt|ro|ru|sk|sl|sq|sr"
    r"|sv|ta|th|tr|uk|ur|vi|zh)(?:[-_][a-z]+){0,3}(?:/|\.\w+$)",
    re.I,
)  # fmt: skip
# Below a source root, folders are packages: `com.example.demo`, `org.mockito.mock`.
_SOURCE_ROOT = lazy_pattern(r"^(.*?\bsrc/main/(?!resources/|webapp/)\w+/)(?:.*/)?([^/]+)$")
# A numbered step of the history of a database: `db/migrate/20230224175634_create_jobs.rb`, `migrations/0001_initial.py`,
# `prisma/migrations/03_index/migration.sql`, `db/migration/V2__users.sql`.
_MIGRATIONS = lazy_pattern(r"(?:^|/)(?:migrations?|migrate)(?=/)", re.I)
# `migrate/v1/client.go` is a version of an interface, and no step.
_NUMBERED = lazy_pattern(r"/(?:v?\d+[._-]|\d+/|\d{4})", re.I)
_VERSION = lazy_pattern(r"(?:^|/)v(\d{1,3})/")
# Chosen on the questions of `make eval` that are not held out: with these, the files that are read first hold more of
# the complete answer's hits.
_OTHER_WEIGHT, _SECOND_WEIGHT, _DATA_FILE_WEIGHT = 0.6, 0.8, 0.5


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of a project's documents."""

    product: frozenset[str] = frozenset()
    """The documents that are product, whatever their paths say."""
    product_globs: tuple[str, ...] = ()
    test_globs: tuple[str, ...] = ()
    """The settings that overrule everything else; tests before product."""

    def is_known_product(self, path: str) -> bool:
        """Whether the project or its settings say that a document is product, whatever its path says."""
        return path in self.product or matches_any(self.product_globs, path)

    def is_test(self, path: str) -> bool:
        """Whether a document holds tests, or only serves them."""
        if self.test_globs and matches_any(self.test_globs, path):
            return True
        return is_test_by_path(path) and not self.is_known_product(path)

    def is_secondary(self, path: str) -> bool:
        """Whether a document is an example, vendored or generated code, a translation, or kept for compatibility."""
        return is_secondary_by_path(path) and not self.is_known_product(path)

    def likelihood(self, query: Query, path: str, language: str) -> float:
        """The likelihood that a file answers a query by its role alone, at most 1; lower for the roles that `ranking` penalises."""
        tests = _OTHER_WEIGHT if self.is_test(path) and not query.wants_tests else 1.0
        secondary = _SECOND_WEIGHT if self.is_secondary(path) else 1.0
        prose = _OTHER_WEIGHT if is_docs(language) and not query.wants_docs else 1.0
        return tests * secondary * prose * (_DATA_FILE_WEIGHT if is_data(language) and not query.wants_data else 1.0)

    def place_in_order(self, path: str, language: str) -> int:
        """0 for code, 1 for tests, 2 for documentation and data."""
        if is_docs(language) or is_data(language):
            return 2
        return int(self.is_test(path))


BY_PATH = Roles()
"""The roles that paths alone tell, where nothing is known of the project."""


@lru_cache(maxsize=65536)
def is_test_by_path(path: str) -> bool:
    """Whether the names of a document and its folders say that it is a test, or serves tests."""
    path = without_packages(path)
    return bool(TEST_FOLDER.search(_SPECIFICATION.sub("/", path))) or is_named_as_test(path)


def is_named_as_test(path: str) -> bool:
    """Whether a document's own name says that it is a test."""
    # Go's compiler takes `_test.go` alone for tests.
    return bool(_TEST_FILE.search(path) or _TEST_NAME.search(path)) and not path.endswith("-test.go")


@lru_cache(maxsize=65536)
def is_secondary_by_path(path: str) -> bool:
    """Whether the names of a document and its folders say that it is not the product's own, current code."""
    path = without_packages(path)
    patterns = (SAMPLE_FOLDER, FOREIGN_FOLDER, _OTHER_SECONDARY)
    return (
        any(pattern.search(path) for pattern in patterns)
        or _is_bundled(path)
        or _lies_below(path, _TEXTS, _SPOKEN_LANGUAGE)
    )


@lru_cache(maxsize=65536)
def is_migration_step(path: str) -> bool:
    """Whether a document is one of the numbered steps that changed a database: what they made is declared elsewhere, too."""
    return _lies_below(path, _MIGRATIONS, _NUMBERED)


def _is_bundled(path: str) -> bool:
    """Whether a file is of a library that is kept with the project, or was built."""
    return path.lower().endswith(_FRONTEND) and bool(_BUILT.search(path) or _lies_below(path, _SERVED, _LIBRARY))


def _lies_below(path: str, folder: re.Pattern[str], name: re.Pattern[str]) -> bool:
    """Whether `name` matches below the first folder that `folder` matches; in time that grows with the path alone."""
    found = folder.search(path)
    return found is not None and name.search(path, found.end()) is not None


def without_packages(path: str) -> str:
    """A path without the folders that are packages below a source root."""
    rooted = _SOURCE_ROOT.match(path)
    return rooted[1] + rooted[2] if rooted else path


def is_inline_test(symbol: str, language: str) -> bool:
    """Whether a declaration is a test beside the code that it tests, as Rust's modules of tests are."""
    tests = find_language(language).tests
    return tests is not None and symbol.partition(".")[0] in tests.inline_modules


def find_superseded(paths: Iterable[str]) -> set[str]:
    """The paths in a folder of a version (`api/v1/`), if there are paths in a folder of a later version beside it."""
    versions: dict[str, dict[str, int]] = {}
    for path in paths:
        if found := _VERSION.search(path):
            versions.setdefault(path[: found.start()], {})[path] = int(found[1])
    return {
        path for of_paths in versions.values() for path, number in of_paths.items() if number < max(of_paths.values())
    }


def is_docs(language: str) -> bool:
    """Whether a document is prose."""
    return role_of(language) is Role.DOCS


def is_data(language: str) -> bool:
    """Whether a document holds settings, data or styles."""
    return role_of(language) is Role.DATA


def is_file_of_code(path: str, language: str, bare_name: Sequence[str]) -> bool:
    """Whether a document of code has a bare name as its file's name, as a module of Ansible has."""
    return (stem_of(path),) == tuple(bare_name) and not (is_data(language) or is_docs(language))


def part_keys(declared: Sequence[T], language_of: Callable[[T], str]) -> tuple[list[T], list[T]]:
    """Declarations of one name, and its keys in data where so many have it that they use it, as tasks of Ansible do."""
    keys = [item for item in declared if is_data(language_of(item))]
    if len(keys) <= _MAX_KEYS:
        return list(declared), []
    return [item for item in declared if not is_data(language_of(item))], keys


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
    return [
        test
        for test in named
        if all(count_common_folders(test, other) <= count_common_folders(test, path) for other in namesakes)
    ]


def count_common_folders(test: str, path: str) -> int:
    """The number of folder names that two paths share, in any order."""
    return len(set(test.split("/")[:-1]) & set(path.split("/")[:-1]))


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()
