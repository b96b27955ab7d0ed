"""Finds all references to declarations: themselves, what overrides them, what creates objects, uses in code, lines of docs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rag_ls.engine.code.references.answers import ALL_KINDS, Reference, ReferenceKind
from rag_ls.engine.code.references.code_files import split_owner, symbol_key
from rag_ls.engine.code.references.creations import Creations
from rag_ls.engine.code.references.use_search import UseSearch
from rag_ls.engine.session import ProjectSession
from rag_ls.languages import find_language
from rag_ls.storage import StoredSymbol


class Finder:
    """Answers one question."""

    def __init__(self, session: ProjectSession) -> None:
        self.uses = UseSearch(session)
        self.files = self.uses.files
        self.creations = Creations(self.uses)

    def references(
        self, name: str, declared: Sequence[StoredSymbol], kinds: Collection[ReferenceKind] = ALL_KINDS
    ) -> list[Reference]:
        """The references of some kinds: the declarations, the overrides of them, and all uses."""
        found = self.definitions(declared) if ReferenceKind.DEFINITION in kinds else []
        found += self.overrides(declared) if ReferenceKind.OVERRIDE in kinds else []
        created = self.creations.by_type(declared) if ReferenceKind.CALL in kinds else {}
        for owner, constructors in created.items():
            # Of a type that is asked for too, the calls are told as its uses.
            found += self.creations.find(owner, constructors, is_asked=owner in declared)
        found += self.uses.in_code(name, self.uses.parts.targets(declared), kinds)
        found += self.uses.mentions.in_docs(name, declared) if ReferenceKind.DOCS in kinds else []
        return found

    def definitions(self, declared: Sequence[StoredSymbol]) -> list[Reference]:
        """Some declarations, as references to themselves; a function is also defined where its prototypes are."""
        self.files.load(item.document_id for item in declared)
        found = {item: item for item in declared}
        for item in declared:
            found |= {part: item for part in self.uses.parts.prototypes(item) if part not in found}
        return [self.uses.maker.at_declaration(part, ReferenceKind.DEFINITION, item) for part, item in found.items()]

    def overrides(self, declared: Sequence[StoredSymbol]) -> list[Reference]:
        """The members of deriving types that take the place of a member."""
        parts, known = self.uses.parts, set(map(symbol_key, declared))
        names = {split_owner(item.symbol)[1] for item in declared}
        others = {name: [each for each in self.files.named(name) if symbol_key(each) not in known] for name in names}
        self.files.load(each.document_id for items in others.values() for each in items)
        found = []
        for item in declared:
            rule = find_language(item.language).references
            # Each derived type may hold a type of this name, which takes no other's place.
            is_inner_type = item.kind == "type" and rule is not None and rule.is_declared
            owner = None if is_inner_type else parts.owner(item)
            for other in others[split_owner(item.symbol)[1]] if owner is not None else ():
                theirs = parts.owner(other) if other.language == item.language else None
                if owner is None or theirs is None or theirs == owner:
                    continue
                if self.uses.names.classes.derives(theirs, owner):
                    found.append(self.uses.maker.at_declaration(other, ReferenceKind.OVERRIDE, item))
        return found
