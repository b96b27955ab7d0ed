"""Finds the references that are shown, where a name has more uses than can be resolved at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from rag_ls.engine.code.references.answers import Reference, ReferenceKind, sort_references
from rag_ls.engine.code.references.code_files import split_owner
from rag_ls.engine.code.references.finder import Finder
from rag_ls.storage import StoredSymbol

_MAX_AT_ONCE = 400
_PART_USES = 200
_USES = (ReferenceKind.CALL, ReferenceKind.IMPORT, ReferenceKind.IMPLEMENT, ReferenceKind.MENTION)
_Part = tuple[int, Callable[[], Iterable[Reference]]]
"""About the number of references in a part of an answer, and what finds them."""


def find_page(
    finder: Finder, name: str, declared: Sequence[StoredSymbol], kinds: Collection[ReferenceKind], enough: int
) -> tuple[list[Reference], Mapping[ReferenceKind, int]]:
    """The references of some kinds, in their order, and the number of uses that are left by kind.

    Where a name has many uses, they are resolved part by part until there are enough references. Documents that name the types of the
    declarations come first: in others, hardly a use is resolved.
    """
    parts = _Parts(finder, name, declared)
    if parts.size <= _MAX_AT_ONCE:
        return sort_references(finder.references(name, declared, kinds)), {}
    found: list[Reference] = []
    left: Counter[ReferenceKind] = Counter()
    for kind in filter(kinds.__contains__, ReferenceKind):
        for size, find in parts.of_kind(kind):
            if len(found) < enough:
                found += sort_references(find())
            elif size:
                left[kind] += size
    return found, left


class _Parts:
    """The parts of the answer to one question."""

    def __init__(self, finder: Finder, name: str, declared: Sequence[StoredSymbol]) -> None:
        self._finder = finder
        self._name = name
        self._declared = declared
        self._targets = finder.uses.parts.targets(declared)
        self._created = finder.creations.by_type(declared)
        self._counts = finder.uses.count(name)
        self._found: list[Reference] = []
        owners = {split_owner(finder.uses.names.declared.owner_of(item))[1] for item in declared} - {""}
        naming = {number for owner in owners for number in finder.files.holding(owner)}
        importing = {number for number, counts in self._counts.items() if counts[ReferenceKind.IMPORT]}
        self._documents = sorted(self._counts, key=lambda number: number not in naming | importing)
        self._importing = sorted(importing)
        self._created_counts = {
            owner: sum(each[ReferenceKind.CALL] for each in finder.uses.count(split_owner(owner.symbol)[1]).values())
            for owner in self._created
        }
        self.size = (
            len(declared) + sum(each.total() for each in self._counts.values()) + sum(self._created_counts.values())
        )

    def of_kind(self, kind: ReferenceKind) -> Iterator[_Part]:
        """The parts that hold the references of a kind, in order."""
        declared, finder = self._declared, self._finder
        if kind in _USES:
            yield from self._of_uses(kind)
        elif kind is ReferenceKind.DEFINITION:
            for start in range(0, len(declared), _PART_USES):
                block = declared[start : start + _PART_USES]
                yield len(block), partial(finder.definitions, block)
        elif kind is ReferenceKind.OVERRIDE:
            yield len(finder.files.named(self._name)) - len(declared), partial(finder.overrides, declared)
        else:
            docs = finder.uses.mentions.docs_holding(self._name)
            yield len(docs), partial(finder.uses.mentions.in_docs, self._name, declared)

    def _of_uses(self, kind: ReferenceKind) -> Iterator[_Part]:
        for owner, constructors in self._created.items() if kind is ReferenceKind.CALL else ():
            find = partial(self._finder.creations.find, owner, constructors, is_asked=owner in self._declared)
            yield self._created_counts[owner], find
        block: list[int] = []
        size = 0
        for number in self._documents:
            counts = self._counts[number]
            # A document that imports the name may use it under another one, and a text in quotes may mean it.
            if counts[kind] or counts[ReferenceKind.IMPORT] or kind is ReferenceKind.MENTION:
                block.append(number)
                size += counts[kind]
            if size >= _PART_USES:
                yield size, partial(self._find_uses, tuple(block), kind)
                block, size = [], 0
        yield size, partial(self._find_uses, tuple(block), kind)
        yield 0, partial(self._find_renamed, kind)

    def _find_uses(self, documents: Sequence[int], kind: ReferenceKind) -> list[Reference]:
        found = self._finder.uses.in_documents(documents, self._name, self._targets, {kind})
        self._found += found
        return found

    def _find_renamed(self, kind: ReferenceKind) -> list[Reference]:
        return self._finder.uses.find_renamed(self._importing, self._name, self._targets, {kind}, self._found)
