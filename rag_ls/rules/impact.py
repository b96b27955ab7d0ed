"""Finds the documents that depend on one: they import it or a name of it, directly or through a re-export."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable

from rag_ls.languages import ImportResolver, Target, find_language
from rag_ls.storage import CheckoutIndex, StoredImport, StoredSymbol, target_keys
from rag_ls.util.records import dataclass, field

# A name that passes through more re-exports than this is not followed further.
_MAX_REEXPORTS = 6
_MAX_DECLARED = 5000
# Indirect dependents are searched through this many documents: a count, because a time limit would change the answer.
MAX_FOLLOWED = 2000
ALL = "*"
_SEPARATOR = re.compile(r"\.|::|#| > ")


@dataclass(frozen=True, slots=True)
class Dependent:
    """A document that depends on another one."""

    path: str
    imports: tuple[str, ...]
    """The modules as the document writes them; none where it needs no import."""
    names: tuple[str, ...]
    """The names that it takes; `*` where it imports all, or the document as such."""
    lines: tuple[int, ...] = ()
    """The lines of these imports, and those of `uses`."""
    uses: tuple[tuple[int, str], ...] = ()
    """The lines that use a name, each with the name as it is declared, in order."""
    is_by_name: bool = False
    """Whether only the name matches: no import leads to this declaration, so the document may mean another one."""


@dataclass(frozen=True, slots=True)
class Dependents:
    """The documents that depend on one."""

    direct: tuple[Dependent, ...]
    beyond: int
    """The number of documents that depend on those."""
    is_all: bool
    """Whether `beyond` is exact: no more than `MAX_FOLLOWED` documents are followed."""


@dataclass(slots=True)
class _FoundImports:
    modules: dict[str, None] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)
    lines: dict[int, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Edge:
    """An import that was resolved to a document."""

    item: StoredImport
    target: Target


class ImpactFinder:
    """Asks the reverse index of imports. It never reads the whole index. Safe from several threads."""

    def __init__(self, checkout: CheckoutIndex, resolver: ImportResolver, hidden: Collection[int]) -> None:
        """`hidden` are the documents that another version of the same file replaces."""
        self._checkout = checkout
        self._resolver = resolver
        self._hidden = hidden

    def dependents(
        self, path: str, declared: Collection[StoredSymbol], *, uses_one: bool = False, followed: int = MAX_FOLLOWED
    ) -> Dependents:
        """The documents that depend on the one at `path`, which declares `declared`.

        Documents that depend on these are counted, through up to `followed` documents. With `uses_one`, a document counts only
        if it uses one of the declarations.
        """
        names = {item.symbol for item in declared if not _SEPARATOR.search(item.symbol)}
        found: dict[str, _FoundImports] = defaultdict(_FoundImports)
        self._find_importers(path, names, found)
        self._find_folder_users(path, names, found)
        found.pop(path, None)
        direct = tuple(
            Dependent(each, tuple(what.modules), tuple(what.names), tuple(what.lines))
            for each, what in sorted(found.items())
        )
        if uses_one:
            used = {item.symbol for item in declared}
            direct = tuple(each for each in direct if used.intersection(each.names))
        beyond, is_all = self._count_indirect(path, {each.path for each in direct}, followed)
        return Dependents(direct, beyond, is_all)

    def _find_importers(self, path: str, declared: set[str], found: dict[str, _FoundImports]) -> None:
        """Find the importers of the declared names, also through documents that re-export them."""
        # Each document that offers names of `path`, with a mapping from the offered name to the name in `path`.
        waiting: list[tuple[str, dict[str, str]]] = [(path, {name: name for name in declared})]
        seen: dict[str, set[str]] = {path: set(declared)}
        for _ in range(_MAX_REEXPORTS):
            following: list[tuple[str, dict[str, str]]] = []
            edges = self._edges([holder for holder, _ in waiting])
            starred = {edge.item.document_id for each in edges.values() for edge in each if ALL in edge.target.names}
            own_names = self._checkout.outlines.own_names(starred)
            for holder, offered in waiting:
                for edge in edges.get(holder, ()):
                    passed = self._note_import(
                        edge, offered, own_names.get(edge.item.path, ()), found, is_origin=holder == path
                    )
                    new = {
                        name: origin
                        for name, origin in passed.items()
                        if name not in seen.setdefault(edge.item.path, set())
                    }
                    if new and edge.item.path != path:
                        seen[edge.item.path].update(new)
                        following.append((edge.item.path, new))
            if not following:
                return
            waiting = [(holder, self._drop_own_names(holder, offered)) for holder, offered in following]

    def _note_import(
        self,
        edge: _Edge,
        offered: dict[str, str],
        own_names: Collection[str],
        found: dict[str, _FoundImports],
        *,
        is_origin: bool,
    ) -> dict[str, str]:
        """Note what an import takes of the offered names; returns the names under which the importer may pass them on."""
        target, imported = edge.target, edge.item.imported
        takes_all = ALL in target.names
        language = find_language(edge.item.language)
        taken = [name for name in (own_names if takes_all else target.names) if name in offered]
        if taken or (is_origin and not (language.needs_use or (takes_all and language.shares_folder))):
            note = found[edge.item.path]
            note.modules[imported.module] = None
            note.lines[imported.line] = None
            note.names.update(dict.fromkeys(offered[name] for name in taken))
            if is_origin and not taken:
                note.names[ALL] = None
        if takes_all:
            return {} if language.shares_folder or language.needs_use else dict(offered)
        aliases = dict(imported.aliases)
        # `pub use tax::rate` takes the last name of a path.
        named = imported.names or _SEPARATOR.split(imported.module)[-1:]
        passed = {aliases.get(name, name): offered[name] for name in taken if name in named}
        if is_origin and "default" in imported.names:
            # A default export has the name that the importer gives it.
            passed[aliases.get("default", "default")] = "default"
        return passed

    def _drop_own_names(self, holder: str, offered: dict[str, str]) -> dict[str, str]:
        """The offered names without those that the document declares itself: importers of these mean its own declarations."""
        document = self._checkout.document(holder)
        if document is None:
            return offered
        own = {item.symbol for item in self._checkout.outlines.of_documents([document.id], _MAX_DECLARED)}
        return {name: origin for name, origin in offered.items() if name not in own}

    def importers(self, paths: Iterable[str]) -> dict[str, set[str]]:
        """The documents that import each of `paths`."""
        return {path: {edge.item.path for edge in edges} for path, edges in self._edges(paths).items()}

    def _edges(self, paths: Iterable[str]) -> dict[str, list[_Edge]]:
        """The imports that resolve to each of `paths`."""
        wanted = set(paths)
        keys = {key for path in wanted for key in (*target_keys(path), *self._resolver.names_of(path))}
        lowered = {key.lower() for key in keys}
        edges: dict[str, list[_Edge]] = defaultdict(list)
        for item in self._checkout.outlines.importers(sorted(lowered)):
            if item.document_id in self._hidden:
                continue
            for target in self._resolver.targets(item.path, item.language, item.imported):
                if target.path in wanted and target.path != item.path:
                    edges[target.path].append(_Edge(item, target))
        return edges

    def _find_folder_users(self, path: str, declared: set[str], found: dict[str, _FoundImports]) -> None:
        """Note the documents of the same folder that use a name, in languages that need no import for that."""
        document = self._checkout.document(path)
        language = find_language(document.language if document is not None else "")
        if not language.shares_folder or not declared:
            return
        folder = language.shared_folder(path)
        beside = {
            number
            for number, other, named, _ in self._checkout.document_paths()
            if named == language.name and language.shared_folder(other) == folder and other != path
        }
        for other, names in self._checkout.outlines.own_names(beside - set(self._hidden)).items():
            if used := [name for name in names if name in declared]:
                found[other].names.update(dict.fromkeys(used))

    def _count_indirect(self, path: str, direct: set[str], followed: int) -> tuple[int, bool]:
        """The number of indirect dependents of `path`, and whether the count is complete."""
        seen, frontier, count = {path, *direct}, set(direct), 0
        while frontier:
            if len(seen) > followed:
                return count, False
            importers = {edge.item.path for edges in self._edges(frontier).values() for edge in edges}
            frontier = importers - seen
            seen |= frontier
            count += len(frontier)
        return count, True
