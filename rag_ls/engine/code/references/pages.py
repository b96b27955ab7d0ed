"""Finds the references that are shown, where a name has more uses than can be resolved at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial

from rag_ls.engine.code.references.answers import Reference, ReferenceKind, sort_references
from rag_ls.engine.code.references.code_files import split_owner
from rag_ls.engine.code.references.finder import Finder
from rag_ls.engine.code.references.wanted import Wanted
from rag_ls.storage import StoredSymbol
from rag_ls.util.records import dataclass

_MAX_AT_ONCE = 400
_PART_USES = 200
_MAX_IN_VAIN = 600
"""The number of uses, in documents that do not know the types, of which none is resolved: then those by name are told."""
_USES = (ReferenceKind.CALL, ReferenceKind.IMPORT, ReferenceKind.IMPLEMENT, ReferenceKind.MENTION)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of an answer."""

    size: int
    """The number of references that it may hold."""
    find: Callable[[], Iterable[Reference]]
    is_far: bool = False
    """Whether none of its documents knows the types."""


def find_page(
    finder: Finder, name: str, declared: Sequence[StoredSymbol], kinds: Collection[ReferenceKind], enough: int
) -> tuple[list[Reference], Mapping[ReferenceKind, int]]:
    """The references of some kinds, in their order, and the number of uses that are left by kind.

    Where a name has many uses, they are resolved part by part until there are enough references. Those by name alone come last of their
    kind, so they are told once the whole kind was looked at, or all parts of it that promise resolved ones.
    """
    parts = _Answer(finder, name, declared)
    if parts.size(kinds) <= _MAX_AT_ONCE:
        return sort_references(finder.uses_of(name, declared, kinds)), {}
    found: list[Reference] = []
    left: Counter[ReferenceKind] = Counter()
    for kind in filter(kinds.__contains__, ReferenceKind):
        by_name: list[Reference] = []
        in_vain, is_cut = 0, False
        for part in parts.of_kind(kind):
            if len(found) < enough:
                held = sort_references(part.find())
                resolved = [each for each in held if each.resolved]
                found += resolved
                by_name += [each for each in held if not each.resolved]
                in_vain = 0 if resolved or not part.is_far else in_vain + part.size
                if in_vain >= _MAX_IN_VAIN:
                    found += sort_references(by_name)
                    by_name = []
            elif part.size:
                left[kind] += part.size
                is_cut = True
        if is_cut:
            left[kind] += len(by_name)
        else:
            found += sort_references(by_name)
    return found, left


class _Answer:
    """The parts of the answer to one question."""

    def __init__(self, finder: Finder, name: str, declared: Sequence[StoredSymbol]) -> None:
        self._finder = finder
        self._name = name
        self._declared = declared
        self._found: list[Reference] = []
        self.counted = finder.count_uses(name)

    def size(self, kinds: Collection[ReferenceKind]) -> int:
        """About the number of references that the whole answer may hold."""
        created = sum(self._creations.values()) if ReferenceKind.CALL in kinds else 0
        return len(self._declared) + sum(each.total() for each in self.counted.values()) + created

    def of_kind(self, kind: ReferenceKind) -> Iterator[_Part]:
        """The parts that hold the references of a kind, in order."""
        declared, finder = self._declared, self._finder
        if kind in _USES:
            yield from self._of_uses(kind)
        elif kind is ReferenceKind.DEFINITION:
            for start in range(0, len(declared), _PART_USES):
                block = declared[start : start + _PART_USES]
                yield _Part(len(block), partial(finder.definitions, block))
        elif kind is ReferenceKind.OVERRIDE:
            yield _Part(len(finder.files.named(self._name)) - len(declared), partial(finder.overrides, declared))
        else:
            yield _Part(len(finder.docs.holding(self._name)), partial(finder.docs.find, self._name, declared))

    def _of_uses(self, kind: ReferenceKind) -> Iterator[_Part]:
        if kind is ReferenceKind.CALL:
            for owner, constructors in self._created.items():
                find = partial(self._finder.creations.find, owner, constructors, is_asked=owner in self._declared)
                yield _Part(self._creations[owner], find)
        # A document that imports the name may use it under another one, and a text in quotes may mean it.
        numbers = [
            number
            for number, counts in self.counted.items()
            if counts[kind] or counts[ReferenceKind.IMPORT] or kind is ReferenceKind.MENTION
        ]
        knowing = self._knowing
        for is_far in (False, True):
            those = (number for number in numbers if (knowing is not None and number not in knowing) == is_far)
            for size, block in self._in_blocks(those, kind):
                yield _Part(size, partial(self._find_uses, block, kind), is_far=is_far)
        yield _Part(0, partial(self._find_renamed, kind))

    def _in_blocks(self, documents: Iterable[int], kind: ReferenceKind) -> Iterator[tuple[int, Sequence[int]]]:
        """Some documents in blocks, each with the number of its uses of a kind."""
        block: list[int] = []
        size = 0
        for number in documents:
            block.append(number)
            size += self.counted[number][kind]
            if size >= _PART_USES:
                yield size, tuple(block)
                block, size = [], 0
        if block:
            yield size, tuple(block)

    def _find_uses(self, documents: Sequence[int], kind: ReferenceKind) -> list[Reference]:
        found = self._finder.uses_in_documents(documents, self._name, self._wanted, {kind})
        self._found += found
        return found

    def _find_renamed(self, kind: ReferenceKind) -> list[Reference]:
        importing = (number for number, counts in self.counted.items() if counts[ReferenceKind.IMPORT])
        return self._finder.renamed_uses(importing, self._name, self._wanted, {kind}, self._found)

    @cached_property
    def _knowing(self) -> Collection[int] | None:
        """The documents in which uses may well be resolved; None if that is so in all."""
        return self._finder.find_knowing(self._declared, self.counted) if self._declared else ()

    @cached_property
    def _created(self) -> Mapping[StoredSymbol, Sequence[StoredSymbol]]:
        return self._finder.creations.by_type(self._declared)

    @cached_property
    def _creations(self) -> Mapping[StoredSymbol, int]:
        """The number of calls of each type that is created, by its name."""
        counted = {owner: self._finder.count_uses(split_owner(owner.symbol)[1]) for owner in self._created}
        return {owner: sum(each[ReferenceKind.CALL] for each in counted[owner].values()) for owner in counted}

    @cached_property
    def _wanted(self) -> Wanted:
        return self._finder.want(self._declared)
