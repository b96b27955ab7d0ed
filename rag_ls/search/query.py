"""What a query asks for: its terms, the identifiers and paths it names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_ls.storage import split_identifier

# Words of questions and of programming languages that are everywhere: they find nothing and cost much.
_STOP_WORDS = frozenset(
    "a an and are as at be by can do does for from get has have how i if in into is it its of on or our should so that the "
    "their then there this to was we what when where which who why will with you your "
    "def class function func fn return self import const let var public private static void new none null true false "
    "code file files implement implemented implementation done happen happens used use".split()
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)*")
_LOOKS_LIKE_CODE = re.compile(r"[a-z][A-Z]|_|\.|::|#|^[A-Z]\w*[a-z]\w*[A-Z]")
_PATH = re.compile(r"[\w.\-]++(?:/[\w.\-]++)+|\b[\w\-]++\.[a-z]{1,5}\b")
_MOST_TERMS = 32
# A pasted file is a query too; its beginning says what it is about.
_LONGEST_QUERY = 2000
_TEST_WORDS = frozenset({"test", "tests", "testing", "tested", "spec", "fixture", "fixtures", "mock", "mocks"})


@dataclass(frozen=True, slots=True)
class Query:
    """A query, taken apart."""

    text: str
    terms: tuple[str, ...]
    """Lower-case search terms without stop words, each once."""
    names: tuple[str, ...]
    """Lower-case last names of the symbols that it may name."""
    paths: tuple[str, ...]
    """File names or parts of paths that it names."""
    wants_tests: bool


def analyse(text: str) -> Query:
    """Take a query apart. Any text is a query: no character has a meaning of its own."""
    text = text[:_LONGEST_QUERY]
    words = re.findall(r"\w+", text)
    terms = [term for word in words for term in split_identifier(word)]
    useful = [term for term in terms if term not in _STOP_WORDS and (len(term) > 1 or not term.isascii())]
    kept = tuple(dict.fromkeys(useful or terms))[:_MOST_TERMS]
    identifiers = _IDENTIFIER.findall(text)
    named = [
        re.split(r"\.|::|#", identifier)[-1].lower()
        for identifier in identifiers
        if _LOOKS_LIKE_CODE.search(identifier) or len(identifiers) <= 2
    ]
    return Query(
        text=text,
        terms=kept,
        names=tuple(dict.fromkeys(name for name in named if name not in _STOP_WORDS)),
        paths=tuple(dict.fromkeys(_PATH.findall(text))),
        wants_tests=bool(_TEST_WORDS & set(terms)),
    )
