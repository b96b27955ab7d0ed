"""Resolves uses: what a name means where it is used, by its receiver's type too."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import filterfalse

from rag_ls.chunking import ATTRIBUTE, INDEX, KEY, SHORTHAND, TAKEN, UNKNOWN
from rag_ls.engine.code.references.bindings import is_bound, is_parameter
from rag_ls.engine.code.references.code_files import CodeFile, split_owner
from rag_ls.engine.code.references.declared import HOLDERS
from rag_ls.engine.code.references.expressions import ELEMENT, Step, read_chain_before, read_steps
from rag_ls.engine.code.references.name_patterns import compile_for, find_around
from rag_ls.engine.code.references.names import OUTSIDE, Meaning, Names, kin_of
from rag_ls.engine.code.references.written_types import WrittenType, read_written_types
from rag_ls.model import Use, UseKind
from rag_ls.storage import StoredSymbol
from rag_ls.util.patterns import lazy_pattern

KEYS = frozenset({KEY, SHORTHAND, TAKEN, ATTRIBUTE, INDEX})
"""The receivers of names that are members of what a place expects."""
_MAX_HEAD = 2000
_MAX_CHAIN_LINES = 30
_MAX_STEPS = 6
_MAX_RESULTS = 4
_MAX_NESTED = 6
"""Results of functions that return those of others."""
_MAX_EXPRESSION = 400
_SET_VALUE = r"(?<![\w.])(?<!: ){name}(?:\s*,\s*\w+)*\s*(?::[^=\n]+)?:?=(?![=>])\s*([^\n;]+(?:\n\s*\??\.[^\n;]+)*)"
_TAKEN = r"\{(?:[^{}]*[,{\s])?(?:([\w$]+)\s*:\s*)?{name}\b[^{}]*\}\s*(?::\s*([A-Z][\w.]*)|=\s*([^\n;]+))"
"""The own name of a variable that is taken out of an object, the type of that, or its value."""

_PRIMITIVE = r"\b(int|long|double|float|char|boolean|bool|string)\s+{name}\s*[=;,):]"


_ENUM = lazy_pattern(r"(?:@?\w+(?:\([^)]*\))?\s+)*enum\b")
_NO_ENTRY = lazy_pattern(r"(?:@?\w+(?:\([^)]*\))?\s+)*(?:const|fun|func|let|static|va[lr])\b")
_OF_OWNER = lazy_pattern(r"(?:->|\)\s*:)\s*(?:static|Self)\b")
"""The result of a function that gives an object of the type that it was called on."""
_OPENS_EXPRESSION = lazy_pattern(r"[(\[{,:=&|<>+;]$|[!=]=$|\?\?$|\b(?:return|case|in|where|else|is)$")
_DECLARED = lazy_pattern(r"\b(?:func|fun|def)\s+$")


class Uses:
    """Tells what the uses of names mean. For one question; not safe from several threads."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._files = names.files
        self._steps = 0
        self._made: dict[tuple[str, int, str], Meaning | None] = {}
        self._bound: dict[tuple[int, int, int, str], bool] = {}
        self._variables: dict[tuple[int, int, int, str], Meaning | None] = {}
        self._fields: set[tuple[str, int, str, str]] = set()
        self._nested = 0
        self._is_cut = False

    def meaning(self, source: CodeFile, use: Use) -> Meaning | None:
        """The things that a use means; None where that is unknown."""
        if use.kind == UseKind.IMPORT:
            found = self._names.imported(source, use)
            return None if found is None else Meaning(found)
        if use.receiver in KEYS:
            return None
        if use.receiver:
            return self._member(source, use)
        rule = source.rule
        if rule.locals and use.kind == UseKind.MENTION and not use.name[:1].isupper():
            return OUTSIDE
        if rule.argument_labels and use.kind == UseKind.MENTION and self._labels_argument(source, use):
            return None
        is_marked = bool(rule.function_mark) and self._line_before(source, use).endswith(rule.function_mark)
        is_called = use.kind == UseKind.CALL or is_marked
        if rule.variables and not is_called and self._line_before(source, use).endswith(rule.variables):
            return OUTSIDE
        if not is_called and rule.types_follow and _DECLARED.search(self._line_before(source, use)):
            # A function in another one: it may take the place of a member.
            return None
        if not is_called and rule.is_declared and self.is_local(source, use.name, use.line):
            return OUTSIDE
        if members := self._names.find_implied(source, use.name, use.line):
            seen = self._names.extension(source, use.name, is_imported=False) if len(members) > 1 else None
            return seen or Meaning(members)
        is_variable = not rule.locals and not (rule.bringing and is_called)
        if is_variable and self.is_local(source, use.name, use.line):
            return OUTSIDE
        if rule.bringing and not use.name[:1].isupper() and source.around(use.line, "module") is not None:
            return self._names.find_in_modules(source, use.name, use.line)
        bare = self._names.bare(source, use.name)
        if bare is None or self._is_label(source, use, bare):
            return None
        return self._type_or_value(source, use, bare)

    def _labels_argument(self, source: CodeFile, use: Use) -> bool:
        is_first = self._text_before(source, use).rstrip().endswith(("(", ","))
        return is_first and bool(re.match(source.rule.argument_labels, self._files.after(source, use)))

    def members(self, owner: StoredSymbol, name: str) -> tuple[StoredSymbol, ...]:
        """The member that a type, or the nearest type that it derives from, declares by a name."""
        return self._names.members(owner, name)

    def _type_or_value(self, source: CodeFile, use: Use, meaning: Meaning) -> Meaning:
        """The types of a name where it stands for a type, else the values; all of them where a type is a value, too."""
        types = [item for item in meaning.declarations if item.kind == "type"]
        pure = source.rule.pure_types
        if not pure or len(types) in (0, len(meaning.declarations)):
            return meaning
        before, line = self._line_before(source, use), self._files.lines(source)[use.line - 1]
        if line.startswith("export") or not all(re.search(pure, item.signature) for item in types):
            return meaning
        around = f"{before}\0{line[len(before) + len(use.name) :]}"
        is_type = use.kind != UseKind.CALL and re.search(source.rule.type_uses, around)
        chosen = types if is_type else [item for item in meaning.declarations if item.kind != "type"]
        return replace(meaning, declarations=tuple(chosen))

    def _member(self, source: CodeFile, use: Use) -> Meaning | None:
        chain = use.receiver
        if source.rule.leading_dot and _begins_with_dot(self._text_before(source, use)):
            return None
        if chain == "self" and source.rule.reflective and (before := self._line_before(source, use)).endswith(":"):
            if source.around(use.line, "function") is not None and not re.search(source.rule.reflective, before):
                return None
            if (delegated := self._delegated_to(source, use)) is not None:
                typed = self.type_of_steps(source, delegated, use.line) if delegated else None
                return self._names.member_of(typed, use.name) if typed is not None else None
        if source.rule.is_dotted and (dotted := re.search(r"(?:[A-Z]\w*\.)+$", self._line_before(source, use))):
            chain = dotted[0][:-1]
        elif UNKNOWN in chain or "()" in chain:
            chain = read_chain_before(self._text_before(source, use))
        steps = read_steps(re.sub(r"^\$(?!\d)", "", chain))
        if (meaning := self._names.full(source, f"{chain}.{use.name}")) is not None:
            return meaning
        paths = source.language.paths
        is_path = paths is not None and self._line_before(source, use).endswith(paths.separator)
        if is_path and (meaning := self._names.whole(source, f"{chain}.{use.name}", use.line)) is not None:
            return meaning
        is_qualified = self._line_before(source, use).endswith("\\")
        if is_qualified and (named := self._names.declared.in_folders(source, f"{chain}.{use.name}")) is not None:
            return Meaning((named,))
        owner = self.type_of_steps(source, steps, use.line) if steps else None
        if owner is None and is_qualified:
            bare = self._names.bare(source, use.name)
            if bare is None or re.search(r"\w\\$", self._line_before(source, use)):
                return bare
            return replace(bare, declarations=tuple(filterfalse(self._names.declared.namespace_of, bare.declarations)))
        if owner is None and (fields := self._names.declared.table_members(source, chain, use.name)) is not None:
            return Meaning(fields)
        if owner is None or (owner == OUTSIDE and not self._is_foreign(source, steps, use.line)):
            extension = self._names.extension(source, use.name, is_imported=True)
            return extension or (self._member_of_few(source, steps, use.name) if owner is None else None)
        found = self._names.member_of(owner, use.name)
        count = len(found.declarations) if found is not None else 0
        if count != 1:
            found = self._names.extension(source, use.name, is_imported=not count) or found
        is_enum = any(
            _ENUM.match(item.signature) and item.symbol.endswith(steps[-1].name) for item in owner.declarations
        )
        # Variants of enums are not declared.
        return OUTSIDE if found is None and is_enum and use.name[:1].isupper() else found

    def _delegated_to(self, source: CodeFile, use: Use) -> list[Step] | None:
        """The chain of the object whose method a symbol names in a statement that hands calls on; None in any other."""
        lines, first = self._files.lines(source), use.line - 1
        while first > max(0, use.line - _MAX_CHAIN_LINES) and lines[first - 1].rstrip().endswith(","):
            first -= 1
        statement = "\n".join(lines[first : use.line + _MAX_CHAIN_LINES])
        match = re.match(source.rule.delegations, statement) if source.rule.delegations else None
        if match is None or "\n\n" in match[0]:
            return None
        target = match["to"] or match["of"]
        if re.search(
            rf"(?:\bto:\s*|def_delegators?\s*\(?\s*):{re.escape(use.name)}\Z", self._line_before(source, use) + use.name
        ):
            return None
        steps = read_steps(target.removeprefix("@"))
        return [Step("self", False)] if target == "class" else [Step("self", False), *steps]

    def created_type(self, source: CodeFile, use: Use) -> StoredSymbol | None:
        """The type of which a member, such as `new`, makes an object."""
        chain = use.receiver
        if UNKNOWN in chain or "()" in chain:
            chain = read_chain_before(self._text_before(source, use))
        if not chain or chain in ("self", "self.class"):
            return self._names.type_around(source, use.line)
        typed = self.type_of_chain(source, chain, use.line) if chain[:1].isupper() else None
        types = [item for item in typed.declarations if item.kind == "type"] if typed is not None else []
        return types[0] if types else None

    def _is_foreign(self, source: CodeFile, steps: list[Step], line: int) -> bool:
        """Whether a receiver is a name from outside of the project: a value of a type from there may be of a type that derives from it."""
        is_called = any(step.is_called for step in steps)
        first = steps[0].name
        return not is_called and not self.is_local(source, first, line) and self._names.bare(source, first) == OUTSIDE

    def _text_before(self, source: CodeFile, use: Use) -> str:
        lines = self._files.lines(source)[max(0, use.line - _MAX_CHAIN_LINES) : use.line - 1]
        return "\n".join((*lines, self._line_before(source, use)))

    def _line_before(self, source: CodeFile, use: Use) -> str:
        return self._files.before(source, use)

    def _member_of_few(self, source: CodeFile, steps: list[Step], name: str) -> Meaning | None:
        """The member of a receiver that is itself a member of something unknown, where one type alone can be meant."""
        if len(steps) < 2:
            return None
        types = {each for each in self._types_of_members(source, steps[-1]) if each.declarations}
        found = {
            each for item in types if (each := self._names.member_of(item, name)) is not None and each.declarations
        }
        return found.pop() if len(found) == 1 else None

    def _types_of_members(self, source: CodeFile, step: Step) -> set[Meaning]:
        kin = kin_of(source.language.name)
        named = [item for item in self._files.named(step.name) if kin_of(item.language) == kin]
        members = [item for item in named if item.kind != "type" and self._names.declared.owner_of(item)]
        values = {self._value_of(item, step) for item in members}
        # In a language whose signatures tell all types, an unknown type is none of the project.
        is_typed = source.rule.is_declared
        return set() if None in values and is_typed else {each for each in values if each is not None}

    # --- types of expressions

    def type_of_value(self, source: CodeFile, text: str, line: int) -> StoredSymbol | str:
        """The type of an expression, or only the name that is written where its variable is declared; empty if both are unknown."""
        steps = read_steps(text)
        typed = self.type_of_steps(source, steps, line) if steps else None
        if typed is not None and typed.declarations and typed.declarations[0].kind == "type":
            return typed.declarations[0]
        if typed is not None or len(steps) != 1 or steps[0].is_called:
            return ""
        patterns = (*source.rule.types, _PRIMITIVE)
        matches = (match for each in patterns for match in find_around(each, self._around(source, line), steps[0].name))
        names = {match.value[1].rpartition(".")[2] for match in matches}
        return names.pop() if len(names) == 1 else ""

    def type_of_chain(self, source: CodeFile, text: str, line: int) -> Meaning | None:
        """The type of the chain that a text begins with; None if it is unknown."""
        return self.type_of_steps(source, read_steps(text), line)

    def result_of(self, declared: StoredSymbol) -> Meaning | None:
        """The type of what a declaration stands for: a type itself, a call's result, a variable's value."""
        return self._value_of(declared, Step("", True))

    def meaning_of_written(self, source: CodeFile, written: Iterable[WrittenType], line: int) -> Meaning | None:
        """The type that is written in a document; None if it is not the project's."""
        return _any_of(_as_meaning(self._type_named(source, each.name, line), is_list=each.is_list) for each in written)

    def type_of_steps(self, source: CodeFile, steps: list[Step], line: int) -> Meaning | None:
        """The type or module that a chain gives; None if it is unknown."""
        if not steps or self._steps > _MAX_STEPS:
            return None
        self._steps += 1
        try:
            is_named = source.rule.is_dotted or (source.language.paths is not None and not steps[0].is_called)
            meaning, count = self._full(source, steps, line) if is_named else (None, 0)
            if meaning is None:
                meaning, count = self._first(source, steps, line), 1
            for step in steps[count:]:
                meaning = self._after(source, meaning, step) if meaning is not None else None
            return meaning
        finally:
            self._steps -= 1

    def _full(self, source: CodeFile, steps: list[Step], line: int) -> tuple[Meaning | None, int]:
        """The meaning of the whole name that a chain begins with, a module's or a path, and the number of its steps."""
        first, is_dotted = steps[0].name, source.rule.is_dotted
        if not is_dotted and (first in source.rule.own or self.is_local(source, first, line)):
            return None, 0
        for count in range(len(steps), 1, -1):
            name = ".".join(step.name for step in steps[:count])
            meaning = self._names.full(source, name) if is_dotted else self._names.whole(source, name, line)
            if meaning is not None:
                return meaning if is_dotted else self._value_of_meaning(meaning, steps[count - 1]), count
        return None, 0

    def _first(self, source: CodeFile, steps: list[Step], line: int) -> Meaning | None:
        rule, step = source.rule, steps[0]
        if step.name in (rule.creators if step.is_called else rule.own):
            return _as_meaning(self._names.type_around(source, line))
        if step.name in rule.parents or (step.is_called and f"{step.name}()" in rule.parents):
            around = self._names.type_around(source, line)
            bases = self._names.bases_of(around) if around is not None else []
            return Meaning(tuple(bases)) if bases else None
        if members := self._names.find_implied(source, step.name, line):
            return self._value_of(members[0], step)
        if not step.is_called:
            typed = self._variable(source, step.name, line)
            if typed is not None:
                return typed
        if self.is_local(source, step.name, line):
            return None
        around = self._names.type_around(source, line) if rule.associations else None
        if around is not None and (associated := self._field(around, step.name)) is not None:
            return associated
        return self._value_of_meaning(self._without_pure_types(source, self._names.bare(source, step.name)), step)

    def _without_pure_types(self, source: CodeFile, meaning: Meaning | None) -> Meaning | None:
        """The things of a name that have members where it stands as a value; a type that is none where nothing else has the name."""
        if meaning is None or not source.rule.pure_types or len(meaning.declarations) < 2:
            return meaning
        kept = [item for item in meaning.declarations if not re.search(source.rule.pure_types, item.signature)]
        return replace(meaning, declarations=tuple(kept)) if kept else meaning

    def _after(self, source: CodeFile, owner: Meaning, step: Step) -> Meaning | None:
        """The type of a member of a type or module, of an element of a list."""
        if owner.is_list:
            if step.name in source.rule.elements:
                return Meaning(owner.elements) if owner.elements else None
            return owner if step.name in source.rule.same else None
        if step.name == ELEMENT:
            return None
        member = self._names.member_of(owner, step.name)
        if member is not None:
            of_owner = step.is_called and any(_OF_OWNER.search(item.signature) for item in member.declarations[:1])
            return owner if of_owner else self._value_of_meaning(member, step)
        if step.name in source.rule.creators:
            return owner
        types = [item for item in owner.declarations if item.kind == "type"]
        return self._field(types[0], step.name) if types and not step.is_called else None

    def _value_of_meaning(self, meaning: Meaning | None, step: Step) -> Meaning | None:
        if meaning is None or not meaning.declarations:
            return meaning
        return self._value_of(meaning.declarations[0], step)

    def _value_of(self, declared: StoredSymbol, step: Step) -> Meaning | None:
        """The type of what a declaration stands for: of a call's result, a type itself, the value of a variable."""
        if declared.kind in HOLDERS:
            return Meaning((declared,))
        key = (declared.path, declared.start_line, declared.symbol)
        if key not in self._made:
            if self._nested >= _MAX_NESTED:
                self._is_cut = True
                return None
            self._made[key] = None
            made = self._make(declared)
            if self._is_cut:
                # The limit of depth was met: a question that begins nearer may still find the type, so this one is not remembered.
                del self._made[key]
                self._is_cut = self._nested > 0
                return made
            self._made[key] = made
        return self._made[key]

    def _make(self, declared: StoredSymbol) -> Meaning | None:
        """The type of what a declaration stands for; the steps that led to it do not count."""
        steps, self._steps = self._steps, 0
        self._nested += 1
        try:
            return self._result(declared) if declared.kind == "function" else self._value(declared)
        finally:
            self._steps = steps
            self._nested -= 1

    def _result(self, declared: StoredSymbol) -> Meaning | None:
        """The type of a function's result: what its signature says, else what all of its returned values have."""
        home = self._files.at(declared.path)
        if home is None:
            return None
        owner, name = split_owner(declared.symbol)
        if re.match(rf"(?:\w+\s+)*{re.escape(split_owner(owner)[1])}\.{re.escape(name)}\s*\(", declared.signature):
            # A constructor with a name.
            return _as_meaning(home.types.get(owner))
        returned = list(compile_for(home.rule.returns, name).finditer(declared.signature))
        if returned:
            written = read_written_types(declared.signature, returned[-1].start(1), home.rule)
            if any(each.name in home.rule.own | {"Self"} for each in written):
                return _as_meaning(home.types.get(owner))
            return self.meaning_of_written(home, written, declared.start_line)
        if not home.rule.results:
            return None
        text = self._files.text(home, declared.start_line, declared.end_line)
        values = re.findall(home.rule.results, text, re.MULTILINE)[: _MAX_RESULTS + 1]
        found = {self.type_of_steps(home, read_steps(value), declared.end_line) for value in values}
        return found.pop() if len(found) == 1 and len(values) <= _MAX_RESULTS else None

    def _type_named(self, source: CodeFile, name: str, line: int) -> StoredSymbol | None:
        """The type of a name, or that by which a type parameter of this name is bounded."""
        found = self._names.type_named(source, name)
        if found is not None or len(name) > 2:
            return found
        bound = re.search(rf"[<,]\s*{re.escape(name)}\s*(?:extends|:)\s*([A-Z][\w.]*)", self._around(source, line))
        return self._names.type_named(source, bound[1]) if bound else None

    # --- types of variables and fields

    def _around(self, source: CodeFile, line: int) -> str:
        around = _body_around(source, line)
        text = self._files.text(source, around.start_line, around.end_line) if around is not None else ""
        return text if around is None or around.kind == "function" else text[text.find("{") :]

    def _variable(self, source: CodeFile, name: str, line: int) -> Meaning | None:
        """The type of a variable: from the function around the line, from what is above it, or from its declaration."""
        text = self._around(source, line)
        if text:
            if (found := self._typed_around(source, name, line)) is not None:
                return found
            if not source.rule.results and self._is_bound(source, name, line):
                return None
        above = self._files.text_above(source, line)
        if (found := self._typed(source, above, name, line)) is not None:
            return found
        if text and self._is_bound(source, name, line):
            return None
        bare = self._names.bare(source, name)
        values = [item for item in bare.declarations if item.kind == "value"] if bare is not None else []
        return self._value(values[0]) if values else None

    def _typed_around(self, source: CodeFile, name: str, line: int) -> Meaning | None:
        """The type that the function around a line gives to a variable."""
        around = _body_around(source, line)
        if around is None:
            return None
        key = (source.id, around.start_line, around.end_line, name)
        if key in self._variables:
            return self._variables[key]
        found = self._typed(source, self._around(source, line), name, line)
        if not self._is_cut:
            self._variables[key] = found
        return found

    def _value(self, declared: StoredSymbol) -> Meaning | None:
        home = self._files.at(declared.path)
        if home is None:
            return None
        owner = home.types.get(split_owner(declared.symbol)[0])
        if (
            owner is not None
            and home.rule.has_bodies
            and _ENUM.match(owner.signature)
            and not _NO_ENTRY.match(declared.signature)
        ):
            return Meaning((owner,))
        text = self._files.text(home, declared.start_line, declared.end_line)[:_MAX_HEAD]
        return self._typed(home, text, split_owner(declared.symbol)[1], declared.start_line)

    def _field(self, owner: StoredSymbol, name: str) -> Meaning | None:
        """The type of a field of a class; None where it is taken apart from a value of the same class: `({ store }: Props)`."""
        key = (owner.path, owner.start_line, owner.symbol, name)
        if key in self._fields:
            return None
        self._fields.add(key)
        try:
            return self._find_assigned(owner, name)
        finally:
            self._fields.remove(key)

    def _find_assigned(self, owner: StoredSymbol, name: str) -> Meaning | None:
        """The type of a field of a class, from what is assigned to it there, or in a class that it derives from."""
        for each in (owner, *self._names.bases_of(owner)):
            home = self._files.at(each.path)
            if home is None:
                continue
            text = self._files.text(home, each.start_line, each.end_line)
            for own in sorted(home.rule.own):
                if (found := self._typed(home, text, f"{own}.{name}", each.start_line)) is not None:
                    return found
            if (found := self._typed(home, text, name, each.start_line)) is not None:
                return found
            if (joined := self._find_associated(home, text, name)) is not None:
                return joined
            passed = re.search(rf"\b(?:self|this)\.{re.escape(name)}\s*=\s*(\w+)\s*(?:[;#\n]|$)", text)
            if passed and (found := self._typed(home, text, passed[1], each.start_line)) is not None:
                return found
        return None

    def _find_associated(self, source: CodeFile, text: str, name: str) -> Meaning | None:
        """The type of a field that a statement declares by its name alone: `belongs_to :user`."""
        pattern = source.rule.associations
        if not pattern or next(find_around(pattern, text, name), None) is None:
            return None
        return _as_meaning(self._names.type_named(source, "".join(part.capitalize() for part in name.split("_"))))

    def _typed(self, source: CodeFile, text: str, name: str, line: int) -> Meaning | None:
        """The type that a text gives to a variable: the only one, or the last one."""
        if name not in text:
            return None
        found = [
            tuple(read_written_types(text, match.value.start(1), source.rule))
            for pattern in source.rule.types
            for match in find_around(pattern, text, name)
        ]
        named = list(dict.fromkeys(each for each in found if each and each[0].name != "self"))
        meanings = [
            each
            for item in named
            if (each := _any_of(self._type_or_result(source, written, line) for written in item)) is not None
        ]
        # In `(props: { show: (props: Shown) => void })` one of them is of another function.
        if len(set(meanings)) == 1 and len(named) <= (1 if source.rule.pure_types else 2):
            return meanings[0]
        if named:
            return None
        values = {match.value[1] for match in find_around(_SET_VALUE, text, name)}
        types = {self.type_of_steps(source, read_steps(value), line) for value in values} if len(values) <= 2 else set()
        taken = {each for each in types if each is not None}
        if len(taken) == 1:
            return taken.pop()
        return self._element(source, text, name, line) or self._taken_apart(source, text, name, line)

    def _element(self, source: CodeFile, text: str, name: str, line: int) -> Meaning | None:
        """The type of a variable that goes through the elements of a list: of a loop, of a function that is called for each."""
        lists = [
            text[match.end : match.end + _MAX_EXPRESSION]
            for pattern in source.rule.loops
            for match in find_around(pattern, text, name)
        ]
        lists += [
            read_chain_before(text[max(0, match.start - _MAX_EXPRESSION) : match.start] + ".")
            for pattern in source.rule.callbacks
            for match in find_around(pattern, text, name)
        ]
        steps = dict.fromkeys(tuple(read_steps(each)) for each in lists)
        found: Meaning | None = None
        for each in steps:
            if each and each[0].name != name:
                typed = self.type_of_steps(source, list(each), line)
                if typed is None or not typed.elements or typed != (found or typed):
                    return None
                found = typed
        return Meaning(found.elements) if found is not None else None

    def _taken_apart(self, source: CodeFile, text: str, name: str, line: int) -> Meaning | None:
        """The type of a variable that is a member of an object: `const { store } = this`, `{ store }: Props`."""
        match = next(find_around(_TAKEN, text, name), None)
        if match is None:
            return None
        type_name, value = match.after.groups()
        typed = self._names.type_named(source, type_name) if type_name else None
        owner = self.type_of_steps(source, read_steps(value), line) if value else _as_meaning(typed)
        return self._after(source, owner, Step(match.before[1] or name, False)) if owner is not None else None

    def _type_or_result(self, source: CodeFile, written: WrittenType, line: int) -> Meaning | None:
        name = written.name
        if (typed := self._type_named(source, name, line)) is not None:
            return _as_meaning(typed, is_list=written.is_list)
        if written.is_list:
            return _as_meaning(None, is_list=True)
        first, *rest = name.split(".")
        meaning = self._names.bare(source, first)
        for part in rest:
            meaning = self._names.member_of(meaning, part) if meaning is not None else None
        if meaning is None or not meaning.declarations:
            return meaning
        return self._value_of(meaning.declarations[0], Step(name, True))

    # --- what is no name of the document

    def is_local(self, source: CodeFile, name: str, line: int) -> bool:
        """Whether a bare name is a variable of the function around it."""
        if source.rule.locals and name[:1].isupper():
            # It is a constant there.
            return False
        around = _body_around(source, line)
        if around is None and source.rule.locals:
            return is_bound(self._files.text_above(source, line), name, source.rule)
        if around is None:
            return False
        if around.symbol == name:
            # Its own declaration makes no variable; a parameter of its name does.
            return is_parameter(self._around(source, line), name, source.rule)
        return self._is_bound(source, name, line)

    def _is_bound(self, source: CodeFile, name: str, line: int) -> bool:
        """Whether the function around a line declares a parameter or variable of a name."""
        around = _body_around(source, line)
        if around is None:
            return False
        key = (source.id, around.start_line, around.end_line, name)
        if key not in self._bound:
            self._bound[key] = is_bound(self._around(source, line), name, source.rule)
        return self._bound[key]

    def _is_label(self, source: CodeFile, use: Use, meaning: Meaning) -> bool:
        """Whether a name is the key of a value, and so not the type or function that has the same name."""
        if not source.rule.labels or all(item.kind == "value" for item in meaning.declarations):
            return False
        line = self._files.lines(source)[use.line - 1]
        after = line[len(self._line_before(source, use)) + len(use.name) :]
        return bool(re.match(source.rule.labels, after)) and not line.lstrip().startswith("case ")


