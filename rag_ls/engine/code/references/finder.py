"""Finds the places where a symbol is used, and says how sure each is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse, islice, product

from rag_ls.chunking import KEY, SHORTHAND, TAKEN, read_uses
from rag_ls.engine.code.references.answers import ALL_KINDS, Reference, ReferenceKind
from rag_ls.engine.code.references.code_files import CodeFile, CodeFiles, split_owner, symbol_key
from rag_ls.engine.code.references.expected import ExpectedTypes
from rag_ls.engine.code.references.knowing import find_knowing
from rag_ls.engine.code.references.name_patterns import compile_for
from rag_ls.engine.code.references.names import Names, is_constructor, kin_of
from rag_ls.engine.code.references.overloads import Overloads
from rag_ls.engine.code.references.types import KEYS, Uses
from rag_ls.engine.session import ProjectSession
from rag_ls.languages import Role, find_language
from rag_ls.model import Use, UseKind
from rag_ls.storage import StoredSymbol

_MAX_LINE_CHARACTERS = 200
_MAX_DOCS = 50
_MAX_ALIASES = 8
_MAX_CREATED = 50
_MAX_TAKING = 40
_MAX_UNNAMED = 300
_MAX_LINES_TO_NAME = 6
_ANNOTATION = re.compile(r"^\s*(?:(?:@[\w.:]+(?:\([^()]*\))?|#?\[[^\]]*\])\s*)+")
_MEMBER_DECLARED = re.compile(r"\b(?:fun|function)\s+(?:<[^<>]*>\s*)?[\w.<>]+[.:]$")

_KINDS = {
    UseKind.CALL: ReferenceKind.CALL,
    UseKind.IMPORT: ReferenceKind.IMPORT,
    UseKind.IMPLEMENT: ReferenceKind.IMPLEMENT,
    UseKind.MENTION: ReferenceKind.MENTION,
}


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


class Finder:
    """Answers one question."""

    def __init__(self, session: ProjectSession) -> None:
        self.files = CodeFiles(session)
        self._names = Names(self.files, session.project.imports.resolver())
        self.uses = Uses(self._names)
        self._overloads = Overloads(self._names, self.uses)
        self.uses.expected = ExpectedTypes(self._names, self.uses, self._overloads)
        self._is_test = session.project.roles.is_test
        self.uncreated = 0

    def uses_of(
        self, name: str, declared: Sequence[StoredSymbol], kinds: Collection[ReferenceKind] = ALL_KINDS
    ) -> list[Reference]:
        """The references of some kinds: the declarations, the overrides of them, and all uses."""
        found = self.definitions(declared) if ReferenceKind.DEFINITION in kinds else []
        found += self.overrides(declared) if ReferenceKind.OVERRIDE in kinds else []
        created = self.created_by(declared) if ReferenceKind.CALL in kinds else {}
        for owner, constructors in created.items():
            # Of a type that is asked for too, the calls are told as its uses.
            found += self.creations(owner, constructors, is_asked=owner in declared)
        if ReferenceKind.CALL in kinds:
            found += self.unnamed_creations(item for item in declared if item.kind == "type")
        found += self._uses_in_code(name, self.want(declared), kinds)
        found += self.lines_of_docs(name, declared) if ReferenceKind.DOCS in kinds else []
        return found

    def definitions(self, declared: Sequence[StoredSymbol]) -> list[Reference]:
        """Some declarations, as references to themselves."""
        self.files.load(item.document_id for item in declared)
        found = {item: item for item in declared}
        for item in declared:
            rule = find_language(item.language).references
            parts = (
                self._prototypes(item) if rule is not None and rule.has_prototypes and item.kind == "function" else ()
            )
            found |= {part: item for part in parts if part not in found}
        return [self._at_declaration(part, ReferenceKind.DEFINITION, item) for part, item in found.items()]

    def want(self, declared: Sequence[StoredSymbol]) -> Wanted:
        """Some declarations with their parts, as those that are asked for."""
        self.files.load(item.document_id for item in declared)
        parts = [
            (part, item) for item in reversed(declared) for part in (*self._parts(item), *self._find_typed(item), item)
        ]
        keys = list(filter(self._is_key, declared))
        may_be_keys = not declared or bool(keys) or any(map(self._may_be_key, declared))
        return Wanted(parts, may_be_keys=may_be_keys, has_keys=bool(keys))

    def _is_key(self, item: StoredSymbol) -> bool:
        """Whether a declaration is a function that an object holds as the value of a key."""
        source = self.files.at(item.path)
        return source is not None and item.kind == "function" and any(self._keys_at(source, item))

    def _keys_at(self, source: CodeFile, item: StoredSymbol) -> Iterator[Use]:
        return (
            use
            for use in source.uses({split_owner(item.symbol)[1]})
            if use.line == item.start_line and use.receiver == KEY
        )

    def _may_be_key(self, item: StoredSymbol) -> bool:
        """Whether a member may be a key of objects: one of an object, or of a type that is no class."""
        owner, rule = self._owner(item), find_language(item.language).references
        if owner is None:
            return bool(split_owner(item.symbol)[0])
        return not (rule and rule.pure_types) or bool(re.search(rule.pure_types, owner.signature))

    def _find_typed(self, item: StoredSymbol) -> Sequence[StoredSymbol]:
        """The members of a type that a key of an object stands for, where a declaration is one."""
        source = self.files.at(item.path)
        if source is None or item.kind != "function":
            return ()
        meaning = next(filter(None, (self.uses.meaning(source, use) for use in self._keys_at(source, item))), None)
        return meaning.declarations if meaning is not None else ()

    def _uses_in_code(self, name: str, wanted: Wanted, kinds: Collection[ReferenceKind] = ALL_KINDS) -> list[Reference]:
        """The uses outside of docs, under other names too."""
        numbers = self.holding_code(name)
        found = self.uses_in_documents(numbers, name, wanted, kinds)
        return found + self.renamed_uses(numbers, name, wanted, kinds, found)

    def holding_code(self, name: str) -> list[int]:
        """The documents outside of docs that may hold a name, by id."""
        return list(filterfalse(self._is_docs, self.files.holding(name)))

    def uses_in_documents(
        self, numbers: Iterable[int], name: str, wanted: Wanted, kinds: Collection[ReferenceKind]
    ) -> list[Reference]:
        """The uses of some kinds in some documents."""
        return [each for source in self.files.load(numbers) for each in self._uses_in(source, name, wanted, kinds)]

    def renamed_uses(
        self,
        numbers: Iterable[int],
        name: str,
        wanted: Wanted,
        kinds: Collection[ReferenceKind],
        known: Iterable[Reference],
    ) -> list[Reference]:
        """The uses, beside those that are known, under the names that some documents give to an imported one."""
        aliases = dict.fromkeys(
            alias for source in self.files.load(numbers) for alias in self._names.declared.aliases_of(source, name)
        )
        found = {_place(each): each for each in known}
        count = len(found)
        for alias in list(aliases)[:_MAX_ALIASES] if wanted else ():
            for each in self.uses_in_documents(self.files.holding(alias), alias, wanted, kinds):
                if each.resolved:
                    found.setdefault(_place(each), each)
        return list(found.values())[count:]

    def count_uses(self, name: str) -> dict[int, Counter[ReferenceKind]]:
        """About how often the documents outside of docs use a name, by id, whatever it means there; tests are last."""
        packed = self.files.read_packed(self.holding_code(name))
        paths = {number: self.files.path_of(number) for number in packed}
        declared = Counter(item.document_id for item in self.files.named(name))
        counted = {}
        for number in sorted(paths, key=lambda number: (self._is_test(paths[number]), paths[number])):
            counted[number] = counts = Counter(_KINDS[use.kind] for use in read_uses(packed[number], {name}))
            # A declaration's own name is no use.
            counts[ReferenceKind.MENTION] = max(0, counts[ReferenceKind.MENTION] - declared[number])
        return counted

    def find_knowing(
        self, declared: Sequence[StoredSymbol], counted: Mapping[int, Counter[ReferenceKind]]
    ) -> Collection[int] | None:
        """The documents that know the types of some members, by id; None where they cannot be told."""
        importing = [number for number, counts in counted.items() if counts[ReferenceKind.IMPORT]]
        return find_knowing(self._names, declared, counted, importing)

    def _is_docs(self, number: int) -> bool:
        return find_language(self.files.language_of(number)).role is Role.DOCS

    def uses_in(self, paths: Collection[str], declared: Sequence[StoredSymbol]) -> Iterator[Reference]:
        """The uses of some declarations in some documents."""
        by_name: dict[str, list[StoredSymbol]] = {}
        for item in declared:
            by_name.setdefault(split_owner(item.symbol)[1], []).append(item)
        for source in filter(None, map(self.files.at, sorted(paths))):
            held = {use.name for use in source.uses()}
            for name, items in by_name.items():
                if name in held or held.intersection(self._names.declared.aliases_of(source, name)):
                    yield from self._uses_in(source, name, Wanted((item, item) for item in items))

    def _uses_in(
        self, source: CodeFile, name: str, wanted: Wanted, kinds: Collection[ReferenceKind] = ALL_KINDS
    ) -> Iterable[Reference]:
        names = {name, *self._names.declared.aliases_of(source, name)}
        if ReferenceKind.MENTION in kinds:
            yield from self._quoted_in(source, name, wanted)
            yield from self._registered_in(source, name, wanted)
        # The index has stems of words: most documents hold another word of the same stem, and their text is not read.
        if not (uses := self._uses_named(source, names)):
            return
        lines = self.files.lines(source)
        own_lines = {_find_own_line(lines, item, name)[0] for item in source.by_name.get(name, ())}
        for use in [each for read in uses for each in _readings(read, wanted)]:
            is_import = use.kind == UseKind.IMPORT
            if (is_import and use.name != name) or (not is_import and self._declares(source, use, own_lines, wanted)):
                continue
            if _KINDS[use.kind] not in kinds:
                continue
            if not is_import and wanted and not self._fits(source, use, wanted.declared):
                continue
            meaning = self.uses.meaning(source, use)
            if meaning is None:
                if use.receiver in KEYS and not (
                    wanted.may_be_keys if use.receiver in (KEY, SHORTHAND) else wanted.has_members
                ):
                    continue
                if use.name == name and (not wanted or kin_of(source.language.name) in wanted.kin):
                    yield self._reference(source, use, None)
                continue
            meant, is_sure = self._of_arity(source, use, meaning.declarations), True
            if use.kind == UseKind.CALL:
                meant, is_sure = self._choose(source, use.line, self._before(source, use), meant, wanted)
            elif source.rule.is_overloaded and len(meant) > 1:
                # Of a function that is not called, no argument tells which overload is meant.
                is_sure = all(wanted.find([item]) for item in meant if item.kind == "function")
            target = wanted.find(meant)
            if target is not None or not wanted:
                yield self._reference(source, use, target if is_sure else None)
            elif found := self._stands_for(meaning.declarations, wanted.declared):
                yield self._reference(source, use, found if source.rule.reaches_through_bases else None)

    def _uses_named(self, source: CodeFile, names: Collection[str]) -> list[Use]:
        """The uses of some names; a value that is given to a member, `cart.size = 1`, uses `size=` if anything is declared so."""
        if not source.rule.setters:
            return source.uses(names)
        found = []
        for use in source.uses({name.removesuffix("=") for name in names}):
            setter = f"{use.name}="
            given = self._match_setter(source, use) if use.receiver and self.files.named(setter) else None
            is_read = given is None or (given.lastindex and given[1])
            found += [use] if use.name in names and is_read else []
            found += [use._replace(name=setter)] if setter in names and given is not None else []
        return found

    def _match_setter(self, source: CodeFile, use: Use) -> re.Match[str] | None:
        """The match of what gives a value to a member, alone or among others; its group matches where the value is read, too."""
        rule, after = source.rule, self._after(source, use)
        if (match := re.match(rule.setters, after)) or not rule.several_set:
            return match
        return re.search(rule.several_set, f"{self._before(source, use)}\0{after}")

    def _choose(
        self, source: CodeFile, line: int, before: str, declared: Sequence[StoredSymbol], wanted: Wanted
    ) -> tuple[Sequence[StoredSymbol], bool]:
        """The overloads that a call behind a text may mean, and whether all of them are wanted; other declarations as they are.

        They are as they are, but unsure, where the call may mean one that a base class declares.
        """
        called = [item for item in declared if item.kind == "function"]
        if not source.rule.is_overloaded or not called:
            return declared, True
        meant = self._overloads.choose(source, line, len(before), called)
        if not meant:
            return called, False
        return meant, all(wanted.find([item]) for item in meant)

    def _of_arity(self, source: CodeFile, use: Use, declared: Sequence[StoredSymbol]) -> Sequence[StoredSymbol]:
        """Those of several types of one name that have as many arguments of their own as a use gives; all where none has."""
        if len(declared) < 2 or not source.rule.has_arities or any(item.kind != "type" for item in declared):
            return declared
        count = _count_arguments(use.name, use.name + self._after(source, use))
        return [item for item in declared if _count_arguments(use.name, item.signature) == count] or declared

    def _before(self, source: CodeFile, use: Use) -> str:
        """The text of its line before a use."""
        lines = self.files.lines(source)
        line = lines[use.line - 1] if use.line <= len(lines) else ""
        return line.encode("utf-8", "surrogatepass")[: use.column].decode("utf-8", "ignore")

    def _after(self, source: CodeFile, use: Use) -> str:
        """The text of its line behind a use."""
        return self.files.lines(source)[use.line - 1][len(self._before(source, use)) + len(use.name) :]

    def _fits(self, source: CodeFile, use: Use, declared: Iterable[StoredSymbol]) -> bool:
        """Whether a use may mean a declaration as it stands: what is a field there is no function, what is called no field."""
        rule, is_called = source.rule, use.kind == UseKind.CALL
        if not rule.fields and (is_called or not rule.function_mark):
            return True
        before = self._before(source, use)
        is_label = rule.labels and re.match(rule.labels, self._after(source, use))
        is_marked = not rule.function_mark or before.endswith(rule.function_mark)
        is_marked = is_marked or bool(rule.declaring and re.search(rule.declaring, before))
        is_field = not is_called and (is_label or not is_marked or (rule.fields and re.search(rule.fields, before)))
        unfit = "value" if is_called else "function" if is_field else ""
        return any(item.kind != unfit for item in declared)

    def _quoted_in(self, source: CodeFile, name: str, wanted: Wanted) -> Iterable[Reference]:
        """The texts in quotes that mean a declaration: types that are declared later, lists of exports."""
        are_types = any(item.kind == "type" for item in wanted.declared)
        rule = source.rule
        patterns = [compile_for(each, name) for each in (*rule.listed, *(rule.quoted if are_types else ()))]
        meaning = self._names.bare(source, name) if patterns and wanted else None
        target = wanted.find(meaning.declarations) if meaning else None
        if target is None:
            return
        for number, line in enumerate(self.files.lines(source), 1):
            if name in line and (match := next(filter(None, (each.search(line) for each in patterns)), None)):
                column = len(line[: line.index(name, match.start())].encode("utf-8", "surrogatepass"))
                yield self._reference(source, Use(name, UseKind.MENTION, number, column), target)

    def _registered_in(self, source: CodeFile, name: str, wanted: Wanted) -> Iterable[Reference]:
        """The texts in quotes that name a type by its application: `ForeignKey("shop.Cart")`."""
        types = [item for item in wanted.declared if item.kind == "type"]
        for pattern in [compile_for(each, name) for each in source.rule.registered] if types else ():
            for number, line in enumerate(self.files.lines(source), 1):
                match = pattern.search(line) if name in line else None
                if match is None:
                    continue
                home = re.compile(rf"(?:^|/){match[1]}{source.rule.registered_in}")
                target = next((item for item in types if home.search(item.path)), None)
                column = len(line[: line.index(name, match.end(1))].encode("utf-8", "surrogatepass"))
                if target is not None:
                    yield self._reference(source, Use(name, UseKind.MENTION, number, column), target)

    def _stands_for(self, used: Sequence[StoredSymbol], declared: Iterable[StoredSymbol]) -> StoredSymbol | None:
        """The member that a use of another one may reach, as one of the two overrides the other."""
        for item, each in product(used, declared):
            owner, theirs = self._owner(item), self._owner(each)
            if owner is None or theirs is None:
                continue
            if self._names.derives(theirs, owner) or self._names.derives(owner, theirs):
                return each
        return None

    def _declares(self, source: CodeFile, use: Use, own_lines: set[int], wanted: Wanted) -> bool:
        """Whether a name is not used, but declared: where a declaration begins, its first name.

        The key of an object is declared there for itself alone; others find a member of a type that is given.
        """
        if use.receiver == KEY:
            return any((item.path, item.start_line) == (source.path, use.line) for item in wanted.declared)
        is_member = use.receiver and use.receiver not in source.rule.own and not source.rule.is_dotted
        # `fun String.cut()`, `function cart.add()`
        is_member = is_member and not _MEMBER_DECLARED.search(self._before(source, use))
        # `const Cart.small()`
        is_member = is_member and not re.fullmatch(
            rf"[\w\s:<>,*&]*\b{re.escape(use.receiver.replace('.', '::'))}(?:::|\.)", self._before(source, use)
        )
        if use.line not in own_lines or is_member:
            return False
        line = self.files.lines(source)[use.line - 1].encode()
        own_lines.discard(use.line)
        return use.name.encode() in line

    def overrides(self, declared: Sequence[StoredSymbol]) -> list[Reference]:
        """The members of deriving types that take the place of a member."""
        found = []
        known = set(map(symbol_key, declared))
        named = (split_owner(item.symbol)[1] for item in declared)
        others = {
            name: [each for each in self.files.named(name) if symbol_key(each) not in known] for name in set(named)
        }
        for item in declared:
            rule = find_language(item.language).references
            # Each derived type may hold a type of this name, which takes no other's place.
            is_held_type = item.kind == "type" and rule is not None and rule.is_declared
            owner = None if is_held_type else self._owner(item)
            for other in others[split_owner(item.symbol)[1]] if owner is not None else ():
                theirs = self._owner(other) if other.language == item.language else None
                if owner is None or theirs in (None, owner) or not self._overloads.is_like(item, other):
                    continue
                if self._names.derives(theirs, owner):
                    found.append(self._at_declaration(other, ReferenceKind.OVERRIDE, item))
        return found

    def created_by(self, declared: Sequence[StoredSymbol]) -> dict[StoredSymbol, list[StoredSymbol]]:
        """The constructors among some declarations, by the type that each creates; none where these are too many types."""
        found: dict[StoredSymbol, list[StoredSymbol]] = {}
        for item in declared:
            if self._is_constructor(item) and (owner := self._owner(item)) is not None:
                found.setdefault(owner, []).append(item)
        if len(found) > _MAX_CREATED:
            self.uncreated = len(found)
            return {}
        return found

    def creations(
        self, owner: StoredSymbol, constructors: Sequence[StoredSymbol], *, is_asked: bool
    ) -> Iterable[Reference]:
        """The calls of a type that mean some of its constructors; without those by its name, if it is asked for too."""
        wanted = Wanted((item, item) for item in constructors)
        name = split_owner(owner.symbol)[1]
        calls = self._uses_in_code(name, self.want([owner]), {ReferenceKind.CALL}) if not is_asked else []
        calls += self.unnamed_creations([owner]) if not is_asked else ()
        rule = find_language(owner.language).references
        for derived in self._derived_from(owner) if rule is not None and rule.inherits_constructors else ():
            made = [
                found for item in constructors for found in self._names.members(derived, split_owner(item.symbol)[1])
            ]
            if wanted.find(made) is not None:
                called = split_owner(derived.symbol)[1]
                calls += self._uses_in_code(called, self.want([derived]), {ReferenceKind.CALL})
        for each in calls:
            if each.resolved:
                yield from self._creation(each, owner, wanted)
        yield from self._creations_by_members(owner, wanted)
        for source in self.files.load(self.files.holding(name)):
            for use in source.uses(source.rule.chained):
                if use.kind != UseKind.CALL:
                    continue
                around = self._names.type_around(source, use.line) if not use.receiver else None
                is_own = use.name in source.rule.own
                if around is not None and (around == owner if is_own else owner in self._names.bases_of(around)):
                    yield from self._creation(self._reference(source, use, owner), owner, wanted)

    def _creations_by_members(self, owner: StoredSymbol, wanted: Wanted) -> Iterator[Reference]:
        """The calls of members that create an object: `Cart.new` of a type, or of one that derives from it and has no constructor."""
        home = self.files.at(owner.path)
        if home is None or not home.rule.creating_members:
            return
        names = {split_owner(each.symbol)[1] for each in (owner, *self._derived_from(owner))}
        numbers = dict.fromkeys(number for name in sorted(names)[:_MAX_TAKING] for number in self.holding_code(name))
        constructor = next(iter(wanted.declared))
        for source in self.files.load(numbers):
            for use in source.uses(source.rule.creating_members):
                typed = self.uses.created_type(source, use) if use.kind == UseKind.CALL else None
                made = self._names.members(typed, split_owner(constructor.symbol)[1]) if typed is not None else ()
                if (target := wanted.find(made)) is not None:
                    yield self._reference(source, use, target)

    def _derived_from(self, owner: StoredSymbol) -> list[StoredSymbol]:
        """The types that derive from one directly."""
        name = split_owner(owner.symbol)[1]
        return [
            item
            for source in self.files.load(self.holding_code(name))
            for use in source.bases
            if use.name == name and (item := source.around(use.line, "type")) is not None
            if owner in self._names.bases_of(item)
        ]

    def unnamed_creations(self, types: Iterable[StoredSymbol]) -> Iterator[Reference]:
        """The creations of some types that do not name them: `Add(new(1))`. Those where a declaration names the type are calls of it."""
        for owner in types:
            home = self.files.at(owner.path)
            if home is None or not home.rule.unnamed_creation:
                continue
            for source in self.files.load(self._holding_unnamed(owner)):
                for number, line in enumerate(self.files.lines(source), 1):
                    for match in re.finditer(home.rule.unnamed_creation, line):
                        if not self._creates(source, number, match.start(), owner):
                            continue
                        column = len(line[: match.start()].encode("utf-8", "surrogatepass"))
                        yield self._reference(source, Use("new", UseKind.CALL, number, column), owner)

    def _holding_unnamed(self, owner: StoredSymbol) -> list[int]:
        """The documents that name a type, and those that may call a function with a parameter of it, by id."""
        name = split_owner(owner.symbol)[1]
        word = re.compile(rf"\(.*\b{re.escape(name)}\b")
        naming = self.holding_code(name)
        taking = {
            split_owner(item.symbol)[1]
            for source in self.files.load(naming)
            for item in source.symbols
            if item.kind in ("function", "type") and word.search(item.signature)
        }
        calling = (number for each in sorted(taking)[:_MAX_TAKING] for number in self.holding_code(each))
        return list(dict.fromkeys((*naming, *calling)))[:_MAX_UNNAMED]

    def _creates(self, source: CodeFile, line: int, column: int, owner: StoredSymbol) -> bool:
        """Whether what is created at a place is of a type that only the place tells."""
        expected = self.uses.expected
        wanted = expected.find(source, line, column) if expected is not None else None
        if wanted is None or owner not in wanted.declarations:
            return False
        name = split_owner(owner.symbol)[1]
        names = {name, *self._names.declared.aliases_of(source, name)}
        return all(use.line != line or use.kind != UseKind.CALL for use in source.uses(names))

    def _is_constructor(self, item: StoredSymbol) -> bool:
        rule = find_language(item.language).references
        return rule is not None and is_constructor(item, rule)

    def _creation(self, call: Reference, owner: StoredSymbol, wanted: Wanted) -> Iterable[Reference]:
        """The call of a type as one of its constructors, if it may mean a wanted one."""
        source, home = self.files.at(call.path), self.files.at(owner.path)
        if source is None or home is None:
            return
        own = (item for item in home.symbols if self._is_constructor(item) and self._owner(item) == owner)
        line = self.files.lines(source)[call.line - 1]
        known = tuple(dict.fromkeys((*own, *wanted.declared)))
        if source.rule.is_overloaded and self._overloads.has_primary(owner):
            meant: Sequence[StoredSymbol] = self._overloads.choose(
                source, call.line, call.column - 1, (owner, *known), are_one=True
            )
            is_sure = all(wanted.find([item]) for item in meant)
        else:
            meant, is_sure = self._choose(source, call.line, line[: call.column - 1], known, wanted)
        if (target := wanted.find(meant)) is not None:
            yield replace(call, target=target if is_sure else None, resolved=is_sure)

    def _parts(self, item: StoredSymbol) -> list[StoredSymbol]:
        """The declarations of a type, or of its member, that other parts of the type hold."""
        rule = find_language(item.language).references
        if rule is not None and rule.has_prototypes and item.kind == "function":
            return self._prototypes(item)
        if not self._is_reopened(item):
            return list(self._names.parts_of(item))
        named = self.files.named(split_owner(item.symbol)[1])
        own = [each for each in named if each.symbol == item.symbol and each.language == item.language]
        return [
            each for each in own if self._is_reopened(each) and (item.kind != "function" or self._is_same(item, each))
        ]

    def _prototypes(self, item: StoredSymbol) -> list[StoredSymbol]:
        """The function of which a declaration is a prototype, with its other prototypes; none where they may be of several functions."""
        named = [each for each in self.files.named(split_owner(item.symbol)[1]) if each.symbol == item.symbol]
        alike = [each for each in named if kin_of(each.language) == kin_of(item.language) and each.kind == "function"]
        alike = [each for each in alike if self._overloads.takes_as_many(item, each)]
        per_file = Counter(each.path for each in alike if not self._has_body(each))
        if max(per_file.values(), default=0) > 1:
            alike = [each for each in alike if self._overloads.is_written_alike(item, each)]
            per_file = Counter(each.path for each in alike if not self._has_body(each))
        bodies = [each for each in alike if self._has_body(each)]
        return alike if len(bodies) <= 1 and max(per_file.values(), default=0) <= 1 else []

    def _has_body(self, item: StoredSymbol) -> bool:
        home = self.files.at(item.path)
        text = self.files.text(home, item.start_line, item.end_line) if home is not None else ""
        return "{" in text

    def _is_same(self, one: StoredSymbol, other: StoredSymbol) -> bool:
        """Whether two members of the parts of a type may be one, in a language with overloads."""
        home = self.files.at(one.path)
        return home is None or not home.rule.is_overloaded or self._overloads.is_written_alike(one, other)

    def _is_reopened(self, item: StoredSymbol) -> bool:
        """Whether a type, or that of a member, may be declared in parts."""
        rule = find_language(item.language).references
        owner = item if item.kind in ("type", "module") else self._owner(item) or item
        if rule and rule.reopened == "^" and owner is item and item.kind not in ("type", "module"):
            return False
        return bool(rule and owner and rule.reopened and re.search(rule.reopened, owner.signature))

    def _owner(self, item: StoredSymbol) -> StoredSymbol | None:
        source, owner = self.files.at(item.path), self._names.declared.owner_of(item)
        return source.types.get(owner) if source is not None and owner else None

    def lines_of_docs(self, name: str, declared: Sequence[StoredSymbol]) -> list[Reference]:
        """The first lines of docs that hold a name, but for those that name another type before it."""
        return list(islice(self._in_docs(name, declared), _MAX_DOCS))

    def holding_docs(self, name: str) -> list[int]:
        """The docs that may hold a name, by id."""
        return list(filter(self._is_docs, self.files.holding(name)))

    def _in_docs(self, name: str, declared: Sequence[StoredSymbol]) -> Iterator[Reference]:
        word = re.compile(rf"(?<!\w)(?:(\w+)(?:::|\.|#|->))?{re.escape(name)}(?!\w)")
        owners = {split_owner(split_owner(item.symbol)[0])[1] for item in declared}
        for source in self.files.load(self.holding_docs(name)):
            for number, line in enumerate(self.files.lines(source), 1):
                matches = (each for each in word.finditer(line) if not self._is_of_other(each[1] or "", owners))
                if match := next(matches, None):
                    column = len(line[: match.end() - len(name)].encode("utf-8", "surrogatepass"))
                    use = Use(name, UseKind.MENTION, number, column)
                    yield replace(self._reference(source, use, None), kind=ReferenceKind.DOCS)

    def _is_of_other(self, owner: str, owners: Collection[str]) -> bool:
        """Whether a name before a member is that of a type of the project that is none of some owners."""
        if not owner or not any(owners) or owner in owners:
            return False
        return any(item.kind in ("type", "module") for item in self.files.named(owner))

    def calls_in(self, item: StoredSymbol) -> Iterable[Reference]:
        """The calls in the body of a declaration, each with what it calls where that is known."""
        source = self.files.at(item.path)
        for use in source.uses() if source is not None else ():
            if use.kind == UseKind.CALL and item.start_line <= use.line <= item.end_line:
                meaning = self.uses.meaning(source, use) if source is not None else None
                targets: Sequence[StoredSymbol] = meaning.declarations if meaning is not None else ()
                if source is not None and targets:
                    targets, _ = self._choose(source, use.line, self._before(source, use), targets, Wanted(()))
                if source is not None and (targets or meaning is None):
                    yield self._reference(source, use, targets[0] if targets else None)

    def _at_declaration(self, item: StoredSymbol, kind: ReferenceKind, target: StoredSymbol) -> Reference:
        source = self.files.at(item.path)
        assert source is not None
        name = split_owner(item.symbol)[1]
        number, line = _find_own_line(self.files.lines(source), item, name)
        column = max(0, line.find(name)) + 1
        return Reference(
            kind=kind,
            path=item.path,
            line=number,
            column=column,
            text=_shorten(line),
            symbol=item.symbol,
            resolved=True,
            is_test=self._is_test(item.path),
            target=target,
        )

    def _reference(self, source: CodeFile, use: Use, target: StoredSymbol | None) -> Reference:
        lines = self.files.lines(source)
        line = lines[use.line - 1] if use.line <= len(lines) else ""
        around = source.decorated_at(use.line, lines) or source.around(use.line)
        column = len(self._before(source, use)) + 1
        return Reference(
            kind=_KINDS[use.kind], path=source.path, line=use.line, column=column, text=_shorten(line),
            symbol=around.symbol if around else "", resolved=target is not None, is_test=self._is_test(source.path), target=target,
        )  # fmt: skip


def _readings(use: Use, wanted: Wanted) -> Iterator[Use]:
    """The ways to read a use: `size` in `{ size }` is a member of an object, and a name of the document."""
    if use.receiver not in KEYS or wanted.has_members or use.receiver == TAKEN:
        yield use
    if use.receiver == SHORTHAND and wanted.has_others:
        yield use._replace(receiver="")


def _place(reference: Reference) -> tuple[str, int, int]:
    """The place of a reference; an import of one name under another is one place, though both names stand there."""
    is_import = reference.kind is ReferenceKind.IMPORT
    return reference.path, reference.line, 0 if is_import else reference.column


def _find_own_line(lines: Sequence[str], item: StoredSymbol, name: str) -> tuple[int, str]:
    """The line of a declaration that holds its name: the first one, but for annotations, or a type on a line of its own, above it."""
    own = lines[item.start_line - 1 : item.end_line] or [""]
    named = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    limit = len(own) if _ANNOTATION.match(own[0]) else _MAX_LINES_TO_NAME
    for number, line in enumerate(own[:limit], item.start_line):
        if named.search(_ANNOTATION.sub("", line)):
            return number, line
    return item.start_line, own[0]


def _count_arguments(name: str, text: str) -> int:
    """The number of arguments that a text gives to the type of a name: 2 for `Pair<Key, List<Value>>` and `Pair<,>`."""
    given = re.search(rf"(?<!\w){re.escape(name)}\s*<", text)
    depth, count = 0, 0
    for mark in text[given.end() - 1 :] if given else "":
        depth += (mark == "<") - (mark == ">")
        count += mark == "," and depth == 1
        if not depth:
            return count + 1
    return 0


def _shorten(line: str) -> str:
    text = line.strip()
    return text if len(text) <= _MAX_LINE_CHARACTERS else text[: _MAX_LINE_CHARACTERS - 1] + "…"
