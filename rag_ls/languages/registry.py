"""All languages by name. The rules of one are loaded when they are first asked for: few projects hold more than some languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from rag_ls.languages.language import Language
from rag_ls.languages.names import MODULES, related_languages


class LanguageRegistry(Mapping[str, Language]):
    """Languages by name. Safe from several threads."""

    def __init__(self) -> None:
        self._known: dict[str, Language] = {}

    def __getitem__(self, name: str) -> Language:
        return self._known.get(name) or self._load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)

    def _load(self, name: str) -> Language:
        module = MODULES[name]
        held = import_module(f"rag_ls.languages.families.{module}").LANGUAGES if module else (Language(name),)
        for each in held:
            self._known.setdefault(each.name, each)
        return self._known[name]


LANGUAGES = LanguageRegistry()
"""By name, as documents and chunks carry it."""


def find_language(name: str) -> Language:
    """Return the rules of a language; those of any, with its name, if it is unknown."""
    return LANGUAGES[name] if name in MODULES else Language(name)


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
