"""Settings about files by their names: their encoding, their language, and that they are indexed in any case."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from rag_ls.indexing.ignore_patterns import compile_pattern
from rag_ls.languages import LANGUAGES, by_alias
from rag_ls.util.records import dataclass
from rag_ls.util.text import nearest, nearest_text


@dataclass(frozen=True, slots=True)
class FileRules:
    """Patterns in .gitignore syntax, the encodings and languages each as `PATTERN = NAME`. The last one that matches counts."""

    encodings: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()

    def encoding_of(self, path: str) -> str:
        """The encoding that is named for a file; empty for none."""
        return _find_value(self.encodings, path)

    def language_of(self, path: str) -> str:
        """The language that is named for a file; empty for none. A name that nobody knows is a language without a grammar."""
        name = _find_value(self.languages, path)
        return by_alias(name) or name.lower()

    def is_forced(self, path: str) -> bool:
        """Whether a file is indexed although it looks like data, generated or minified."""
        return any(_matches(pattern, path) for pattern in self.forced)


def describe_unknown_languages(pairs: Iterable[str]) -> str:
    """The languages of `languages.map` that have no grammar, in words that name those that may be meant; empty for none."""
    names = dict.fromkeys(pair.rpartition("=")[2].strip() for pair in pairs)
    unknown = [name for name in names if not by_alias(name)]
    known = sorted(LANGUAGES)
    near = list(dict.fromkeys(each for name in unknown for each in nearest(name.lower(), known)))
    return (
        f"languages.map names {', '.join(unknown)}, of which no grammar is known, so such files are cut by their lines; "
        + (nearest_text(near).removesuffix("; ") if near else f"known are {', '.join(known)}")
        if unknown
        else ""
    )


def _find_value(pairs: Iterable[str], path: str) -> str:
    found = ""
    for pair in pairs:
        pattern, _, name = pair.rpartition("=")
        if _matches(pattern.strip(), path):
            found = name.strip()
    return found


def _matches(pattern: str, path: str) -> bool:
    compiled = _compile(pattern)
    return compiled is not None and compiled.regex is not None and bool(compiled.match_file(path))


@lru_cache(maxsize=256)
def _compile(pattern: str) -> GitIgnoreSpecPattern | None:
    try:
        return compile_pattern(pattern)
    except (ValueError, re.error):
        return None
