"""The declarations whose uses are looked for, with the other parts of the same thing: of a type, prototypes of a function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rag_ls.chunking import KEY
from rag_ls.engine.code.references.code_files import CodeFiles, split_owner, symbol_key
from rag_ls.engine.code.references.declarations import HOLDERS, Declared, related_languages
from rag_ls.languages import find_language
from rag_ls.storage import StoredSymbol


class Targets:
    """The declarations whose uses are looked for; the other parts of each stand for it."""

    def __init__(self, parts: Iterable[tuple[StoredSymbol, StoredSymbol]], *, are_keys: bool = False) -> None:
        self._by_key = {symbol_key(part): item for part, item in parts}
        self.declared = self._by_key.values()
        is_member = any(split_owner(item.symbol)[0] for item in self.declared)
        self.may_be_members = are_keys or is_member or not self.declared
        self.languages = frozenset(related_languages(item.language) for item in self.declared)

    def __bool__(self) -> bool:
        return bool(self._by_key)

    def find(self, used: Iterable[StoredSymbol]) -> StoredSymbol | None:
        """The target among some declarations."""
        return next((self._by_key[symbol_key(item)] for item in used if symbol_key(item) in self._by_key), None)


class Parts:
    """The parts of the declarations that one client sees. For one question."""

    def __init__(self, files: CodeFiles, declared: Declared) -> None:
        self._files = files
        self._declared = declared

    def targets(self, declared: Sequence[StoredSymbol]) -> Targets:
        """Some declarations with their parts."""
        self._files.load(item.document_id for item in declared)
        parts = ((part, item) for item in reversed(declared) for part in (*self.of(item), item))
        return Targets(parts, are_keys=any(map(self._is_key, declared)))

    def _is_key(self, item: StoredSymbol) -> bool:
        """Whether a declaration is the value of a key in an object, which other objects may have, too."""
        home = self._files.at(item.path)
        uses = home.uses({split_owner(item.symbol)[1]}) if home is not None else ()
        return any((use.line, use.receiver) == (item.start_line, KEY) for use in uses)

    def of(self, item: StoredSymbol) -> list[StoredSymbol]:
        """The declarations of a type, or of its member, that other parts of the type hold."""
        if prototypes := self.prototypes(item):
            return prototypes
        if not self._is_reopened(item):
            return []
        named = self._files.named(split_owner(item.symbol)[1])
        own = [each for each in named if each.symbol == item.symbol and each.language == item.language]
        return [each for each in own if self._is_reopened(each)]

    def prototypes(self, item: StoredSymbol) -> list[StoredSymbol]:
        """The function of which a declaration is a prototype, with its other prototypes; none where they may be of several functions."""
        rule = find_language(item.language).references
        if rule is None or not rule.has_prototypes or item.kind != "function":
            return []
        named = [each for each in self._files.named(split_owner(item.symbol)[1]) if each.symbol == item.symbol]
        language = related_languages(item.language)
        alike = [each for each in named if related_languages(each.language) == language and each.kind == "function"]
        bodies = [each for each in alike if self._has_body(each)]
        per_file = Counter(each.path for each in alike if each not in bodies)
        return alike if len(bodies) <= 1 and max(per_file.values(), default=0) <= 1 else []

    def owner(self, item: StoredSymbol) -> StoredSymbol | None:
        """The type whose member a declaration is."""
        source, owner = self._files.at(item.path), self._declared.owner_of(item)
        return source.types.get(owner) if source is not None and owner else None

    def _has_body(self, item: StoredSymbol) -> bool:
        home = self._files.at(item.path)
        return home is not None and "{" in self._files.text(home, item.start_line, item.end_line)

    def _is_reopened(self, item: StoredSymbol) -> bool:
        """Whether a type, or that of a member, may be declared in parts."""
        holder = item if item.kind in HOLDERS else self.owner(item)
        return self._declared.is_reopened(holder or item)
