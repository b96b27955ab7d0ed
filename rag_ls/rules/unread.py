"""Finds the files outside of a survey's sample that break its rules: they are exceptions as much as those that were counted."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from rag_ls.chunking import outline_of_document
from rag_ls.model import Import
from rag_ls.rules.checks.checker import applies, looks_at_imports, violations
from rag_ls.rules.checks.contracts import find_suspects
from rag_ls.rules.checks.graph import Edge, ImportGraph
from rag_ls.rules.checks.records import (
    CheckedDocument,
    CheckRule,
    ImportCheck,
    LayersCheck,
    RuleSet,
    StructureCheck,
)
from rag_ls.rules.checks.structure import count_structures
from rag_ls.util.records import dataclass

Structure = tuple[StructureCheck, tuple[str, ...]]
"""A rule on the structure of code, and the texts of which a file that it can match holds one."""


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file that a survey did not read, and what to look for in it."""

    path: str
    language: str
    words: tuple[str, ...]
    """Its imports are wanted if its text holds one of these; "" for always."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The things in such a file that may break a rule."""

    broken: tuple[int, ...]
    """The numbers of the rules on structure that it breaks."""
    imports: tuple[Import, ...]


@dataclass(frozen=True, slots=True)
class UnreadTree:
    """The files that a survey did not read, because there are too many."""

    files: Sequence[tuple[str, str]]
    """The path and language of each."""
    read: Callable[[str], str]
    resolve: Callable[[str, str, Sequence[Import]], tuple[Edge, ...]]
    graph: ImportGraph
    """The imports of the files that were read."""
    look: Callable[[Callable[[Sequence[UnreadFile]], list[Seen]], Sequence[UnreadFile]], Iterable[Seen | None]]
    """Calls a function for some files, perhaps in other processes; None for a file that ended its process."""


def find_broken(rules: Sequence[tuple[CheckRule, tuple[str, ...]]], tree: UnreadTree) -> dict[str, list[str]]:
    """The files that break each rule, given with its marks, by the rule's id."""
    structures = [(rule, (rule.check, marks)) for rule, marks in rules if isinstance(rule.check, StructureCheck)]
    others = [rule for rule, _ in rules if not isinstance(rule.check, StructureCheck)]
    wanted = list(_choose(others, tree, reads_all=bool(structures)))
    edges = dict[str, tuple[Edge, ...]]()
    found: dict[str, list[str]] = {rule.id: [] for rule, _ in rules}
    look = partial(look_at, tree.read, [structure for _, structure in structures])
    for file, seen in zip(wanted, tree.look(look, wanted), strict=True):
        for number in seen.broken if seen is not None else ():
            if applies(rule := structures[number][0], file.path):
                found[rule.id].append(file.path)
        if seen is not None and seen.imports:
            edges[file.path] = tree.resolve(file.path, file.language, seen.imports)
    graph = ImportGraph(edges)
    for rule in others:
        suspects = find_suspects(rule.check, graph) if looks_at_imports(rule) else frozenset()
        asked = filter(suspects.__contains__, edges) if looks_at_imports(rule) else (path for path, _ in tree.files)
        documents = (CheckedDocument(path, "", "") for path in asked if applies(rule, path))
        alone = RuleSet((rule,))
        found[rule.id] += [each.path for each in documents if violations(each, alone, graph)]
    return found


def look_at(read: Callable[[str], str], structures: Sequence[Structure], files: Sequence[UnreadFile]) -> list[Seen]:
    """The things in each file that may break a rule; one that holds none of the words is not parsed."""
    return [_look_at(file, read(file.path), structures) for file in files]


def _look_at(file: UnreadFile, text: str, structures: Sequence[Structure]) -> Seen:
    document = CheckedDocument(file.path, file.language, text)
    broken = tuple(
        number
        for number, (check, marks) in enumerate(structures)
        if any(mark in text for mark in marks) and count_structures(document, check)[1]
    )
    has_imports = any(word in text for word in file.words)
    imports = outline_of_document(text, file.path, file.language, declarations=False).imports if has_imports else ()
    return Seen(broken, imports)


def _choose(rules: Sequence[CheckRule], tree: UnreadTree, *, reads_all: bool) -> Iterator[UnreadFile]:
    """The files to look at, each with the words of what it must not import."""
    forbidden = tuple(name for rule in rules if isinstance(rule.check, ImportCheck) for name in rule.check.forbidden)
    layered = [_LayerWords.of(rule.check, tree.graph) for rule in rules if isinstance(rule.check, LayersCheck)]
    for path, language in tree.files:
        words = (*forbidden, *(word for each in layered for word in each.of_file(path)))
        if words or reads_all:
            yield UnreadFile(path, language, words)


@dataclass(frozen=True, slots=True)
class _LayerWords:
    """The words by which files name the layers above their own."""

    start: str
    """The beginning that the paths of all layers share."""
    layers: tuple[tuple[str, ...], ...]
    """The folders of each, with a slash at the end."""
    names: Mapping[str, str]
    """By the folder of a layer; "" for one that some imports do not name."""

    @classmethod
    def of(cls, check: LayersCheck, graph: ImportGraph) -> _LayerWords:
        layers = tuple(tuple(glob.partition("*")[0] for glob in globs) for globs in check.layers)
        names = {folder: posixpath.basename(folder.rstrip("/")) for folders in layers for folder in folders}
        start = posixpath.commonprefix(list(names))
        for path in graph.paths():
            for edge in graph.edges(path) if path.startswith(start) else ():
                folder = next((each for each in names if edge.target.startswith(each)), "")
                if folder and not path.startswith(folder) and names[folder] not in edge.module:
                    names[folder] = ""
        return cls(start, layers, names)

    def of_file(self, path: str) -> Iterator[str]:
        """The words of the layers above that of a file."""
        if path.startswith(self.start):
            own = next((at for at, folders in enumerate(self.layers) if path.startswith(folders)), 0)
            yield from (self.names[folder] for folders in self.layers[:own] for folder in folders)
