"""The documents that a language means in filters, settings and rules: its own, and those of others that hold code in it."""

from __future__ import annotations

from functools import cache

from rag_ls.languages.names import MODULES, related_languages

_HOLDERS = {
    "typescript": {"tsx", "vue", "svelte"},
    "javascript": {"vue", "svelte"},
    "python": {"cython", "notebook"},
    "cpp": {"cuda"},
}
# A header is recognised as one of these, and included by all.
_HEADER_LANGUAGES = frozenset({"c", "cpp", "cuda", "objective_c"})
_HEADER_SUFFIX = ".h"


@cache
def languages_holding(wanted: str) -> frozenset[str]:
    """The languages whose documents hold code in a language: itself, its family, and templates with code in it."""
    templates = (name for name in related_languages(wanted) if MODULES.get(name) == "templates")
    return frozenset({wanted, *_HOLDERS.get(wanted, ()), *templates})


def holds_language(wanted: str, language: str, path: str) -> bool:
    """Whether a document, by its language and path, may hold code in the wanted language."""
    is_header = path.lower().endswith(_HEADER_SUFFIX) and {wanted, language} <= _HEADER_LANGUAGES
    return is_header or language in languages_holding(wanted)
