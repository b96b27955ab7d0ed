"""Resolves names: the declarations that a name means in a document, by its own declarations, imports and re-exports."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_ls.engine.code.references.code_files import CodeFile, CodeFiles, split_owner
from rag_ls.engine.code.references.declarations import (
    HOLDERS,
    OUTSIDE,
    PARTS,
    Classes,
    Declared,
    Meaning,
    related_languages,
)
from rag_ls.languages import ImportResolver, Target, closest
from rag_ls.model import Use
from rag_ls.storage import StoredImport, StoredSymbol

_MAX_STEPS = 8


class Names:
    """Resolves the names of one client's documents. For one question; not safe from several threads."""

    def __init__(self, files: CodeFiles, resolver: ImportResolver) -> None:
        self.files = files
        self.declared = Declared(files)
        self.classes = Classes(self.declared, self.type_named)
        self._resolver = resolver
        self._bare: dict[tuple[int, str], Meaning | None] = {}
        self._offered: dict[tuple[str, str], tuple[StoredSymbol, ...]] = {}
        self._by_folder: dict[tuple[str, str], dict[str, list[StoredSymbol]]] = {}

    # --- bare names

    def find_bare(self, source: CodeFile, name: str) -> Meaning | None:
        """The meaning of a bare name in a document, outside of classes and local variables; None if it is unknown."""
        key = (source.id, name)
        if key not in self._bare:
            self._bare[key] = None
            self._bare[key] = self._find_bare(source, name)
        return self._bare[key]

    def _find_bare(self, source: CodeFile, name: str) -> Meaning | None:
        if own := self.declared.find_top(source, name):
            return Meaning(own)
        bound = []
        for item in source.imports if source.language.resolver is not None else ():
            meaning = self._find_bound(source, item, name)
            if meaning is not None and (meaning.declarations or meaning.modules):
                return meaning
            bound += [item] if meaning is not None else []
        if bound:
            return OUTSIDE if all(self._is_foreign(source, item, name) for item in bound) else None
        if found := tuple(filter(self.declared.is_free, self._in_folder(source, name))):
            return Meaning(found)
        for item in source.imports:
            if "*" in item.imported.names:
                found = self._find_starred(source, name, item)
                if found:
                    return Meaning(found)
        return self._by_reach(source, name)

    def _in_folder(self, source: CodeFile, name: str) -> Sequence[StoredSymbol]:
        """The declarations of a name whose documents share the folder of a document; none where folders are not shared."""
        language = source.language
        if not language.shares_folder:
            return ()
        if (language.name, name) not in self._by_folder:
            found: dict[str, list[StoredSymbol]] = {}
            for item in self.files.find_named(name):
                if item.language == language.name:
                    found.setdefault(language.shared_folder(item.path), []).append(item)
            self._by_folder[language.name, name] = found
        return self._by_folder[language.name, name].get(language.shared_folder(source.path), ())

    def _by_reach(self, source: CodeFile, name: str) -> Meaning | None:
        """The only declaration of a name, in languages whose names need no import of their own."""
        if not source.rule.is_open:
            return None
        for each in source.imports if source.rule.is_dotted else ():
            given = self.declared.find_alias(source, each) or split_owner(each.imported.module)[1]
            if given == name and (meaning := self.find_full(source, each.imported.module)) is not None:
                return meaning
        language = related_languages(source.language.name)
        found = [item for item in self.files.find_named(name) if related_languages(item.language) == language]
        if source.rule.holds_functions or source.rule.folders_are_namespaces:
            found = [item for item in found if item.kind in HOLDERS]
        tops = [item for item in found if self.declared.is_free(item) and self.declared.can_reach(source, item)]
        if source.rule.folders_are_namespaces:
            folder = source.path.rpartition("/")[0]
            tops = [item for item in tops if item.path.rpartition("/")[0] == folder] or tops
        is_in_parts = not source.rule.reopened or all(re.search(source.rule.reopened, item.signature) for item in tops)
        if not is_in_parts:
            # Whole types of one name are of different programs.
            near = closest([item.path for item in tops], source.path)
            tops = [item for item in tops if item.path in near]
        places = {(item.path, item.symbol) for item in tops}
        # A function and its prototype are one, and so are the parts of a type.
        is_open = source.rule.members_apart and is_in_parts and all(item.kind in HOLDERS for item in tops)
        is_one = len({symbol for _, symbol in places} if is_open else places) == 1
        is_one = is_one or (bool(source.rule.kin) and len(places) == 2)
        return Meaning(tuple(tops)) if tops and is_one else None

    def find_full(self, source: CodeFile, name: str) -> Meaning | None:
        """The meaning of the whole name of a module, where that is how names are written; None if none has it."""
        if not source.rule.is_dotted or "." not in name:
            return None
        named = self.files.find_named(split_owner(name)[1])
        found = tuple(item for item in named if item.symbol == name and item.kind in HOLDERS)
        return Meaning(found) if found else None

    def _is_foreign(self, source: CodeFile, item: StoredImport, name: str) -> bool:
        """Whether an import certainly takes a name from outside of the project: no file that declares the name may be meant.

        An import that leads nowhere known may go through an alias, a build's settings or a package of the same repository.
        """
        if self._find_targets(source, item):
            return False
        module = item.imported.module
        if source.rule.library and re.match(source.rule.library, module):
            return True
        if source.rule.has_aliases:
            return False
        if source.rule.folders_are_namespaces or source.rule.holds_functions:
            # The full name of a type is written, and leads to none of the project.
            return True
        last = PARTS.split(module)[-1]
        return all(last not in re.split(r"[/.]", each.path) for each in self.files.find_named(name))

    def _find_targets(self, source: CodeFile, item: StoredImport) -> Sequence[Target]:
        return list(self._resolver.targets(source.path, item.language, item.imported))

    def _find_bound(self, source: CodeFile, item: StoredImport, name: str) -> Meaning | None:
        """The meaning that an import gives to a name; None if it binds another."""
        imported = item.imported
        if imported.names:
            aliases = dict(imported.aliases)
            for taken in imported.names:
                if taken != "*" and aliases.get(taken, taken) == name:
                    return self._find_taken(source, item, taken, name)
            is_alias = "*" in imported.names and self.declared.find_alias(source, item) == name
            return self._find_module(source, item) if is_alias else None
        last = PARTS.split(imported.module)[-1]
        alias = self.declared.find_alias(source, item)
        if (alias or last) != name:
            return None
        targets = self._find_targets(source, item)
        found = tuple(declared for target in targets for declared in self._find_last(target, last))
        if not found and any(last in target.names for target in targets):
            # A function that extends a type is called on the type's objects, and imported by its own name.
            return OUTSIDE
        return Meaning(found) if found else self._find_module(source, item)

    def _find_last(self, target: Target, last: str) -> tuple[StoredSymbol, ...]:
        """The declarations that the last name of an import means in a document: its own, else members of the type that is taken."""
        if last in target.names:
            return self.find_offered(target.path, last)
        return tuple(found for taken in target.names for found in self._member_in(target.path, taken, last))

    def _member_in(self, path: str, type_name: str, name: str) -> tuple[StoredSymbol, ...]:
        holders = (
            [item for item in self.find_offered(path, type_name) if item.kind == "type"] if type_name != "*" else []
        )
        return tuple(found for item in holders for found in self.classes.find_members(item, name))

    def _find_taken(self, source: CodeFile, item: StoredImport, taken: str, name: str) -> Meaning:
        targets = self._find_targets(source, item)
        paths = [target.path for target in targets if taken in target.names or not target.names]
        if found := dict.fromkeys(item for path in paths for item in self.find_offered(path, taken, name)):
            return Meaning(tuple(found))
        return Meaning((), tuple(target.path for target in targets if _module_name(target.path) == taken))

    def _find_module(self, source: CodeFile, item: StoredImport) -> Meaning:
        targets = self._find_targets(source, item)
        return Meaning((), tuple(dict.fromkeys(target.path for target in targets)))

    def _find_starred(
        self, source: CodeFile, name: str, item: StoredImport, steps: int = 0
    ) -> tuple[StoredSymbol, ...]:
        targets = self._find_targets(source, item)
        starred = [target.path for target in targets if "*" in target.names or not target.names]
        found = tuple(found for path in starred for found in self.find_offered(path, name, name, steps + 1))
        last = PARTS.split(item.imported.module)[-1]
        # All members of a type: `import static shop.Cart.*`.
        typed = [target.path for target in targets if last in target.names]
        return found or tuple(found for path in typed for found in self._member_in(path, last, name))

    def find_offered(self, path: str, name: str, default: str = "", steps: int = 0) -> tuple[StoredSymbol, ...]:
        """The declarations that other documents get by a name from the one at a path: its own, or passed on."""
        key = (path, name if name != "default" else f"default {default}")
        if key in self._offered:
            return self._offered[key]
        source = self.files.file_at(path)
        if source is None or steps > _MAX_STEPS:
            return ()
        self._offered[key] = ()
        self._offered[key] = found = self._find_offered(source, name, default, steps)
        return found

    def _find_offered(self, source: CodeFile, name: str, default: str, steps: int) -> tuple[StoredSymbol, ...]:
        if name == "default":
            return self._find_default(source, default, steps)
        if own := self.declared.find_top(source, name):
            return own
        for own_name, offered in self.declared.renamed_exports(source) if source.read_uses({name}) else ():
            if offered == name:
                meaning = self.find_bare(source, own_name)
                return meaning.declarations if meaning is not None else ()
        for item in source.imports:
            aliases = dict(item.imported.aliases)
            for taken in item.imported.names:
                if taken == name or aliases.get(taken) == name:
                    for target in self._find_targets(source, item):
                        if found := self.find_offered(target.path, taken, name, steps + 1):
                            return found
        for item in source.imports:
            if "*" in item.imported.names and (found := self._find_starred(source, name, item, steps)):
                return found
        return ()

    def _find_default(self, source: CodeFile, name: str, steps: int) -> tuple[StoredSymbol, ...]:
        """The declaration that a script exports by default: the one of the importer's name, else the only exported one."""
        text = "\n".join(
            line for line in self.files.read_lines(source) if "default" in line or "module.exports" in line
        )
        # The result of a call, `export default traced(cart)`, is unknown.
        match = re.search(
            r"export\s+default\s+(?:async\s+)?(?:abstract\s+)?(?:(?:function\s*\*?|class)\s*([\w$]+)|([\w$]+)\s*(?:;|$))|"
            r"module\.exports\s*=\s*([\w$]+)\s*(?:;|$)|\b([\w$]+)\s+as\s+default",
            text,
            re.MULTILINE,
        )
        if called := next((group for group in match.groups() if group), "") if match else "":
            if own := self.declared.find_top(source, called):
                return own
            meaning = self.find_bare(source, called)
            return meaning.declarations if meaning is not None else ()
        passed = re.search(r"export\s*\{[^}]*\bdefault\b", text)
        for item in source.imports if passed else ():
            if "default" in item.imported.names:
                for target in self._find_targets(source, item):
                    if found := self.find_offered(target.path, "default", name, steps + 1):
                        return found
        return ()

    def find_imported(self, source: CodeFile, use: Use) -> tuple[StoredSymbol, ...] | None:
        """The declarations that a name in an import means; None if they are unknown."""
        items = [item for item in source.imports if item.imported.line <= use.line]
        if not items:
            return None
        line = max(item.imported.line for item in items)
        for item in items:
            if item.imported.line != line:
                continue
            last = PARTS.split(item.imported.module)[-1]
            is_folder = item.imported.module.startswith(f"{use.receiver}.{use.name}.".lstrip("."))
            if use.name in item.imported.names and not is_folder:
                found = self._find_taken(source, item, use.name, use.name).declarations
                return None if not found and not self._is_foreign(source, item, use.name) else found
            if not is_folder and use.name in {last, *(alias for _, alias in item.imported.aliases)}:
                meaning = self._find_bound(source, item, self.declared.find_alias(source, item) or use.name)
                if meaning is None or meaning.declarations or meaning.modules:
                    return meaning.declarations if meaning is not None else None
                return () if self._is_foreign(source, item, use.name) else None
            # The type of a member that is taken: `import shop.Cart.Companion.of`.
            for target in self._find_targets(source, item):
                is_taken = use.name in target.names and not (is_folder and use.name == last)
                if is_taken and (found := self.find_offered(target.path, use.name)):
                    return found
            if is_folder:
                return ()
        return None

    def type_named(self, source: CodeFile, name: str) -> StoredSymbol | None:
        """The type that a name means in a document, if it is one of the project's."""
        first, *rest = name.replace("::", ".").strip(".").split(".")
        if rest and (found := self.declared.in_folders(source, name)) is not None:
            return found
        meaning = self.find_bare(source, first)
        if meaning is None and not rest:
            nested = [item for item in source.types.values() if split_owner(item.symbol)[1] == name]
            return nested[0] if len(nested) == 1 else None
        for part in rest:
            if meaning is None:
                return None
            meaning = self.member_of(meaning, part)
        types = [item for item in meaning.declarations if item.kind == "type"] if meaning is not None else []
        return types[0] if types else None

    def member_of(self, meaning: Meaning, name: str) -> Meaning | None:
        """The meaning of a member of a module or type."""
        if meaning.modules:
            found = tuple(item for path in meaning.modules for item in self.find_offered(path, name))
            if found:
                return Meaning(found)
            inner = tuple(path for each in meaning.modules for path in self._find_submodule(each, name))
            return Meaning((), inner) if inner else OUTSIDE
        holders = [item for item in meaning.declarations if item.kind in HOLDERS]
        if members := dict.fromkeys(found for item in holders for found in self.classes.find_members(item, name)):
            return Meaning(tuple(members))
        return None if meaning.declarations else OUTSIDE

    def _find_submodule(self, path: str, name: str) -> Sequence[str]:
        folder = path.rpartition("/")[0]
        places = (f"{folder}/{name}.py", f"{folder}/{name}/__init__.py")
        return [place for place in places if path.endswith("__init__.py") and self.files.file_at(place) is not None][:1]


def _module_name(path: str) -> str:
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in ("__init__", "index", "mod", "lib") else stem
