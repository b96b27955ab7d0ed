"""Text to search terms: identifiers are split at camelCase, snake_case and digits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

from rag_ls.util.paths import FOLDER_STEMS

# Non-ASCII Latin letters. The index removes diacritics only from these: が is not か.
_LATIN = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_WORD = re.compile(r"\w+")
# A non-ASCII letter counts as lower-case.
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
# Marks between the parts of an import: `a.b`, `a/b`, `a::b`, `A\\B`, and in file names.
_IMPORT_PARTS = re.compile(r"[/\\.:]+")
_KEY_PARTS = 3
_PARENT = ".."
"""The key of an import of a whole folder: `.`, `..`, `super`."""
# Languages whose packages are folders.
_FOLDER_SUFFIXES = frozenset({"go", "java", "kt", "scala", "groovy", "cs"})
# Indexing a longer word (a hash, a base64 blob) would cost space and find nothing.
_MAX_WORD_CHARACTERS = 64
_MIN_STEMMED_CHARACTERS = 3
COLUMN_WEIGHTS = (4, 2, 2, 1, 1)
"""The weight of a term in each column of `columns_of`: a name says more than a body (docs/quality.md)."""
SAME_BEGINNING, MAX_LIKE = 2, 5000
"""A misspelt word is compared with at most `MAX_LIKE` terms that share its first `SAME_BEGINNING` characters."""


@lru_cache(maxsize=65536)
def split_identifier(word: str) -> tuple[str, ...]:
    """The lower-case parts of one identifier, followed by its parts joined when there are several.

    >>> split_identifier("getUserByID")
    ('get', 'user', 'by', 'id', 'getuserbyid')
    """
    if len(word) > _MAX_WORD_CHARACTERS:
        return ()
    parts = identifier_parts(word)
    return (*parts, "".join(parts)) if len(parts) > 1 else parts


def identifier_parts(word: str) -> tuple[str, ...]:
    """The lower-case parts of one identifier: `parseHTTPHeader` is parse, http, header."""
    return tuple(part.lower() for part in _PART.findall(word))


def terms(text: str) -> list[str]:
    """All terms of a text in order, repeats included."""
    return [term for word in _WORD.findall(text) for term in split_identifier(word)]


def index_text(text: str) -> str:
    """The form of a text in the full-text index."""
    return " ".join(map(_index_word, _WORD.findall(text)))


@lru_cache(maxsize=65536)
def _index_word(word: str) -> str:
    return " ".join(split_identifier(word))


def columns_of(path: str, symbol: str, signature: str, doc: str, text: str) -> tuple[str, ...]:
    """The terms of a chunk, by column of the full-text index: symbol, signature, path, doc, text."""
    return index_text(symbol), index_text(signature), index_text(path), index_text(doc), index_text(text)


def last_name(symbol: str) -> str:
    """The last part of a qualified symbol, lower-case: `Session.refresh` -> `refresh`."""
    return symbol.rsplit(".", 1)[-1].rsplit(" > ", 1)[-1].lower()


def is_called(symbol: str, name: str) -> bool:
    """Whether a symbol has this qualified name, or this name as its last part. Case counts."""
    return name in (symbol, symbol.rsplit(".", 1)[-1])


def import_keys(module: str, names: Iterable[str] = ()) -> tuple[str, ...]:
    """The lower-case names under which the targets of an import are looked up: the last parts of the module, and the names.

    >>> import_keys("./lib/util.js", ("format",))
    ('lib', 'util', 'js', 'format')
    """
    parts = [part for part in _IMPORT_PARTS.split(module) if part and part not in ("crate", "self", "super")]
    kept = (*parts[-_KEY_PARTS:], *names) if parts else (_PARENT, *names)
    return tuple(dict.fromkeys(name.lower() for name in kept))


def target_keys(path: str) -> tuple[str, ...]:
    """The keys of the imports that may mean the document at a path: its name, and the folder that it may stand for."""
    *folders, name = path.split("/")
    stem, _, suffix = name.partition(".")
    keys = [stem or name, name.rpartition(".")[0] or name]
    if stem in FOLDER_STEMS or suffix in _FOLDER_SUFFIXES:
        # `src` and `lib` are left out of many names: `packages/shop/src/index.ts`.
        keys += [*folders[-2:], _PARENT]
    return tuple(dict.fromkeys(key.lower() for key in keys))


@lru_cache(maxsize=65536)
def stem(term: str) -> str:
    """The form of a term in the full-text index: without diacritics, and stemmed by Porter's algorithm (1980).

    As FTS5's tokenizer does, it leaves words of one or two letters as they are: `is` is not `i`.
    """
    plain = plain_text(term).lower()
    return plain if len(plain) < _MIN_STEMMED_CHARACTERS else str(_stemmer().stemWord(plain))


def plain_text(text: str) -> str:
    """A text without diacritics."""
    return text if text.isascii() else _LATIN.sub(_base, unicodedata.normalize("NFC", text))


def is_marked(word: str) -> bool:
    """Whether a word has non-ASCII Latin letters."""
    return bool(_LATIN.search(word))


def _base(letter: re.Match[str]) -> str:
    base = unicodedata.normalize("NFD", letter[0])[0]
    return base if base.isascii() else letter[0]


@cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("porter")
