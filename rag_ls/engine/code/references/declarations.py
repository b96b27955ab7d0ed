"""The declarations that a name means by itself, without imports; members of types, and the types from which they derive."""

from __future__ import annotations

import re
from collections.abc import Callable

from rag_ls.engine.code.references.code_files import CodeFile, CodeFiles, split_owner
from rag_ls.engine.code.references.name_patterns import compile_for
from rag_ls.languages import family_of, find_language
from rag_ls.storage import StoredImport, StoredSymbol
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

HOLDERS = ("type", "module")
"""The kinds of declarations that have members."""
PARTS = lazy_pattern(r"\.|::|/|\\")
_AS = lazy_pattern(r"([\w$]+)\s+as\s+([\w$]+)")


@dataclass(frozen=True, slots=True)
class Meaning:
    """The things that a name means: declarations of the project, or modules; neither, where it is not the project's."""

    declarations: tuple[StoredSymbol, ...] = ()
    modules: tuple[str, ...] = ()
    """The paths of their documents."""


OUTSIDE = Meaning()


def related_languages(language: str) -> str:
    """The name that a language shares with those in which its declarations can be used."""
    rule = find_language(language).references
    return (rule.kin if rule is not None else "") or family_of(language)


def is_constructor(item: StoredSymbol) -> bool:
    """Whether a member of a type is what the creation of an object calls."""
    rule = find_language(item.language).references
    owner, name = split_owner(item.symbol)
    if rule is None:
        return False
    is_named_so = rule.own_is_implied and item.kind == "function" and name == split_owner(owner)[1]
    return is_named_so or name in rule.constructors


