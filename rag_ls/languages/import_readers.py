"""Reads modules and names from the text of an import statement. Several languages share each reader.

The grammar has already found the statement, so there are only a few words and marks to read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.import_rules import Taken

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


def read_include(text: str) -> Iterator[Taken]:
    """C and Objective-C: `#include "a.h"`, `#include <a.h>`, `@import Name;`."""
    match = re.search(r"[<\"]([^>\"]+)[>\"]|@import\s+([\w.]+)", text)
    if match:
        yield match[1] or match[2], ()


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


def read_second_word(text: str) -> Iterator[Taken]:
    """`use name`, `include file`, `source file`: what follows the keyword."""
    match = re.match(r"[\w-]+(?:\s*,[^:]*::)?[\s(]+[\"']?([^\s\"',;)]+)", text)
    if match:
        yield match[1], ()
