"""Rules to find and read imports, and to follow them to what is used of them, as data; readers that several languages share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from rag_ls.model import Import

Taken = tuple[str, tuple[str, ...]]
"""A module, and the names that are taken from it."""

Reader = Callable[[str], Iterable[Taken]]
"""Reads the text of a statement that the grammar found."""

_NAMED_AS = r"\b([\w$]+)\s+as\s+([\w$]+)"
_DEFAULT = r"import\s+(?:type\s+)?([\w$]+)\s*(?:,|\bfrom\b)"


class ImportRule(NamedTuple):
    """The rules to find and read the imports of one language."""

    reader: Reader
    types: tuple[str, ...] = ()
    """Nodes that are always imports."""
    calls: tuple[str, ...] = ()
    """Queries for nodes that may be imports; each captures one as `@call`."""
    words: tuple[bytes, ...] = ()
    """The words with which a call must begin to be an import."""
    marks: tuple[bytes, ...] = ()
    """Texts of which each import holds one, so that a text is parsed up to the last of them alone; none where the tree alone knows."""
    placed: Callable[[str, bytes, int], str] = lambda module, _data, _start: module
    """The module that is meant by one that is written at a place of a text."""


def import_calls(reader: Reader, query: str, *words: str, types: tuple[str, ...] = ()) -> ImportRule:
    """Calls that begin with one of the words."""
    return ImportRule(reader, types, (f"({query}) @call",), tuple(word.encode() for word in words))


class Statement(NamedTuple):
    """An import with the text of its statement and what stands before it."""

    imported: Import
    text: str
    before: bytes

    def aliases(self) -> dict[str, str]:
        """The names that a document gives to imported names."""
        names = self.imported.names
        found = {match[1]: match[2] for match in re.finditer(_NAMED_AS, self.text) if match[1] in names}
        # Not in `export`, which passes the default on under its own name.
        default = re.match(_DEFAULT, self.text)
        return found | {"default": default[1]} if default and "default" in names else found


class UseRule(NamedTuple):
    """The ways in which a document uses the members of what it imports."""

    separator: str
    """A pattern of what stands between a name and its member."""
    bindings: Callable[[Statement], Iterable[tuple[str, str]]]
    """The names that a statement binds in its document, each with its name in the module; empty for the module itself."""
    complete: Callable[[Statement], Statement] = lambda statement: statement
    """The statement with names that are taken from it beside the statement itself."""


class PathRule(NamedTuple):
    """The rule to find what a document uses by its whole name, without an import: `crate::shop::total()`."""

    pattern: bytes
    """A pattern of a whole name, or of its beginning and what follows."""
    separator: str
    """The mark between the parts of a name."""
    not_after: tuple[bytes, ...]
    """The characters before what is the rest of a name."""
    reader: Callable[[Sequence[Statement], bytes], Callable[[str], tuple[str, str] | None]]
    """Makes of a document's imports and text what splits a whole name into a module and what is taken from it; None for others."""


# --- readers: the grammar has found the statement, so there are only a few words and marks to read

STRING = r"""(?s)(["'`])(.*?)\1"""
SLASH_COMMENT = r"(?s)(?:^|(?<=\s))//[^\n]*|/\*.*?\*/"


def split_list(text: str) -> list[str]:
    """The parts between commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def first_word(text: str) -> str:
    """The first word, without the alias that may follow it."""
    words = text.split(None, 1)
    return words[0].strip(";(){}") if words else ""


def first_words(text: str) -> tuple[str, ...]:
    """The first word of each part between commas."""
    return tuple(name for name in (first_word(part) for part in split_list(text)) if name)


def split_outside_braces(text: str) -> Iterator[str]:
    """The parts between the commas outside braces."""
    level, start = 0, 0
    for index, mark in enumerate(text):
        level += (mark == "{") - (mark == "}")
        if mark == "," and level == 0:
            yield text[start:index]
            start = index + 1
    if text[start:].strip():
        yield text[start:]


def read_strings(text: str) -> Iterator[Taken]:
    """All the strings of the statement."""
    for match in re.finditer(STRING, text):
        yield match[2], ()


def read_dotted(text: str) -> Iterator[Taken]:
    """Java, Kotlin: `import static a.b.C;`, `import a.b.*`."""
    for path in split_list(re.sub(r"^import\s+(?:static\s+)?", "", re.sub(SLASH_COMMENT, " ", text))):
        name = first_word(path)
        for end in (".*", "._"):
            if name.endswith(end):
                yield name.removesuffix(end), ("*",)
                break
        else:
            yield name, ()


def read_qualified(text: str) -> Iterator[Taken]:
    """Haskell, Elm: `import qualified A.B as C (d, e)`."""
    match = re.match(r"import\s+(?:safe\s+)?(?:qualified\s+)?(?:\"[^\"]*\"\s*)?([\w.]+)(.*)", text, re.DOTALL)
    if match is None:
        return
    rest = match[2]
    names = re.search(r"\((.*)\)", rest, re.DOTALL) if "hiding" not in rest else None
    wanted = re.sub(r"\([^()]*\)", "", names[1]) if names else ""
    yield match[1], tuple("*" if name == ".." else name for name in first_words(wanted))


def read_stylesheet(text: str) -> Iterator[Taken]:
    """CSS, SCSS: the strings of the statement; without any, the address in `url(...)`."""
    strings = [match[2] for match in re.finditer(STRING, text)]
    bare = re.search(r"url\(\s*([^\"')\s]+)", text)
    yield from ((module, ()) for module in strings or ([bare[1]] if bare else []))


def read_match(pattern: str, *names: str) -> Reader:
    """Return a reader of the module that the last group of a pattern which matches is, and of always the same names."""

    def read(text: str) -> Iterator[Taken]:
        if match := re.search(pattern, text):
            yield match[match.lastindex or 0], names

    return read


read_second_word = read_match(r"^[\w-]+(?:\s*,[^:]*::)?[\s(]+[\"']?([^\s\"',;)]+)")
"""`use name`, `include file`, `source file`: what follows the keyword."""
read_include = read_match(r"[<\"]([^>\"]+)[>\"]|@import\s+([\w.]+)")
"""C and Objective-C: `#include "a.h"`, `#include <a.h>`, `@import Name;`."""
