"""Finds the uses of names in code, and labels each: resolved, or by name; what is proven another's is left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import filterfalse, islice, product

from rag_ls.chunking import KEY, SHORTHAND, read_uses
from rag_ls.engine.code.references.answers import (
    ALL_KINDS,
    KINDS,
    Reference,
    ReferenceKind,
    ReferenceMaker,
    find_own_line,
    place_of,
)
from rag_ls.engine.code.references.code_files import CodeFile, CodeFiles, split_owner, symbol_key
from rag_ls.engine.code.references.declarations import HOLDERS, Declared, Meaning, related_languages
from rag_ls.engine.code.references.name_patterns import compile_for
from rag_ls.engine.code.references.names import Names
from rag_ls.engine.code.references.use_meanings import UseMeanings
from rag_ls.engine.session import ProjectSession
from rag_ls.languages import Role, find_language, role_of
from rag_ls.model import Use, UseKind
from rag_ls.storage import StoredSymbol
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import replace

_MAX_ALIASES = 8
_MEMBER_DECLARED = lazy_pattern(r"\b(?:fun|function)\s+(?:<[^<>]*>\s*)?[\w.<>]+[.:]$")


class UseSearch:
    """The uses of names in the documents that one client sees. For one question."""

    def __init__(self, session: ProjectSession) -> None:
        self.is_test = session.project.roles.is_test
        self.files = CodeFiles(session)
        self.names = Names(self.files, session.project.imports.resolver())
        self.meanings = UseMeanings(self.names)
        self.maker = ReferenceMaker(self.files, self.is_test)
        self.parts = Parts(self.files, self.names.declared)
        self.mentions = Mentions(self.names, self.maker)

    def in_code(self, name: str, targets: Targets, kinds: Collection[ReferenceKind] = ALL_KINDS) -> list[Reference]:
        """The uses outside of docs, under other names too."""
        numbers = self.code_holding(name)
        found = self.in_documents(numbers, name, targets, kinds)
        return found + self.find_renamed(numbers, name, targets, kinds, found)

    def code_holding(self, name: str) -> list[int]:
        """The documents outside of docs that may hold a name, by id."""
        return list(filterfalse(self.mentions.is_docs, self.files.find_holding(name)))

    def in_documents(
        self, numbers: Iterable[int], name: str, targets: Targets, kinds: Collection[ReferenceKind]
    ) -> list[Reference]:
        """The uses of some kinds in some documents."""
        return [
            each
            for source in self.files.load_files(numbers)
            for each in self._in_document(source, name, targets, kinds)
        ]

    def find_renamed(
        self, numbers: Iterable[int], name: str, targets: Targets, kinds: Collection[ReferenceKind],
        known: Iterable[Reference],
    ) -> list[Reference]:  # fmt: skip
        """The uses, beside those that are known, under the names that some documents give to an imported one."""
        sources = self.files.load_files(numbers) if targets else ()
        aliases = dict.fromkeys(alias for source in sources for alias in self.names.declared.aliases_of(source, name))
        places = set(map(place_of, known))
        found: dict[tuple[str, int, int], Reference] = {}
        for alias in list(aliases)[:_MAX_ALIASES]:
            for each in self.in_documents(self.files.find_holding(alias), alias, targets, kinds):
                if each.resolved and place_of(each) not in places:
                    found.setdefault(place_of(each), each)
        return list(found.values())

    def count_uses(self, name: str) -> dict[int, Counter[ReferenceKind]]:
        """About how often the documents outside of docs use a name, by id, whatever it means there; tests are last."""
        packed = self.files.read_packed(self.code_holding(name))
        paths = {number: self.files.path_of(number) for number in packed}
        declared = Counter(item.document_id for item in self.files.find_named(name))
        counted = {}
        for number in sorted(paths, key=lambda number: (self.is_test(paths[number]), paths[number])):
            counted[number] = counts = Counter(KINDS[use.kind] for use in read_uses(packed[number], {name}))
            # A declaration's own name is no use.
            counts[ReferenceKind.MENTION] = max(0, counts[ReferenceKind.MENTION] - declared[number])
        return counted

    def of_declarations(self, paths: Collection[str], declared: Sequence[StoredSymbol]) -> Iterator[Reference]:
        """The uses of some declarations in some documents."""
        by_name: dict[str, list[StoredSymbol]] = {}
        for item in declared:
            by_name.setdefault(split_owner(item.symbol)[1], []).append(item)
        for source in filter(None, map(self.files.file_at, sorted(paths))):
            used = {use.name for use in source.read_uses()}
            for name, items in by_name.items():
                if name in used or used.intersection(self.names.declared.aliases_of(source, name)):
                    yield from self._in_document(source, name, Targets((item, item) for item in items), ALL_KINDS)

    def calls_in(self, item: StoredSymbol) -> Iterable[Reference]:
        """The calls in the body of a declaration, each with what it calls where that is known."""
        source = self.files.file_at(item.path)
        for use in source.read_uses() if source is not None else ():
            if source is not None and use.kind == UseKind.CALL and item.start_line <= use.line <= item.end_line:
                meaning = self.meanings.find_meaning(source, use)
                if meaning is None or meaning.declarations:
                    targets = _choose_by_kind(use, meaning) if meaning is not None else ()
                    yield self.maker.at_use(source, use, targets[0] if targets else None)

    def _in_document(
        self, source: CodeFile, name: str, targets: Targets, kinds: Collection[ReferenceKind]
    ) -> Iterable[Reference]:
        if ReferenceKind.MENTION in kinds:
            yield from self.mentions.in_quotes(source, name, targets)
        uses = source.read_uses({name, *self.names.declared.aliases_of(source, name)})
        # The index has stems of words: most documents hold another word of the same stem, and their text is not read.
        lines = self.files.read_lines(source) if uses else []
        own_lines = {find_own_line(lines, item, name)[0] for item in source.by_name.get(name, ())} if uses else set()
        is_related = not targets or related_languages(source.language.name) in targets.languages
        for use in uses:
            is_import = use.kind == UseKind.IMPORT
            if (is_import and use.name != name) or (
                not is_import and self._is_declaration(source, use, own_lines, targets)
            ):
                continue
            if KINDS[use.kind] not in kinds or (use.receiver == KEY and not targets.may_be_members):
                continue
            meaning = self.meanings.find_meaning(source, use)
            if meaning is None:
                if use.name == name and is_related:
                    yield self.maker.at_use(source, use, None)
            elif not targets:
                yield self.maker.at_use(source, use, None)
            elif targets.find(meaning.declarations) is not None:
                meant = _choose_by_kind(use, meaning)
                if (target := targets.find(meant)) is not None:
                    is_certain = self._is_certain(source, use, meant, targets)
                    yield self.maker.at_use(source, use, target if is_certain else None)
            elif found := self._find_overridden(meaning.declarations, targets.declared):
                yield self.maker.at_use(source, use, found if source.rule.reaches_through_bases else None)
            elif (use.receiver == SHORTHAND and targets.may_be_members) or any(
                self._may_be_one(*pair) for pair in product(meaning.declarations, targets.declared)
            ):
                yield self.maker.at_use(source, use, None)

    def _is_declaration(self, source: CodeFile, use: Use, own_lines: set[int], targets: Targets) -> bool:
        """Whether a name is not used, but declared: where a declaration begins, its first name."""
        if use.receiver == KEY:
            # The key of an object is declared there for itself alone.
            return any((item.path, item.start_line) == (source.path, use.line) for item in targets.declared)
        before = self.files.text_before(source, use) if use.receiver else ""
        is_member = (
            use.receiver and use.receiver not in source.rule.own and not source.rule.is_dotted
            # `fun String.cut()`, `function cart.add()`, `const Cart.small()`
            and not _MEMBER_DECLARED.search(before)
            and not re.fullmatch(rf"[\w\s:<>,*&]*\b{re.escape(use.receiver.replace('.', '::'))}(?:::|\.)", before)
        )  # fmt: skip
        if use.line not in own_lines or is_member:
            return False
        own_lines.discard(use.line)
        return use.name in self.files.read_lines(source)[use.line - 1]

    def _is_certain(self, source: CodeFile, use: Use, meant: Sequence[StoredSymbol], targets: Targets) -> bool:
        """Whether a use can mean a target alone: which of several overloads, or of types of one name, it means is not told."""
        target, rule = targets.find(meant), source.rule
        is_function = use.kind == UseKind.MENTION and target is not None and target.kind == "function"
        if is_function and not self.files.text_before(source, use).endswith(rule.function_mark):
            return False
        others = [item for item in meant if targets.find([item]) is None]
        apart = {"function"} if rule.is_overloaded else set()
        # An extension declares its type once more; where types have parts, `Box` and `Box<T>` are two.
        apart |= {"type"} if rule.reopened or not rule.members_apart else set()
        return target is not None and all(
            (item.symbol, item.kind) == (target.symbol, target.kind) and item.kind not in apart for item in others
        )

    def _find_overridden(self, used: Sequence[StoredSymbol], declared: Collection[StoredSymbol]) -> StoredSymbol | None:
        """The target that a use of another member may reach, as one of the two overrides the other."""
        is_derived = self.names.classes.is_derived
        for item, each in product(used, declared):
            owner, theirs = self.parts.find_owner(item), self.parts.find_owner(each)
            if owner is not None and theirs is not None and (is_derived(theirs, owner) or is_derived(owner, theirs)):
                return each
        return None

    def _may_be_one(self, item: StoredSymbol, other: StoredSymbol) -> bool:
        """Whether two declarations may be of one thing: overloads, prototypes, parts of a type, members that one type inherits."""
        rule, classes = find_language(item.language).references, self.names.classes
        owner, theirs = self.parts.find_owner(item), self.parts.find_owner(other)
        if rule is not None and rule.pure_types and item.kind == other.kind == "type":
            # A document may add to the type of a module: `declare module "./shop" { interface Cart {} }`.
            return "." in other.symbol
        # `class Cart(Base, Priced)`: in it, a member of the base takes the place of the trait's.
        if (
            owner
            and theirs
            and (owner == theirs or any(classes.is_derived(each, owner) for each in classes.heirs_of(theirs)))
        ):
            return True
        if rule is None or not rule.is_overloaded or (item.kind, other.kind) != ("function", "function"):
            return False
        return item.symbol == other.symbol and (item.path == other.path or rule.has_prototypes)


def _choose_by_kind(use: Use, meaning: Meaning) -> Sequence[StoredSymbol]:
    """The declarations that a use may mean as it stands: a call none of the values, other uses none of the functions of one name."""
    unfit = "value" if use.kind == UseKind.CALL else "function"
    return [item for item in meaning.declarations if item.kind != unfit] or meaning.declarations


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

    def make_targets(self, declared: Sequence[StoredSymbol]) -> Targets:
        """Some declarations with their parts."""
        self._files.load_files(item.document_id for item in declared)
        parts = ((part, item) for item in reversed(declared) for part in (*self.find_parts(item), item))
        return Targets(parts, are_keys=any(map(self._is_key, declared)))

    def _is_key(self, item: StoredSymbol) -> bool:
        """Whether a declaration is the value of a key in an object, which other objects may have, too."""
        home = self._files.file_at(item.path)
        uses = home.read_uses({split_owner(item.symbol)[1]}) if home is not None else ()
        return any((use.line, use.receiver) == (item.start_line, KEY) for use in uses)

    def find_parts(self, item: StoredSymbol) -> list[StoredSymbol]:
        """The declarations of a type, or of its member, that other parts of the type hold."""
        if prototypes := self.find_prototypes(item):
            return prototypes
        if not self._is_reopened(item):
            return []
        named = self._files.find_named(split_owner(item.symbol)[1])
        own = [each for each in named if each.symbol == item.symbol and each.language == item.language]
        return [each for each in own if self._is_reopened(each)]

    def find_prototypes(self, item: StoredSymbol) -> list[StoredSymbol]:
        """The function of which a declaration is a prototype, with its other prototypes; none where they may be of several functions."""
        rule = find_language(item.language).references
        if rule is None or not rule.has_prototypes or item.kind != "function":
            return []
        named = [each for each in self._files.find_named(split_owner(item.symbol)[1]) if each.symbol == item.symbol]
        language = related_languages(item.language)
        alike = [each for each in named if related_languages(each.language) == language and each.kind == "function"]
        bodies = [each for each in alike if self._has_body(each)]
        per_file = Counter(each.path for each in alike if each not in bodies)
        return alike if len(bodies) <= 1 and max(per_file.values(), default=0) <= 1 else []

    def find_owner(self, item: StoredSymbol) -> StoredSymbol | None:
        """The type whose member a declaration is."""
        source, owner = self._files.file_at(item.path), self._declared.owner_of(item)
        return source.types.get(owner) if source is not None and owner else None

    def _has_body(self, item: StoredSymbol) -> bool:
        home = self._files.file_at(item.path)
        return home is not None and "{" in self._files.read_text(home, item.start_line, item.end_line)

    def _is_reopened(self, item: StoredSymbol) -> bool:
        """Whether a type, or that of a member, may be declared in parts."""
        holder = item if item.kind in HOLDERS else self.find_owner(item)
        return self._declared.is_reopened(holder or item)


_MAX_DOCS = 50


class Mentions:
    """The texts of the documents that one client sees. For one question."""

    def __init__(self, names: Names, maker: ReferenceMaker) -> None:
        self._names = names
        self._files = names.files
        self._maker = maker

    def is_docs(self, number: int) -> bool:
        """Whether a document is one of docs."""
        return role_of(self._files.language_of(number)) is Role.DOCS

    def docs_holding(self, name: str) -> list[int]:
        """The docs that may hold a name, by id."""
        return list(filter(self.is_docs, self._files.find_holding(name)))

    def in_docs(self, name: str, declared: Sequence[StoredSymbol]) -> list[Reference]:
        """The first lines of docs that hold a name, but for those that name another type before it."""
        return list(islice(self._in_docs(name, declared), _MAX_DOCS))

    def _in_docs(self, name: str, declared: Sequence[StoredSymbol]) -> Iterator[Reference]:
        word = re.compile(rf"(?<!\w)(?:(\w+)(?:::|\.|#|->))?{re.escape(name)}(?!\w)")
        owners = {split_owner(split_owner(item.symbol)[0])[1] for item in declared}
        for source in self._files.load_files(self.docs_holding(name)):
            for number, line in enumerate(self._files.read_lines(source), 1):
                matches = (each for each in word.finditer(line) if not self._is_of_other(each[1] or "", owners))
                if match := next(matches, None):
                    reference = self._make_mention(source, name, number, match.end() - len(name), None)
                    yield replace(reference, kind=ReferenceKind.DOCS)

    def _is_of_other(self, owner: str, owners: Collection[str]) -> bool:
        """Whether a name before a member is that of a type of the project that is none of some owners."""
        if not owner or not any(owners) or owner in owners:
            return False
        return any(item.kind in HOLDERS for item in self._files.find_named(owner))

    def in_quotes(self, source: CodeFile, name: str, targets: Targets) -> Iterable[Reference]:
        """The texts in quotes that mean a declaration: types that are declared later, lists of exports; those of another are left out."""
        rule, are_types = source.rule, any(item.kind == "type" for item in targets.declared)
        patterns = [compile_for(each, name) for each in (*rule.listed, *(rule.quoted if are_types else ()))]
        meaning = self._names.find_bare(source, name) if patterns and targets else None
        target = targets.find(meaning.declarations) if meaning else None
        if target is None:
            # A text may name the module, too: `ForeignKey("shop.Cart")`.
            patterns = [compile_for(each, name) for each in rule.qualified] if are_types else []
        for number, line in enumerate(self._files.read_lines(source), 1) if patterns else ():
            if name in line and (match := next(filter(None, (each.search(line) for each in patterns)), None)):
                yield self._make_mention(source, name, number, line.index(name, match.start()), target)

    def _make_mention(
        self, source: CodeFile, name: str, number: int, offset: int, target: StoredSymbol | None
    ) -> Reference:
        line = self._files.read_lines(source)[number - 1]
        column = len(line[:offset].encode("utf-8", "surrogatepass"))
        return self._maker.at_use(source, Use(name, UseKind.MENTION, number, column), target)
