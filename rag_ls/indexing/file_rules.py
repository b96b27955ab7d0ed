"""Settings about files by their names: their encoding, their language, and that they are indexed in any case."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from rag_ls.indexing.ignore_patterns import compiled_pattern
from rag_ls.languages import by_alias


@dataclass(frozen=True, slots=True)
class FileRules:
    """Patterns in .gitignore syntax, the encodings and languages each as `PATTERN = NAME`. The last one that matches counts."""

    encodings: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()

    def encoding_of(self, path: str) -> str:
        """The encoding that is named for a file; empty for none."""
        return _named(self.encodings, path)

    def language_of(self, path: str) -> str:
        """The language that is named for a file; empty for none. A name that nobody knows is a language without a grammar."""
        name = _named(self.languages, path)
        return by_alias(name) or name.lower()

    def is_forced(self, path: str) -> bool:
        """Whether a file is indexed although it looks like data, generated or minified."""
        return any(_matches(pattern, path) for pattern in self.forced)


def _named(pairs: Iterable[str], path: str) -> str:
    found = ""
    for pair in pairs:
        pattern, _, name = pair.rpartition("=")
        if _matches(pattern.strip(), path):
            found = name.strip()
    return found


def _matches(pattern: str, path: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is not None and compiled.regex is not None and bool(compiled.match_file(path))


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> GitIgnoreSpecPattern | None:
    try:
        return compiled_pattern(pattern)
    except (ValueError, re.error):
        return None
