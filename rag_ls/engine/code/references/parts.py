"""Finds the other declarations of the same thing: the parts of a type, the prototypes of a function."""

from __future__ import annotations

import re
from collections import Counter

from rag_ls.engine.code.references.code_files import split_owner
from rag_ls.engine.code.references.names import Names, kin_of
from rag_ls.languages import find_language
from rag_ls.storage import StoredSymbol


class Parts:
    """The parts of the declarations that one client sees. For one question."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._files = names.files

    def of(self, item: StoredSymbol) -> list[StoredSymbol]:
        """The declarations of a type, or of its member, that other parts of the type hold."""
        rule = find_language(item.language).references
        if rule is not None and rule.has_prototypes and item.kind == "function":
            return self.prototypes(item)
        if not self._is_reopened(item):
            return list(self._names.parts_of(item))
        named = self._files.named(split_owner(item.symbol)[1])
        own = [each for each in named if each.symbol == item.symbol and each.language == item.language]
        return [each for each in own if self._is_reopened(each)]

    def prototypes(self, item: StoredSymbol) -> list[StoredSymbol]:
        """The function of which a declaration is a prototype, with its other prototypes; none where they may be of several functions."""
        named = [each for each in self._files.named(split_owner(item.symbol)[1]) if each.symbol == item.symbol]
        alike = [each for each in named if kin_of(each.language) == kin_of(item.language) and each.kind == "function"]
        per_file = Counter(each.path for each in alike if not self._has_body(each))
        bodies = [each for each in alike if self._has_body(each)]
        return alike if len(bodies) <= 1 and max(per_file.values(), default=0) <= 1 else []

    def _has_body(self, item: StoredSymbol) -> bool:
        home = self._files.at(item.path)
        text = self._files.text(home, item.start_line, item.end_line) if home is not None else ""
        return "{" in text

    def _is_reopened(self, item: StoredSymbol) -> bool:
        """Whether a type, or that of a member, may be declared in parts."""
        rule = find_language(item.language).references
        owner = item if item.kind in ("type", "module") else self.owner(item) or item
        if rule and rule.reopened == "^" and owner is item and item.kind not in ("type", "module"):
            return False
        return bool(rule and owner and rule.reopened and re.search(rule.reopened, owner.signature))

    def owner(self, item: StoredSymbol) -> StoredSymbol | None:
        source, owner = self._files.at(item.path), self._names.declared.owner_of(item)
        return source.types.get(owner) if source is not None and owner else None
