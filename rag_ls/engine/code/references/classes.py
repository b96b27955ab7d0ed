"""The members of types, and the types from which they derive."""

from __future__ import annotations

import re
from collections.abc import Callable

from rag_ls.engine.code.references.code_files import CodeFile, split_owner
from rag_ls.engine.code.references.declarations import Declared, is_constructor
from rag_ls.storage import StoredSymbol

_MAX_STEPS = 8


class Classes:
    """The types of one client's documents. For one question; not safe from several threads."""

    def __init__(self, declared: Declared, find_type: Callable[[CodeFile, str], StoredSymbol | None]) -> None:
        self._files = declared.files
        self._declared = declared
        self._find_type = find_type
        """Find the type that a name means in a document."""
        self._bases: dict[StoredSymbol, list[StoredSymbol]] = {}
        self._heirs: dict[StoredSymbol, list[StoredSymbol]] = {}

    def type_around(self, source: CodeFile, line: int) -> StoredSymbol | None:
        """The type whose code stands at a line."""
        around = source.around(line)
        if around is None:
            return None
        if around.kind == "type":
            return around
        owner, _ = split_owner(around.symbol)
        if owner in source.types:
            return source.types[owner]
        return self._find_type(source, split_owner(owner)[1]) if owner else source.around(line, "type")

    def implied_members(self, source: CodeFile, name: str, line: int) -> tuple[StoredSymbol, ...]:
        """The members that a bare name may mean at a line: of the type around it, else of one around that."""
        around = self.type_around(source, line) if source.rule.own_is_implied else None
        while around is not None:
            if found := self.members(around, name):
                return found
            around = source.types.get(split_owner(around.symbol)[0])
        return ()

    def members(self, owner: StoredSymbol, name: str, steps: int = 0) -> tuple[StoredSymbol, ...]:
        """The member that a type, or the nearest type that it derives from, declares by a name."""
        own = self.own_members(owner, name)
        if own or steps > _MAX_STEPS:
            return own
        for base in self.bases_of(owner):
            if base != owner and (found := self.members(base, name, steps + 1)):
                return found
        return ()

    def own_members(self, owner: StoredSymbol, name: str) -> tuple[StoredSymbol, ...]:
        """The members of a name that a type declares itself, in all of its parts."""
        parts = {owner: 0, **dict.fromkeys(self._declared.parts_of(owner))}
        return tuple(found for part in parts for found in self._members_in(part, name))

    def _members_in(self, owner: StoredSymbol, name: str) -> tuple[StoredSymbol, ...]:
        source = self._files.at(owner.path)
        if source is None:
            return ()
        last = split_owner(owner.symbol)[1]
        # `typedef struct cart {} cart;`
        owners = (owner.symbol, f"{owner.symbol}.Companion", f"{owner.symbol}.{last}")
        found = [item for item in source.by_name.get(name, ()) if split_owner(item.symbol)[0] in owners]
        if source.rule.pure_types and re.search(source.rule.pure_types, owner.signature):
            # An object may have the name of a type: `interface Cart {}`, `const Cart = { add() {} }`.
            found = [item for item in found if owner.start_line <= item.start_line <= owner.end_line]
        if not found and source.rule.members_apart:
            named = [item for item in self._files.named(name) if item.language == owner.language]
            found = [item for item in named if split_owner(split_owner(item.symbol)[0])[1] == last]
        # `a.A()` is no call of a constructor.
        return tuple(item for item in found if name != last or not is_constructor(item))

    def bases_of(self, owner: StoredSymbol) -> list[StoredSymbol]:
        """The types of the project from which a type derives."""
        if owner not in self._bases:
            self._bases[owner] = []
            self._bases[owner] = self._find_bases(owner)
        return self._bases[owner]

    def _find_bases(self, owner: StoredSymbol) -> list[StoredSymbol]:
        source = self._files.at(owner.path)
        if source is None:
            return []
        found = []
        for use in source.bases:
            if owner.start_line <= use.line <= owner.end_line and source.around(use.line, "type") == owner:
                name = f"{use.receiver}.{use.name}" if use.receiver else use.name
                base = self._find_type(source, name)
                if base is not None and base != owner:
                    found.append(base)
        return found

    def derives(self, owner: StoredSymbol, base: StoredSymbol, steps: int = 0) -> bool:
        """Whether a type derives from another one, over any number of steps."""
        if steps > _MAX_STEPS:
            return False
        same = (base, *self._declared.parts_of(base))
        return any(each in same or self.derives(each, base, steps + 1) for each in self.bases_of(owner))

    def heirs_of(self, base: StoredSymbol) -> list[StoredSymbol]:
        """The types that derive from a type and name it."""
        if base not in self._heirs:
            sources = self._files.load(self._files.holding(split_owner(base.symbol)[1]))
            types = (item for source in sources if source.bases for item in source.types.values())
            self._heirs[base] = [item for item in types if self.derives(item, base)]
        return self._heirs[base]