class Declared:
    """The declarations of one client's documents. For one question."""

    def __init__(self, files: CodeFiles) -> None:
        self.files = files
        self._renamed: dict[int, list[tuple[str, str]]] = {}

    def find_top(self, source: CodeFile, name: str) -> tuple[StoredSymbol, ...]:
        """The declarations with a name in a document, that are no members of a type."""
        return tuple(item for item in source.by_name.get(name, ()) if not self.owner_of(item))

    def is_free(self, item: StoredSymbol) -> bool:
        """Whether other documents may mean a declaration by its bare name: it is no member, and in no function or value."""
        owner, _ = split_owner(item.symbol)
        home = self.files.file_at(item.path) if owner and not self.owner_of(item) else None
        return not owner or (
            home is not None and all(each.symbol != owner or each.kind in HOLDERS for each in home.symbols)
        )

    def owner_of(self, item: StoredSymbol) -> str:
        """The qualified name of the type whose member a declaration is; empty for any other."""
        owner, _ = split_owner(item.symbol)
        if not owner:
            return ""
        source = self.files.file_at(item.path)
        if source is not None and owner in source.types:
            return owner
        kinds = {each.kind for each in self.files.find_named(split_owner(owner)[1])}
        # Beside its type, as in an `impl` of Rust, where the type may be one from outside.
        is_apart = source is not None and source.rule.members_apart and kinds.isdisjoint(HOLDERS)
        return owner if "type" in kinds or (is_apart and item.kind == "function") else ""

    def can_reach(self, source: CodeFile, item: StoredSymbol) -> bool:
        """Whether a bare name in a document may mean a declaration: types that a module holds are seen in the module alone."""
        owner, _ = split_owner(item.symbol)
        if item.kind not in HOLDERS or not owner or not source.rule.reopened:
            return True
        is_held = any(each.symbol == owner for each in self.files.find_named(split_owner(owner)[1]))
        return not is_held or any(each.symbol == owner for each in source.symbols)

    def parts_of(self, item: StoredSymbol) -> list[StoredSymbol]:
        """The declarations of a type that may be declared in parts; none of any other."""
        named = self.files.find_named(split_owner(item.symbol)[1]) if self.is_reopened(item) else ()
        alike = (each for each in named if (each.symbol, each.language) == (item.symbol, item.language))
        return [each for each in alike if each.kind == item.kind and self.is_reopened(each)]

    def is_reopened(self, item: StoredSymbol) -> bool:
        """Whether other documents may declare parts of the same thing."""
        rule = find_language(item.language).references
        if rule is None or not rule.reopened or (rule.reopened == "^" and item.kind not in HOLDERS):
            return False
        return bool(re.search(rule.reopened, item.signature))

    def find_alias(self, source: CodeFile, item: StoredImport) -> str:
        """The name that a document gives to an imported module; empty if it gives none."""
        lines = self.files.read_lines(source)
        line = lines[item.imported.line - 1] if item.imported.line <= len(lines) else ""
        patterns = (compile_for(pattern, item.imported.module) for pattern in source.rule.aliases)
        return next((match[1] for pattern in patterns if (match := pattern.search(line))), "")

    def aliases_of(self, source: CodeFile, name: str) -> list[str]:
        """The names that a document gives to one that it imports, or offers under another name."""
        found = [alias for item in source.imports for taken, alias in item.imported.aliases if taken == name]
        is_held = name in source.by_name or any(name in item.imported.names for item in source.imports)
        found += [offered for own, offered in self.renamed_exports(source) if own == name] if is_held else []
        # `using Coin = Shop.Money`
        modules = source.imports if source.rule.is_open and source.rule.aliases else ()
        whole = (item for item in modules if not item.imported.names and PARTS.split(item.imported.module)[-1] == name)
        return found + [alias for item in whole if (alias := self.find_alias(source, item))]

    def renamed_exports(self, source: CodeFile) -> list[tuple[str, str]]:
        """The names of a document that it offers under others, each with the other: `export { cart as basket }`."""
        if source.id not in self._renamed:
            text = "\n".join(self.files.read_lines(source)) if source.rule.renamed else ""
            clauses = re.findall(source.rule.renamed, text) if text else []
            self._renamed[source.id] = [pair for clause in clauses for pair in _AS.findall(clause)]
        return self._renamed[source.id]

    def in_folders(self, source: CodeFile, name: str) -> StoredSymbol | None:
        """The type whose path ends as its qualified name does, where namespaces are folders; None if no or several types have it."""
        if not source.rule.folders_are_namespaces:
            return None
        end = "/" + name.replace(".", "/")
        named = (item for item in self.files.find_named(split_owner(name)[1]) if item.kind == "type")
        found = [item for item in named if f"/{item.path.rpartition('.')[0]}".endswith(end)]
        return found[0] if len(found) == 1 else None


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
        around = source.declaration_around(line)
        if around is None:
            return None
        if around.kind == "type":
            return around
        owner, _ = split_owner(around.symbol)
        if owner in source.types:
            return source.types[owner]
        return self._find_type(source, split_owner(owner)[1]) if owner else source.declaration_around(line, "type")

    def implied_members(self, source: CodeFile, name: str, line: int) -> tuple[StoredSymbol, ...]:
        """The members that a bare name may mean at a line: of the type around it, else of one around that."""
        around = self.type_around(source, line) if source.rule.own_is_implied else None
        while around is not None:
            if found := self.find_members(around, name):
                return found
            around = source.types.get(split_owner(around.symbol)[0])
        return ()

    def find_members(self, owner: StoredSymbol, name: str, steps: int = 0) -> tuple[StoredSymbol, ...]:
        """The member that a type, or the nearest type that it derives from, declares by a name."""
        own = self.own_members(owner, name)
        if own or steps > _MAX_STEPS:
            return own
        for base in self.bases_of(owner):
            if base != owner and (found := self.find_members(base, name, steps + 1)):
                return found
        return ()

    def own_members(self, owner: StoredSymbol, name: str) -> tuple[StoredSymbol, ...]:
        """The members of a name that a type declares itself, in all of its parts."""
        parts = {owner: 0, **dict.fromkeys(self._declared.parts_of(owner))}
        return tuple(found for part in parts for found in self._members_in(part, name))

    def _members_in(self, owner: StoredSymbol, name: str) -> tuple[StoredSymbol, ...]:
        source = self._files.file_at(owner.path)
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
            named = [item for item in self._files.find_named(name) if item.language == owner.language]
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
        source = self._files.file_at(owner.path)
        if source is None:
            return []
        found = []
        for use in source.bases:
            if owner.start_line <= use.line <= owner.end_line and source.declaration_around(use.line, "type") == owner:
                name = f"{use.receiver}.{use.name}" if use.receiver else use.name
                base = self._find_type(source, name)
                if base is not None and base != owner:
                    found.append(base)
        return found

    def is_derived(self, owner: StoredSymbol, base: StoredSymbol, steps: int = 0) -> bool:
        """Whether a type derives from another one, over any number of steps."""
        if steps > _MAX_STEPS:
            return False
        same = (base, *self._declared.parts_of(base))
        return any(each in same or self.is_derived(each, base, steps + 1) for each in self.bases_of(owner))

    def heirs_of(self, base: StoredSymbol) -> list[StoredSymbol]:
        """The types that derive from a type and name it."""
        if base not in self._heirs:
            sources = self._files.load_files(self._files.find_holding(split_owner(base.symbol)[1]))
            types = (item for source in sources if source.bases for item in source.types.values())
            self._heirs[base] = [item for item in types if self.is_derived(item, base)]
        return self._heirs[base]
