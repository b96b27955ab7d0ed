"""Finds the places where a symbol is used, and says how sure each is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse, product

from rag_ls.chunking import KEY, SHORTHAND, read_uses
from rag_ls.engine.code.references.answers import ALL_KINDS, Reference, ReferenceKind
from rag_ls.engine.code.references.code_files import CodeFile, CodeFiles, split_owner, symbol_key
from rag_ls.engine.code.references.creations import Creations
from rag_ls.engine.code.references.docs_lines import DocsLines
from rag_ls.engine.code.references.knowing import find_knowing
from rag_ls.engine.code.references.names import Names, kin_of
from rag_ls.engine.code.references.parts import Parts
from rag_ls.engine.code.references.places import KINDS, Places, find_own_line, place_of
from rag_ls.engine.code.references.quoted import Quoted
from rag_ls.engine.code.references.types import KEYS, Uses
from rag_ls.engine.code.references.wanted import Wanted, Wants, readings_of
from rag_ls.engine.session import ProjectSession
from rag_ls.languages import find_language
from rag_ls.model import Use, UseKind
from rag_ls.storage import StoredSymbol
from rag_ls.util.patterns import lazy_pattern

_MAX_ALIASES = 8
# `const { total } = require("./cart")`
_TAKES_MODULE = lazy_pattern(r"\}\s*=\s*(?:await\s+import|require)\b")
_MEMBER_DECLARED = lazy_pattern(r"\b(?:fun|function)\s+(?:<[^<>]*>\s*)?[\w.<>]+[.:]$")


class Finder:
    """Answers one question."""

    def __init__(self, session: ProjectSession) -> None:
        self.files = CodeFiles(session)
        self.names = Names(self.files, session.project.imports.resolver())
        self.uses = Uses(self.names)
        self._is_test = session.project.roles.is_test
        self.places = Places(self.files, self._is_test)
        self.parts = Parts(self.names)
        self.want = Wants(self.files, self.uses, self.parts).want
        self.docs = DocsLines(self.files, self.places)
        self._quoted = Quoted(self.names, self.places)
        self.creations = Creations(self)

    def uses_of(
        self, name: str, declared: Sequence[StoredSymbol], kinds: Collection[ReferenceKind] = ALL_KINDS
    ) -> list[Reference]:
        """The references of some kinds: the declarations, the overrides of them, and all uses."""
        found = self.definitions(declared) if ReferenceKind.DEFINITION in kinds else []
        found += self.overrides(declared) if ReferenceKind.OVERRIDE in kinds else []
        created = self.creations.by_type(declared) if ReferenceKind.CALL in kinds else {}
        for owner, constructors in created.items():
            # Of a type that is asked for too, the calls are told as its uses.
            found += self.creations.find(owner, constructors, is_asked=owner in declared)
        found += self.uses_in_code(name, self.want(declared), kinds)
        found += self.docs.find(name, declared) if ReferenceKind.DOCS in kinds else []
        return found

    def definitions(self, declared: Sequence[StoredSymbol]) -> list[Reference]:
        """Some declarations, as references to themselves."""
        self.files.load(item.document_id for item in declared)
        found = {item: item for item in declared}
        for item in declared:
            rule = find_language(item.language).references
            parts = (
                self.parts.prototypes(item)
                if rule is not None and rule.has_prototypes and item.kind == "function"
                else ()
            )
            found |= {part: item for part in parts if part not in found}
        return [self.places.at_declaration(part, ReferenceKind.DEFINITION, item) for part, item in found.items()]

    def uses_in_code(self, name: str, wanted: Wanted, kinds: Collection[ReferenceKind] = ALL_KINDS) -> list[Reference]:
        """The uses outside of docs, under other names too."""
        numbers = self.holding_code(name)
        found = self.uses_in_documents(numbers, name, wanted, kinds)
        return found + self.renamed_uses(numbers, name, wanted, kinds, found)

    def holding_code(self, name: str) -> list[int]:
        """The documents outside of docs that may hold a name, by id."""
        return list(filterfalse(self.docs.is_docs, self.files.holding(name)))

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
            alias for source in self.files.load(numbers) for alias in self.names.declared.aliases_of(source, name)
        )
        found = {place_of(each): each for each in known}
        count = len(found)
        for alias in list(aliases)[:_MAX_ALIASES] if wanted else ():
            for each in self.uses_in_documents(self.files.holding(alias), alias, wanted, kinds):
                if each.resolved:
                    found.setdefault(place_of(each), each)
        return list(found.values())[count:]

    def count_uses(self, name: str) -> dict[int, Counter[ReferenceKind]]:
        """About how often the documents outside of docs use a name, by id, whatever it means there; tests are last."""
        packed = self.files.read_packed(self.holding_code(name))
        paths = {number: self.files.path_of(number) for number in packed}
        declared = Counter(item.document_id for item in self.files.named(name))
        counted = {}
        for number in sorted(paths, key=lambda number: (self._is_test(paths[number]), paths[number])):
            counted[number] = counts = Counter(KINDS[use.kind] for use in read_uses(packed[number], {name}))
            # A declaration's own name is no use.
            counts[ReferenceKind.MENTION] = max(0, counts[ReferenceKind.MENTION] - declared[number])
        return counted

    def find_knowing(
        self, declared: Sequence[StoredSymbol], counted: Mapping[int, Counter[ReferenceKind]]
    ) -> Collection[int] | None:
        """The documents that know the types of some members, by id; None where they cannot be told."""
        importing = [number for number, counts in counted.items() if counts[ReferenceKind.IMPORT]]
        return find_knowing(self.names, declared, counted, importing)

    def uses_in(self, paths: Collection[str], declared: Sequence[StoredSymbol]) -> Iterator[Reference]:
        """The uses of some declarations in some documents."""
        by_name: dict[str, list[StoredSymbol]] = {}
        for item in declared:
            by_name.setdefault(split_owner(item.symbol)[1], []).append(item)
        for source in filter(None, map(self.files.at, sorted(paths))):
            held = {use.name for use in source.uses()}
            for name, items in by_name.items():
                if name in held or held.intersection(self.names.declared.aliases_of(source, name)):
                    yield from self._uses_in(source, name, Wanted((item, item) for item in items))

    def _uses_in(
        self, source: CodeFile, name: str, wanted: Wanted, kinds: Collection[ReferenceKind] = ALL_KINDS
    ) -> Iterable[Reference]:
        names = {name, *self.names.declared.aliases_of(source, name)}
        if ReferenceKind.MENTION in kinds:
            yield from self._quoted.quoted_in(source, name, wanted)
            yield from self._quoted.registered_in(source, name, wanted)
        # The index has stems of words: most documents hold another word of the same stem, and their text is not read.
        if not (uses := self._uses_named(source, names)):
            return
        lines = self.files.lines(source)
        own_lines = {find_own_line(lines, item, name)[0] for item in source.by_name.get(name, ())}
        for use in [each for read in uses for each in readings_of(read, wanted)]:
            is_import = use.kind == UseKind.IMPORT
            if (is_import and use.name != name) or (not is_import and self._declares(source, use, own_lines, wanted)):
                continue
            if KINDS[use.kind] not in kinds:
                continue
            if not is_import and wanted and not self._fits(source, use, wanted.declared):
                continue
            meaning = self.uses.meaning(source, use)
            if meaning is None:
                if use.receiver in KEYS and not (
                    wanted.may_be_keys
                    if use.receiver in (KEY, SHORTHAND)
                    else wanted.has_members or _TAKES_MODULE.search(self.files.after(source, use))
                ):
                    continue
                if use.name == name and (not wanted or kin_of(source.language.name) in wanted.kin):
                    yield self.places.at_use(source, use, None)
                continue
            meant = self._of_arity(source, use, meaning.declarations)
            # Which of several overloads is meant is not told.
            is_sure = not source.rule.is_overloaded or all(
                wanted.find([item]) for item in meant if item.kind == "function"
            )
            target = wanted.find(meant)
            if target is not None or not wanted:
                yield self.places.at_use(source, use, target if is_sure else None)
            elif found := self._stands_for(meaning.declarations, wanted.declared):
                yield self.places.at_use(source, use, found if source.rule.reaches_through_bases else None)
            elif any(
                self._may_be_one(*pair) or self._share_heir(*pair)
                for pair in product(meaning.declarations, wanted.declared)
            ):
                yield self.places.at_use(source, use, None)

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
        rule, after = source.rule, self.files.after(source, use)
        if (match := re.match(rule.setters, after)) or not rule.several_set:
            return match
        return re.search(rule.several_set, f"{self.files.before(source, use)}\0{after}")

    def _of_arity(self, source: CodeFile, use: Use, declared: Sequence[StoredSymbol]) -> Sequence[StoredSymbol]:
        """Those of several types of one name that have as many arguments of their own as a use gives; all where none has."""
        if len(declared) < 2 or not source.rule.has_arities or any(item.kind != "type" for item in declared):
            return declared
        count = _count_arguments(use.name, use.name + self.files.after(source, use))
        return [item for item in declared if _count_arguments(use.name, item.signature) == count] or declared

    def _fits(self, source: CodeFile, use: Use, declared: Iterable[StoredSymbol]) -> bool:
        """Whether a use may mean a declaration as it stands: what is a field there is no function, what is called no field."""
        rule, is_called = source.rule, use.kind == UseKind.CALL
        if not rule.fields and (is_called or not rule.function_mark):
            return True
        before = self.files.before(source, use)
        is_label = rule.labels and re.match(rule.labels, self.files.after(source, use))
        is_marked = not rule.function_mark or before.endswith(rule.function_mark)
        is_marked = is_marked or bool(rule.declaring and re.search(rule.declaring, before))
        is_field = not is_called and (is_label or not is_marked or (rule.fields and re.search(rule.fields, before)))
        unfit = "value" if is_called else "function" if is_field else ""
        return any(item.kind != unfit for item in declared)

    def _may_be_one(self, item: StoredSymbol, other: StoredSymbol) -> bool:
        """Whether two functions may be overloads, or prototypes of one: the arguments of a call are not looked at."""
        rule = find_language(item.language).references
        if rule is None or not rule.is_overloaded or (item.kind, other.kind) != ("function", "function"):
            return False
        return item.symbol == other.symbol and (item.path == other.path or rule.has_prototypes)

    def _stands_for(self, used: Sequence[StoredSymbol], declared: Iterable[StoredSymbol]) -> StoredSymbol | None:
        """The member that a use of another one may reach, as one of the two overrides the other."""
        for item, each in product(used, declared):
            owner, theirs = self.parts.owner(item), self.parts.owner(each)
            if owner is None or theirs is None:
                continue
            if self.names.derives(theirs, owner) or self.names.derives(owner, theirs):
                return each
        return None

    def _share_heir(self, item: StoredSymbol, other: StoredSymbol) -> bool:
        """Whether a type derives from the owners of both members, in which one takes the place of the other: from a base and a trait."""
        owner, theirs = self.parts.owner(item), self.parts.owner(other)
        if owner is None or theirs is None:
            return False
        return any(self.names.derives(heir, owner) for heir in self.names.heirs_of(theirs))

    def _declares(self, source: CodeFile, use: Use, own_lines: set[int], wanted: Wanted) -> bool:
        """Whether a name is not used, but declared: where a declaration begins, its first name.

        The key of an object is declared there for itself alone; others find a member of a type that is given.
        """
        if use.receiver == KEY:
            return any((item.path, item.start_line) == (source.path, use.line) for item in wanted.declared)
        is_member = use.receiver and use.receiver not in source.rule.own and not source.rule.is_dotted
        # `fun String.cut()`, `function cart.add()`
        is_member = is_member and not _MEMBER_DECLARED.search(self.files.before(source, use))
        # `const Cart.small()`
        is_member = is_member and not re.fullmatch(
            rf"[\w\s:<>,*&]*\b{re.escape(use.receiver.replace('.', '::'))}(?:::|\.)", self.files.before(source, use)
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
        self.files.load(each.document_id for items in others.values() for each in items)
        for item in declared:
            rule = find_language(item.language).references
            # Each derived type may hold a type of this name, which takes no other's place.
            is_held_type = item.kind == "type" and rule is not None and rule.is_declared
            owner = None if is_held_type else self.parts.owner(item)
            for other in others[split_owner(item.symbol)[1]] if owner is not None else ():
                theirs = self.parts.owner(other) if other.language == item.language else None
                if owner is None or theirs in (None, owner):
                    continue
                if self.names.derives(theirs, owner):
                    found.append(self.places.at_declaration(other, ReferenceKind.OVERRIDE, item))
        return found

    def calls_in(self, item: StoredSymbol) -> Iterable[Reference]:
        """The calls in the body of a declaration, each with what it calls where that is known."""
        source = self.files.at(item.path)
        for use in source.uses() if source is not None else ():
            if use.kind == UseKind.CALL and item.start_line <= use.line <= item.end_line:
                meaning = self.uses.meaning(source, use) if source is not None else None
                targets: Sequence[StoredSymbol] = meaning.declarations if meaning is not None else ()
                if source is not None and targets:
                    targets = self._of_arity(source, use, targets)
                if source is not None and (targets or meaning is None):
                    yield self.places.at_use(source, use, targets[0] if targets else None)


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
