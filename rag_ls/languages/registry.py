"""All languages by name, each loaded when it is first asked for, and the resolution of their imports."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Protocol, runtime_checkable

from rag_ls.languages.language import Language
from rag_ls.languages.names import MODULES, related_languages
from rag_ls.languages.source_tree import Resolver, SourceTree, Target, above, join
from rag_ls.model import Import


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


_MAX_KNOWN = 200_000
_NAMING = ("go", "rust", "typescript")
"""The languages of packages that have a name besides their path."""


@runtime_checkable
class _NamesPackages(Protocol):
    def names_of(self, path: str) -> tuple[str, ...]:
        """More names under which imports may mean a document: those of the package or module that it stands for."""


class ImportResolver:
    """Tells which of a project's documents an import means. Safe from several threads."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._known: dict[tuple[str, int], tuple[Import, tuple[Target, ...]]] = {}
        self._resolvers: dict[Callable[[SourceTree], Resolver], Resolver] = {}

    def targets(self, importer: str, language: str, imported: Import) -> Sequence[Target]:
        """Return the documents of the project that an import means; none for a library's."""
        # Compared by identity: hashing all fields of an import takes as long as resolving it.
        key = (importer, id(imported))
        known = self._known.get(key)
        if known is not None and known[0] is imported:
            return known[1]
        resolver = self._resolver_of(language)
        found = tuple(resolver.targets(importer, imported)) if resolver is not None else ()
        if len(self._known) >= _MAX_KNOWN:
            self._known.clear()
        self._known[key] = imported, found
        return found

    def names_of(self, path: str) -> tuple[str, ...]:
        """Return more names under which imports may mean a document: those of the package or module that it stands for."""
        names: list[str] = []
        for language in _NAMING:
            resolver = self._resolver_of(language)
            if isinstance(resolver, _NamesPackages):
                names += resolver.names_of(path)
        return tuple(names)

    def _resolver_of(self, language: str) -> Resolver | None:
        maker = find_language(language).resolver
        if maker is None:
            return None
        return self._resolvers.get(maker) or self._resolvers.setdefault(maker, maker(self._tree))


class IncludeResolver:
    """See `Resolver`: a C include beside the document, else in any include folder. Other languages' file names too."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """Find the file that is included."""
        beside = join(importer.rpartition("/")[0], imported.module)
        if beside in self._tree.paths:
            found = [beside]
        else:
            end = posixpath.normpath(imported.module).lstrip("./")
            found = self._in_include_folder(end, importer) or self._tree.find_ending(end, importer)
        yield from (Target(path) for path in found[:1])

    def _in_include_folder(self, end: str, importer: str) -> list[str]:
        places = (
            join(folder, f"{include}/{end}") for folder in above(importer) for include in ("include", "inc", "src")
        )
        return [place for place in places if place in self._tree.paths][:1]


class ModuleFileResolver:
    """See `Resolver`: a module is each file whose path ends in one of the ways that its name says."""

    def __init__(self, tree: SourceTree, ends: Callable[[str], Iterable[str]]) -> None:
        self._tree = tree
        self._ends = ends

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """Find the files of a module, those nearest to the importer."""
        for end in self._ends(imported.module):
            yield from (Target(path, imported.names) for path in self._tree.find_ending(end, importer))


def resolve_by_file(ends: Callable[[str], Iterable[str]]) -> Callable[[SourceTree], Resolver]:
    """Return the maker of a resolver for a language whose module is a file: `ends` gives the ends of its path."""
    return partial(ModuleFileResolver, ends=ends)
