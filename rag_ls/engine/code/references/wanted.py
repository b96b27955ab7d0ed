"""Tells which declarations a question wants: with their parts, and the members of types that a key of an object stands for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rag_ls.chunking import KEY, SHORTHAND, TAKEN
from rag_ls.engine.code.references.code_files import CodeFile, CodeFiles, split_owner, symbol_key
from rag_ls.engine.code.references.names import kin_of
from rag_ls.engine.code.references.parts import Parts
from rag_ls.engine.code.references.types import KEYS, Uses
from rag_ls.languages import find_language
from rag_ls.model import Use
from rag_ls.storage import StoredSymbol


class Wanted:
    """The declarations that are asked for, by place; the parts of each stand for it."""

    def __init__(
        self, parts: Iterable[tuple[StoredSymbol, StoredSymbol]], *, may_be_keys: bool = True, has_keys: bool = False
    ) -> None:
        self._by_key = {symbol_key(part): item for part, item in parts}
        self.declared = self._by_key.values()
        self.may_be_keys = may_be_keys
        """Whether a key of an object of an unknown type may mean one."""
        owned = [bool(split_owner(item.symbol)[0]) for item in self.declared]
        self.has_members, self.has_others = has_keys or any(owned) or not owned, not all(owned)
        self.kin = frozenset(kin_of(language) for language in {item.language for item in self.declared})

    def __bool__(self) -> bool:
        return bool(self._by_key)

    def find(self, used: Iterable[StoredSymbol]) -> StoredSymbol | None:
        """The wanted declaration among those that are used."""
        return next((self._by_key[symbol_key(item)] for item in used if symbol_key(item) in self._by_key), None)


class Wants:
    """Makes what is wanted of declarations. For one question."""

    def __init__(self, files: CodeFiles, uses: Uses, parts: Parts) -> None:
        self._files = files
        self._uses = uses
        self._parts = parts

    def want(self, declared: Sequence[StoredSymbol]) -> Wanted:
        """Some declarations with their parts, as those that are asked for."""
        self._files.load(item.document_id for item in declared)
        parts = [
            (part, item)
            for item in reversed(declared)
            for part in (*self._parts.of(item), *self._find_typed(item), item)
        ]
        keys = list(filter(self._is_key, declared))
        may_be_keys = not declared or bool(keys) or any(map(self._may_be_key, declared))
        return Wanted(parts, may_be_keys=may_be_keys, has_keys=bool(keys))

    def _is_key(self, item: StoredSymbol) -> bool:
        """Whether a declaration is a function that an object holds as the value of a key."""
        source = self._files.at(item.path)
        return source is not None and item.kind == "function" and any(self._keys_at(source, item))

    def _keys_at(self, source: CodeFile, item: StoredSymbol) -> Iterator[Use]:
        return (
            use
            for use in source.uses({split_owner(item.symbol)[1]})
            if use.line == item.start_line and use.receiver == KEY
        )

    def _may_be_key(self, item: StoredSymbol) -> bool:
        """Whether a member may be a key of objects: one of an object, or of a type that is no class."""
        owner, rule = self._parts.owner(item), find_language(item.language).references
        if owner is None:
            return bool(split_owner(item.symbol)[0])
        return not (rule and rule.pure_types) or bool(re.search(rule.pure_types, owner.signature))

    def _find_typed(self, item: StoredSymbol) -> Sequence[StoredSymbol]:
        """The members of a type that a key of an object stands for, where a declaration is one."""
        source = self._files.at(item.path)
        if source is None or item.kind != "function":
            return ()
        meaning = next(filter(None, (self._uses.meaning(source, use) for use in self._keys_at(source, item))), None)
        return meaning.declarations if meaning is not None else ()


def readings_of(use: Use, wanted: Wanted) -> Iterator[Use]:
    """The ways to read a use: `size` in `{ size }` is a member of an object, and a name of the document."""
    if use.receiver not in KEYS or wanted.has_members or use.receiver == TAKEN:
        yield use
    if use.receiver == SHORTHAND and wanted.has_others:
        yield use._replace(receiver="")