def _body_around(source: CodeFile, line: int) -> StoredSymbol | None:
    """The function around a line, or the property whose value is computed there."""
    around = source.around(line, "function", "value") if source.rule.has_bodies else source.around(line, "function")
    is_body = (
        around is None or around.kind == "function" or "{" in around.signature or around.end_line > around.start_line
    )
    return around if is_body else None


def _begins_with_dot(text: str) -> bool:
    """Whether the dot that ends a text begins an expression, and does not go on with the one before it."""
    before = text.removesuffix(".").rstrip()
    is_choice = before.endswith("?") and before[-2:-1].isspace()
    return is_choice or not before or bool(_OPENS_EXPRESSION.search(before))


def _as_meaning(item: StoredSymbol | None, *, is_list: bool = False) -> Meaning | None:
    items = (item,) if item is not None else ()
    return Meaning(elements=items, is_list=True) if is_list else Meaning(items) if items else None


def _any_of(meanings: Iterable[Meaning | None]) -> Meaning | None:
    """The meaning of what may be any of some; None if all are unknown."""
    known = [each for each in meanings if each is not None]
    first = known[0] if known else None
    if first is None or len(known) == 1 or any(each.is_list != first.is_list for each in known):
        return first
    return Meaning(
        tuple(dict.fromkeys(item for each in known for item in each.declarations)),
        first.modules,
        tuple(dict.fromkeys(item for each in known for item in each.elements)),
        first.is_list,
    )
