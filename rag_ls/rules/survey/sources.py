"""The files that a survey looks at: code of the product, written by people."""

from __future__ import annotations

import re
from functools import lru_cache

from rag_ls.languages import find_language, related_languages
from rag_ls.search import Roles, is_data, is_docs, without_packages

MAX_CHARACTERS = 400_000
"""The most characters that are read of a file; longer ones are generated."""

JAVASCRIPT = related_languages("typescript")
TYPED_JAVASCRIPT = frozenset({"typescript", "tsx"})
COMPONENTS = JAVASCRIPT - {"javascript", "typescript"}
"""The languages of components, whose files are named as the component is."""

_VISIBLE = re.compile(r"[^\n]")
_RUST_TESTS = re.compile(r"^[ \t]*#\[cfg\(test\)\]\s*(?:#\[[^\n]*\]\s*)*(?:pub\s+)?mod\s+\w+\s*\{", re.MULTILINE)
_BRACKETS = re.compile(r"[{}]")

_NOT_PRODUCT_FOLDER = re.compile(
    r"^(?:[^/]+/)?scripts/|(^|/)(node_modules|bower_components|vendor|dist|build|buildSrc|docs?|docs?_src|documentation|tutorials?|site-packages|\w*migrations|\w*migration(?=/[Vvm_]?\d)"
    r"|db/migrate|alembic/versions|__mocks__|__benchmarks__|__fixtures__|playgrounds?|sandbox|cypress|e2e|target|coverage|storybook|templates?/template"
    r"|\.(?!well-known/)[^/]+)/",
    re.I,
)  # fmt: skip
_NOT_PRODUCT_NAME = re.compile(
    r"(\.d\.ts|\.gen\.\w+|\.g\.\w+|\.min\.\w+|[._]pb\.go|\.designer\.cs|\.stories\.\w+|[_.]generated\.\w+"
    r"|\.config\.[cm]?[jt]s|\.(?:test-d|bench)\.tsx?|^\.[^/]+)$",
    re.I,
)  # fmt: skip
_NUMBERED = re.compile(r"[Vvm_]?\d", re.I)
_ROUTE_FOLDERS = re.compile(
    r"((?:^|/)pages/api/)(?!(?:.*/)?__)(?:[^/]+/)+(?=[^/]+$)"
    r"|((?:^|/)(?:app|src/routes)/)(?:[^/]+/)+(?=(?:route|\+(?:server|page|layout)[\w.]*)\.[jt]sx?$)"
)
"""The folders that are a route (`api/migration/route.ts`), and say nothing of what the file is for."""
_TESTING_PROJECT = re.compile(r"(^|/)[\w.-]+\.(?:\w*Tests?|Specs|Benchmarks?)/")
"""The folder of a project of C# that serves tests."""
# The lines of minified and bundled code are longer than this on average.
_MAX_MEAN_LINE = 200
_GENERATED_MARK = re.compile(r"@generated\b(?![(.\w])|(?i:This file (?:is|was) auto(?:matically |-)?generated)")


def is_surveyed(language: str) -> bool:
    """Return whether a survey reads a language: it can tell comments and texts in quotes from code."""
    return find_language(language).lexis is not None


def without_rust_tests(text: str) -> str:
    """A text of Rust whose unit tests, which stand at the end of the code that they test, are blank."""
    for match in _RUST_TESTS.finditer(text):
        end = len(text)
        depth = 0
        for bracket in _BRACKETS.finditer(text, match.end() - 1):
            depth += 1 if bracket[0] == "{" else -1
            if depth == 0:
                end = bracket.start()
                break
        text = text[: match.end()] + _VISIBLE.sub(" ", text[match.end() : end]) + text[end:]
    return text


def is_product(path: str, language: str, roles: Roles) -> bool:
    """Whether a file is code of the product itself: no test, example, vendored or generated file, no documentation."""
    if not is_surveyed(language) or is_docs(language) or is_data(language):
        return False
    if "pages/api/" in path or "app/" in path or "src/routes/" in path:
        path = _ROUTE_FOLDERS.sub(r"\1\2", path)
    if roles.is_test(path) or roles.is_secondary(path) or _TESTING_PROJECT.search(path):
        return False
    return roles.is_known_product(path) or not is_vendored(without_packages(path))


def is_generated(text: str) -> bool:
    """Whether a file says at its top that a program wrote it, or has lines that nobody writes."""
    return bool(_GENERATED_MARK.search(text, 0, 1500)) or len(text) > _MAX_MEAN_LINE * (text.count("\n") + 5)


def is_vendored(path: str) -> bool:
    """Whether a file is a library's, built, or documentation."""
    folder, slash, name = path.rpartition("/")
    # A folder `migration` is one of steps if their names have numbers.
    number = "0" if _NUMBERED.match(name) else ""
    return _is_no_product_folder(folder + slash + number) or _NOT_PRODUCT_NAME.search(name) is not None


@lru_cache(maxsize=16_384)
def _is_no_product_folder(folder: str) -> bool:
    return _NOT_PRODUCT_FOLDER.search(folder) is not None
