"""Finds where objects are created: the calls of a type as those of its constructors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_ls.engine.code.references.answers import Reference, ReferenceKind
from rag_ls.engine.code.references.code_files import split_owner
from rag_ls.engine.code.references.declarations import is_constructor
from rag_ls.engine.code.references.targets import Targets
from rag_ls.engine.code.references.use_search import UseSearch
from rag_ls.languages import find_language
from rag_ls.model import UseKind
from rag_ls.storage import StoredSymbol
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import replace

_MAX_CREATED = 50
# A constructor that the head of a type declares is none of its members: a call may mean it.
_HEAD = lazy_pattern(r"\b(?:class|object|record|struct)\s+\w+\s*(?:<[^()]*>|\[[^()]*\])?\s*\(")


class Creations:
    """The creations of objects in what one client sees. For one question."""

    def __init__(self, uses: UseSearch) -> None:
        self._uses = uses
        self._files = uses.files
        self._classes = uses.names.classes
        self.uncreated = 0

    def by_type(self, declared: Sequence[StoredSymbol]) -> dict[StoredSymbol, list[StoredSymbol]]:
        """The constructors among some declarations, by the type that each creates; none where these are too many types."""
        found: dict[StoredSymbol, list[StoredSymbol]] = {}
        for item in filter(is_constructor, declared):
            if (owner := self._uses.parts.owner(item)) is not None:
                found.setdefault(owner, []).append(item)
        self.uncreated = len(found) if len(found) > _MAX_CREATED else 0
        return {} if self.uncreated else found

    def find(self, owner: StoredSymbol, constructors: Sequence[StoredSymbol], *, is_asked: bool) -> Iterator[Reference]:
        """The calls of a type that mean some of its constructors; without those by its name, if it is asked for too."""
        rule = find_language(owner.language).references
        targets = Targets((item, item) for item in constructors)
        derived = self._derived_from(owner)
        inheriting = [each for each in derived if self._inherits(each, targets)]
        types = [] if is_asked else [owner]
        types += inheriting if rule is not None and rule.inherits_constructors else []
        for each in types:
            name = split_owner(each.symbol)[1]
            for call in self._uses.in_code(name, self._uses.parts.targets([each]), {ReferenceKind.CALL}):
                if call.resolved:
                    yield self._as_creation(call, owner, targets)
        names = sorted({split_owner(each.symbol)[1] for each in (owner, *derived)})
        for source in self._files.load(number for name in names for number in self._uses.code_holding(name)):
            for use in source.uses(source.rule.chained | source.rule.creating_members):
                if use.kind != UseKind.CALL:
                    continue
                if use.name in source.rule.creating_members:
                    # `Cart.new`, also of a type that derives from it and has no constructor.
                    created = self._uses.meanings.created_type(source, use)
                    if created is not None and self._inherits(created, targets):
                        yield self._uses.maker.at_use(source, use, constructors[0])
                elif not use.receiver and (around := self._classes.type_around(source, use.line)) is not None:
                    is_own = use.name in source.rule.own
                    if around == owner if is_own else owner in self._classes.bases_of(around):
                        yield self._as_creation(self._uses.maker.at_use(source, use, owner), owner, targets)

    def _inherits(self, derived: StoredSymbol, constructors: Targets) -> bool:
        """Whether the creation of a type calls one of some constructors."""
        names = {split_owner(item.symbol)[1] for item in constructors.declared}
        return any(constructors.find(self._classes.members(derived, name)) is not None for name in names)

    def _derived_from(self, owner: StoredSymbol) -> list[StoredSymbol]:
        """The types that derive from one directly."""
        name = split_owner(owner.symbol)[1]
        return [
            item
            for source in self._files.load(self._uses.code_holding(name))
            for use in source.bases
            if use.name == name and (item := source.around(use.line, "type")) is not None
            if owner in self._classes.bases_of(item)
        ]

    def _as_creation(self, call: Reference, owner: StoredSymbol, targets: Targets) -> Reference:
        """The call of a type as one of its constructors; which one, where it has several, is not told."""
        home = self._files.at(owner.path)
        known = (item for item in home.symbols if is_constructor(item)) if home is not None else ()
        own = [item for item in known if self._uses.parts.owner(item) == owner]
        is_sure = all(targets.find([item]) for item in own) and not _HEAD.search(owner.signature)
        return replace(call, target=next(iter(targets.declared)) if is_sure else None, resolved=is_sure)
