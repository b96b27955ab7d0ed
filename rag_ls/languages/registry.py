"""All languages by name. The rules of one are loaded when they are first asked for: few projects hold more than some languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from rag_ls.languages.language import Language
from rag_ls.languages.names import MODULES


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
