"""Finds all references to declarations: themselves, what overrides them, what creates objects, uses in code, lines of docs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from rag_ls.engine.code.references.answers import ALL_KINDS, Reference, ReferenceKind, sort_references
from rag_ls.engine.code.references.code_files import split_owner, symbol_key
from rag_ls.engine.code.references.declarations import is_constructor
from rag_ls.engine.code.references.use_search import UseSearch
from rag_ls.engine.session import ProjectSession
from rag_ls.languages import find_language
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
        found += self.creations.find_creations(declared) if ReferenceKind.CALL in kinds else []
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
    """The creations of objects in what one client sees: the calls of types. For one question."""

    def __init__(self, uses: UseSearch) -> None:
        self._uses = uses
        self.uncreated = 0

    def find_creations(self, declared: Sequence[StoredSymbol]) -> list[Reference]:
        """The calls of the types of the constructors among some declarations, unless there are too many.

        Which of several constructors is called, is not told; and of a type that is asked for too, the calls are told as its uses.
        """
        owners: dict[StoredSymbol, StoredSymbol] = {}
        for item in filter(is_constructor, declared):
            if (owner := self._uses.parts.find_owner(item)) is not None and owner not in declared:
                owners.setdefault(owner, item)
        self.uncreated = len(owners) if len(owners) > _MAX_CREATED else 0
        found = []
        for owner, constructor in () if self.uncreated else owners.items():
            targets = self._uses.parts.make_targets([owner])
            calls = self._uses.in_code(split_owner(owner.symbol)[1], targets, {ReferenceKind.CALL})
            is_sure = self._has_one(owner)
            target = constructor if is_sure else None
            found += [replace(call, target=target, resolved=is_sure) for call in calls if call.resolved]
        return found

    def _has_one(self, owner: StoredSymbol) -> bool:
        """Whether a type has one constructor."""
        home = self._uses.files.file_at(owner.path)
        known = filter(is_constructor, home.symbols) if home is not None else ()
        return sum(self._uses.parts.find_owner(item) == owner for item in known) == 1 and not _HEAD.search(
            owner.signature
        )


_MAX_AT_ONCE = 400
_PART_SIZE = 200
_Part = tuple[ReferenceKind, int, Callable[[], Iterable[Reference]]]
"""The kind of some references, about the number of them, and what finds them."""


def find_page(
    finder: Finder, name: str, declared: Sequence[StoredSymbol], kinds: Collection[ReferenceKind], enough: int
) -> tuple[list[Reference], Mapping[ReferenceKind, int]]:
    """The references of some kinds, in their order, and the number of uses that are left by kind.

    Where a name has many uses, they are resolved part by part until there are enough references.
    """
    counts = finder.uses.count_uses(name)
    if len(declared) + sum(each.total() for each in counts.values()) <= _MAX_AT_ONCE:
        return sort_references(finder.find_references(name, declared, kinds)), {}
    found: list[Reference] = []
    left: Counter[ReferenceKind] = Counter()
    for kind, size, find in _list_parts(finder, name, declared, counts):
        if kind not in kinds:
            continue
        if len(found) < enough:
            found += sort_references(find())
        elif size:
            left[kind] += size
    return found, left


def _list_parts(
    finder: Finder, name: str, declared: Sequence[StoredSymbol], counts: Mapping[int, Counter[ReferenceKind]]
) -> Iterator[_Part]:
    """The parts of an answer, by kind. Documents that name the types of the declarations come first: in others, hardly a use is
    resolved.
    """
    uses, known = finder.uses, list[Reference]()
    targets = uses.parts.make_targets(declared)
    owners = {split_owner(uses.names.declared.owner_of(item))[1] for item in declared} - {""}
    naming = {number for owner in owners for number in finder.files.find_holding(owner)}
    importing = {number for number, each in counts.items() if each[ReferenceKind.IMPORT]}
    documents = sorted(counts, key=lambda number: number not in naming | importing)

    def find_uses(block: Sequence[int], kind: ReferenceKind) -> list[Reference]:
        found = uses.in_documents(block, name, targets, {kind})
        known.extend(found)
        return found

    for kind in ReferenceKind:
        if kind is ReferenceKind.DEFINITION:
            for start in range(0, len(declared), _PART_SIZE):
                part = declared[start : start + _PART_SIZE]
                yield kind, len(part), partial(finder.find_definitions, part)
        elif kind is ReferenceKind.OVERRIDE:
            size = len(finder.files.find_named(name)) - len(declared)
            yield kind, size, partial(finder.find_overrides, declared)
        elif kind is ReferenceKind.DOCS:
            yield kind, len(uses.mentions.docs_holding(name)), partial(uses.mentions.in_docs, name, declared)
        else:
            if kind is ReferenceKind.CALL:
                yield kind, 0, partial(finder.creations.find_creations, declared)
            block, size = list[int](), 0
            for number in documents:
                # A document that imports the name may use it under another one, and a text in quotes may mean it.
                if counts[number][kind] or number in importing or kind is ReferenceKind.MENTION:
                    block, size = [*block, number], size + counts[number][kind]
                if size >= _PART_SIZE:
                    yield kind, size, partial(find_uses, block, kind)
                    block, size = [], 0
            yield kind, size, partial(find_uses, block, kind)
            yield kind, 0, partial(uses.find_renamed, sorted(importing), name, targets, {kind}, known)
