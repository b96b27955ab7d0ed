"""Analyses a query: its kind, its terms, the identifiers and paths that it names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from rag_ls.storage import split_identifier

# Words of questions and programming languages that are everywhere: searching for them costs much and finds nothing.
_STOP_WORDS = frozenset(
    "a an and are as at be by can do does for from get has have how i if in into is it its of on or our should so that the "
    "their then there this to was we what when where which who why will with you your "
    "def class function func fn return self import const let var public private static new none null true false "
    "code file files implement implemented implementation done happen happens used use".split()
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)*")
_JOINTS = re.compile(r"\.|::|#")
_LOOKS_LIKE_CODE = re.compile(r"[a-z][A-Z]|_|\.|::|#|^[A-Z]\w*[a-z]\w*[A-Z]")
_PATH = re.compile(r"[\w.\-]++(?:/[\w.\-]++)+|\b[\w\-]++\.[a-z]{1,5}\b")
_PLACE = re.compile(r'(?<![\w./\-])([\w./\-]*[\w\-]\.\w+)(?::|", line |\()(\d{1,7})\b')
_MAX_PLACES = 20
_SNIPPET = re.compile(
    r"[;{}]|\w\(|\)\s*[:{]|\s(=|==|:=|=>|->)\s|^\s*(def|class|import|from|func|fn|let|const|var|return)\s", re.M
)
_ERROR = re.compile(
    r"\b(error|exception|traceback|panic(ked)?|fatal|failed|cannot|can't|could not|unable to|invalid|unexpected|undefined|"
    r"unknown|missing|not found|not registered|denied|refused|already|must be|expected)\b", re.I
)  # fmt: skip
_QUESTION = re.compile(
    r"^\s*(where|how|what|when|which|who|why|is|are|does|do|can|find|show|code|tests?|function|the)\b|\?\s*$", re.I
)
_MAX_TERMS = 32
# Only the beginning of a very long query (a pasted file) is used.
_MAX_QUERY_CHARACTERS = 2000
_TEST_WORDS = frozenset({"test", "tests", "testing", "tested", "spec", "specs", "fixture", "fixtures", "mock", "mocks"})
_DOCS_WORDS = frozenset(
    "doc docs documentation documented readme changelog changes guide tutorial manual contributing license".split()
)
_DATA_WORDS = frozenset(
    "config configuration configured configure settings yaml json toml xml ini css stylesheet workflow ci pipeline "
    "package dependency dependencies manifest linter lint tsconfig makefile dockerfile".split()
)


class Kind(StrEnum):
    """The kinds of query."""

    WORDS = "words"
    IDENTIFIER = "identifier"
    PATH = "path"
    ERROR = "error"
    SNIPPET = "snippet"


@dataclass(frozen=True, slots=True)
class Query:
    """An analysed query."""

    text: str
    kind: Kind
    terms: tuple[str, ...]
    """Lower-case search terms without stop words or duplicates; an identifier gives its parts and the whole of it."""
    parts: tuple[str, ...]
    """The terms without whole identifiers that have several parts."""
    names: tuple[str, ...]
    """The last parts of the symbols that it may name, in lower case."""
    paths: tuple[str, ...]
    """File names or parts of paths that it names."""
    places: tuple[tuple[str, int], ...]
    """Paths with lines that it names, as `src/a.py:12`, in its order."""
    bare_name: tuple[str, ...]
    """If the query is just one name: the name's parts, outermost first. Else empty."""
    wants_tests: bool
    wants_docs: bool
    wants_data: bool


def analyse(text: str) -> Query:
    """Analyse a query. Any text is a query: no character has a special meaning."""
    text = text[:_MAX_QUERY_CHARACTERS]
    split = [split_identifier(word) for word in re.findall(r"\w+", text)]
    useful = _useful([term for terms in split for term in terms])
    parts = _useful([term for terms in split for term in (terms[:-1] if len(terms) > 1 else terms)])
    identifiers = _IDENTIFIER.findall(text)
    named = [
        _JOINTS.split(identifier)[-1].lower()
        for identifier in identifiers
        if _LOOKS_LIKE_CODE.search(identifier) or len(identifiers) <= 2
    ]
    paths = tuple(dict.fromkeys(_PATH.findall(text)))
    words = set(useful)
    return Query(
        text=text,
        kind=_kind(text, paths),
        terms=useful,
        parts=parts,
        names=tuple(dict.fromkeys(name for name in named if name not in _STOP_WORDS)),
        paths=paths,
        places=tuple(dict.fromkeys((path, int(line)) for path, line in _PLACE.findall(text)))[:_MAX_PLACES],
        bare_name=tuple(_JOINTS.split(bare)) if _IDENTIFIER.fullmatch(bare := text.strip().removesuffix("()")) else (),
        wants_tests=bool(_TEST_WORDS & words),
        wants_docs=bool(_DOCS_WORDS & words),
        wants_data=bool(_DATA_WORDS & words),
    )


def _useful(terms: list[str]) -> tuple[str, ...]:
    useful = [term for term in terms if term not in _STOP_WORDS and (len(term) > 1 or not term.isascii())]
    return tuple(dict.fromkeys(useful or terms))[:_MAX_TERMS]


def _kind(text: str, paths: tuple[str, ...]) -> Kind:
    words = text.split()
    if any("/" in path for path in paths) and len(words) <= 6:
        return Kind.PATH
    if len(words) <= 2 and all(_IDENTIFIER.fullmatch(word.rstrip("()")) for word in words):
        return Kind.IDENTIFIER
    if "\n" in text.strip() or (_SNIPPET.search(text) and not _QUESTION.search(text)):
        return Kind.SNIPPET
    return Kind.ERROR if _ERROR.search(text) and not _QUESTION.search(text) else Kind.WORDS
