"""Finds all references to declarations: themselves, what overrides them, what creates objects, uses in code, lines of docs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from rag_ls.engine.code.references.answers import ALL_KINDS, Reference, ReferenceKind, sort_references
from rag_ls.engine.code.references.code_files import split_owner, symbol_key
from rag_ls.engine.code.references.declarations import is_constructor
from rag_ls.engine.code.references.use_search import Targets, UseSearch
from rag_ls.engine.session import ProjectSession
from rag_ls.languages import find_language
from rag_ls.model import UseKind
from rag_ls.storage import StoredSymbol
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import replace


class Finder:
    """Answers one question."""

    def __init__(self, session: ProjectSession) -> None:
        self.uses = UseSearch(session)
        self.files = self.uses.files
        self.creations = Creations(self.uses)

    def find_references(
        self, name: str, declared: Sequence[StoredSymbol], kinds: Collection[ReferenceKind] = ALL_KINDS
    ) -> list[Reference]:
        """The references of some kinds: the declarations, the overrides of them, and all uses."""
        found = self.find_definitions(declared) if ReferenceKind.DEFINITION in kinds else []
        found += self.find_overrides(declared) if ReferenceKind.OVERRIDE in kinds else []
        created = self.creations.by_type(declared) if ReferenceKind.CALL in kinds else {}
        for owner, constructors in created.items():
            # Of a type that is asked for too, the calls are told as its uses.
            found += self.creations.find_creations(owner, constructors, is_asked=owner in declared)
        found += self.uses.in_code(name, self.uses.parts.make_targets(declared), kinds)
        found += self.uses.mentions.in_docs(name, declared) if ReferenceKind.DOCS in kinds else []
        return found

    def find_definitions(self, declared: Sequence[StoredSymbol]) -> list[Reference]:
        """Some declarations, as references to themselves; a function is also defined where its prototypes are."""
        self.files.load_files(item.document_id for item in declared)
        found = {item: item for item in declared}
        for item in declared:
            found |= {part: item for part in self.uses.parts.find_prototypes(item) if part not in found}
        return [self.uses.maker.at_declaration(part, ReferenceKind.DEFINITION, item) for part, item in found.items()]

    def find_overrides(self, declared: Sequence[StoredSymbol]) -> list[Reference]:
        """The members of deriving types that take the place of a member."""
        parts, known = self.uses.parts, set(map(symbol_key, declared))
        names = {split_owner(item.symbol)[1] for item in declared}
        others = {
            name: [each for each in self.files.find_named(name) if symbol_key(each) not in known] for name in names
        }
        self.files.load_files(each.document_id for items in others.values() for each in items)
        found = []
        for item in declared:
            rule = find_language(item.language).references
            # Each derived type may hold a type of this name, which takes no other's place.
            is_inner_type = item.kind == "type" and rule is not None and rule.is_declared
            owner = None if is_inner_type else parts.find_owner(item)
            for other in others[split_owner(item.symbol)[1]] if owner is not None else ():
                theirs = parts.find_owner(other) if other.language == item.language else None
                if owner is None or theirs is None or theirs == owner:
                    continue
                if self.uses.names.classes.is_derived(theirs, owner):
                    found.append(self.uses.maker.at_declaration(other, ReferenceKind.OVERRIDE, item))
        return found


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
            if (owner := self._uses.parts.find_owner(item)) is not None:
                found.setdefault(owner, []).append(item)
        self.uncreated = len(found) if len(found) > _MAX_CREATED else 0
        return {} if self.uncreated else found

    def find_creations(
        self, owner: StoredSymbol, constructors: Sequence[StoredSymbol], *, is_asked: bool
    ) -> Iterator[Reference]:
        """The calls of a type that mean some of its constructors; without those by its name, if it is asked for too."""
        rule = find_language(owner.language).references
        targets = Targets((item, item) for item in constructors)
        derived = self._derived_from(owner)
        inheriting = [each for each in derived if self._is_inheriting(each, targets)]
        types = [] if is_asked else [owner]
        types += inheriting if rule is not None and rule.inherits_constructors else []
        for each in types:
            name = split_owner(each.symbol)[1]
            for call in self._uses.in_code(name, self._uses.parts.make_targets([each]), {ReferenceKind.CALL}):
                if call.resolved:
                    yield self._as_creation(call, owner, targets)
        names = sorted({split_owner(each.symbol)[1] for each in (owner, *derived)})
        for source in self._files.load_files(number for name in names for number in self._uses.code_holding(name)):
            for use in source.read_uses(source.rule.chained | source.rule.creating_members):
                if use.kind != UseKind.CALL:
                    continue
                if use.name in source.rule.creating_members:
                    # `Cart.new`, also of a type that derives from it and has no constructor.
                    created = self._uses.meanings.created_type(source, use)
                    if created is not None and self._is_inheriting(created, targets):
                        yield self._uses.maker.at_use(source, use, constructors[0])
                elif not use.receiver and (around := self._classes.type_around(source, use.line)) is not None:
                    is_own = use.name in source.rule.own
                    if around == owner if is_own else owner in self._classes.bases_of(around):
                        yield self._as_creation(self._uses.maker.at_use(source, use, owner), owner, targets)

    def _is_inheriting(self, derived: StoredSymbol, constructors: Targets) -> bool:
        """Whether the creation of a type calls one of some constructors."""
        names = {split_owner(item.symbol)[1] for item in constructors.declared}
        return any(constructors.find(self._classes.find_members(derived, name)) is not None for name in names)

    def _derived_from(self, owner: StoredSymbol) -> list[StoredSymbol]:
        """The types that derive from one directly."""
        name = split_owner(owner.symbol)[1]
        return [
            item
            for source in self._files.load_files(self._uses.code_holding(name))
            for use in source.bases
            if use.name == name and (item := source.declaration_around(use.line, "type")) is not None
            if owner in self._classes.bases_of(item)
        ]

    def _as_creation(self, call: Reference, owner: StoredSymbol, targets: Targets) -> Reference:
        """The call of a type as one of its constructors; which one, where it has several, is not told."""
        home = self._files.file_at(owner.path)
        known = (item for item in home.symbols if is_constructor(item)) if home is not None else ()
        own = [item for item in known if self._uses.parts.find_owner(item) == owner]
        is_sure = all(targets.find([item]) for item in own) and not _HEAD.search(owner.signature)
        return replace(call, target=next(iter(targets.declared)) if is_sure else None, resolved=is_sure)


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
        return sort_references(finder.find_references(name, declared, kinds)), {}
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
        self._targets = finder.uses.parts.make_targets(declared)
        self._created = finder.creations.by_type(declared)
        self._counts = finder.uses.count_uses(name)
        self._found: list[Reference] = []
        owners = {split_owner(finder.uses.names.declared.owner_of(item))[1] for item in declared} - {""}
        naming = {number for owner in owners for number in finder.files.find_holding(owner)}
        importing = {number for number, counts in self._counts.items() if counts[ReferenceKind.IMPORT]}
        self._documents = sorted(self._counts, key=lambda number: number not in naming | importing)
        self._importing = sorted(importing)
        self._created_counts = {
            owner: sum(
                each[ReferenceKind.CALL] for each in finder.uses.count_uses(split_owner(owner.symbol)[1]).values()
            )
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
                yield len(block), partial(finder.find_definitions, block)
        elif kind is ReferenceKind.OVERRIDE:
            yield len(finder.files.find_named(self._name)) - len(declared), partial(finder.find_overrides, declared)
        else:
            docs = finder.uses.mentions.docs_holding(self._name)
            yield len(docs), partial(finder.uses.mentions.in_docs, self._name, declared)

    def _of_uses(self, kind: ReferenceKind) -> Iterator[_Part]:
        for owner, constructors in self._created.items() if kind is ReferenceKind.CALL else ():
            find = partial(self._finder.creations.find_creations, owner, constructors, is_asked=owner in self._declared)
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
