"""Finds where objects are created: the calls of a type as those of its constructors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_ls.engine.code.references.answers import Reference, ReferenceKind
from rag_ls.engine.code.references.code_files import split_owner
from rag_ls.engine.code.references.names import is_constructor
from rag_ls.engine.code.references.wanted import Wanted
from rag_ls.languages import find_language
from rag_ls.model import UseKind
from rag_ls.storage import StoredSymbol
from rag_ls.util.patterns import lazy_pattern

if TYPE_CHECKING:
    from rag_ls.engine.code.references.finder import Finder

_MAX_CREATED = 50
# A constructor that the head of a type declares is none of its members: a call may mean it.
_HEAD = lazy_pattern(r"\b(?:class|object|record|struct)\s+\w+\s*(?:<[^()]*>|\[[^()]*\])?\s*\(")
_MAX_TAKING = 40


class Creations:
    """The creations of objects in what one client sees. For one question."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self._files = finder.files
        self._names = finder.names
        self._uses = finder.uses
        self._parts = finder.parts
        self._places = finder.places
        self.uncreated = 0

    def by_type(self, declared: Sequence[StoredSymbol]) -> dict[StoredSymbol, list[StoredSymbol]]:
        """The constructors among some declarations, by the type that each creates; none where these are too many types."""
        found: dict[StoredSymbol, list[StoredSymbol]] = {}
        for item in declared:
            if self._is_constructor(item) and (owner := self._parts.owner(item)) is not None:
                found.setdefault(owner, []).append(item)
        if len(found) > _MAX_CREATED:
            self.uncreated = len(found)
            return {}
        return found

    def find(self, owner: StoredSymbol, constructors: Sequence[StoredSymbol], *, is_asked: bool) -> Iterable[Reference]:
        """The calls of a type that mean some of its constructors; without those by its name, if it is asked for too."""
        wanted = Wanted((item, item) for item in constructors)
        name = split_owner(owner.symbol)[1]
        calls = (
            self._finder.uses_in_code(name, self._finder.want([owner]), {ReferenceKind.CALL}) if not is_asked else []
        )
        rule = find_language(owner.language).references
        for derived in self._derived_from(owner) if rule is not None and rule.inherits_constructors else ():
            made = [
                found for item in constructors for found in self._names.members(derived, split_owner(item.symbol)[1])
            ]
            if wanted.find(made) is not None:
                called = split_owner(derived.symbol)[1]
                calls += self._finder.uses_in_code(called, self._finder.want([derived]), {ReferenceKind.CALL})
        for each in calls:
            if each.resolved:
                yield from self._creation(each, owner, wanted)
        yield from self._creations_by_members(owner, wanted)
        for source in self._files.load(self._files.holding(name)):
            for use in source.uses(source.rule.chained):
                if use.kind != UseKind.CALL:
                    continue
                around = self._names.type_around(source, use.line) if not use.receiver else None
                is_own = use.name in source.rule.own
                if around is not None and (around == owner if is_own else owner in self._names.bases_of(around)):
                    yield from self._creation(self._places.at_use(source, use, owner), owner, wanted)

    def _creations_by_members(self, owner: StoredSymbol, wanted: Wanted) -> Iterator[Reference]:
        """The calls of members that create an object: `Cart.new` of a type, or of one that derives from it and has no constructor."""
        home = self._files.at(owner.path)
        if home is None or not home.rule.creating_members:
            return
        names = {split_owner(each.symbol)[1] for each in (owner, *self._derived_from(owner))}
        numbers = dict.fromkeys(
            number for name in sorted(names)[:_MAX_TAKING] for number in self._finder.holding_code(name)
        )
        constructor = next(iter(wanted.declared))
        for source in self._files.load(numbers):
            for use in source.uses(source.rule.creating_members):
                typed = self._uses.created_type(source, use) if use.kind == UseKind.CALL else None
                made = self._names.members(typed, split_owner(constructor.symbol)[1]) if typed is not None else ()
                if (target := wanted.find(made)) is not None:
                    yield self._places.at_use(source, use, target)

    def _derived_from(self, owner: StoredSymbol) -> list[StoredSymbol]:
        """The types that derive from one directly."""
        name = split_owner(owner.symbol)[1]
        return [
            item
            for source in self._files.load(self._finder.holding_code(name))
            for use in source.bases
            if use.name == name and (item := source.around(use.line, "type")) is not None
            if owner in self._names.bases_of(item)
        ]

    def _is_constructor(self, item: StoredSymbol) -> bool:
        rule = find_language(item.language).references
        return rule is not None and is_constructor(item, rule)

    def _creation(self, call: Reference, owner: StoredSymbol, wanted: Wanted) -> Iterable[Reference]:
        """The call of a type as one of its constructors, if it may mean a wanted one."""
        source, home = self._files.at(call.path), self._files.at(owner.path)
        if source is None or home is None:
            return
        own = (item for item in home.symbols if self._is_constructor(item) and self._parts.owner(item) == owner)
        known = tuple(dict.fromkeys((*own, *wanted.declared)))
        is_sure = all(wanted.find([item]) for item in known) and not _HEAD.search(owner.signature)
        if (target := wanted.find(known)) is not None:
            yield replace(call, target=target if is_sure else None, resolved=is_sure)
